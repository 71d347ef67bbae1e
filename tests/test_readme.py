"""The README says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from overlapcheck.causes import causes, manual
from overlapcheck.cli import cli
from overlapcheck.errors import ExitCode
from overlapcheck.renderers import renderers

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("cause", sorted(causes()))
def test_the_table_of_causes_is_the_manuals(cause: str) -> None:
    summary = manual(cause).splitlines()[2].rstrip(".")

    assert f"| `{cause}` | {summary} |" in README


@pytest.mark.parametrize("name", sorted(renderers()))
def test_every_format_is_listed_with_its_suffix(name: str) -> None:
    assert re.search(rf"`{name}` \([^)]*{re.escape(renderers()[name].suffix)}", README)


@pytest.mark.parametrize("code", list(ExitCode))
def test_every_exit_code_is_listed(code: ExitCode) -> None:
    assert f"| {int(code)} |" in README


def test_every_command_and_option_it_names_exists() -> None:
    assert isinstance(cli, click.Group)
    commands = set(re.findall(r"overlapcheck ([a-z]+) ", README)) - {"answers", "does", "to"}
    known = {
        option
        for command in cli.commands.values()
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help", "--version", "--strict"}

    assert commands <= set(cli.commands)
    assert set(re.findall(r"`[^`\n]*?(--[a-z][a-z-]+)", README)) <= known


def test_its_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)

    assert all((ROOT / target).exists() for target in targets)
