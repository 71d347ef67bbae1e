"""docs/agents.md tells an assistant what is there: fields, tools and commands."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import click
import pytest

from overlapcheck.brief import Brief, BriefCause, BriefCheck
from overlapcheck.cli import cli
from overlapcheck.cli.assistant import Tools
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", [Brief, BriefCheck, BriefCause])
def test_it_names_every_field_of_the_brief_form(kind: type) -> None:
    assert [field.name for field in fields(kind) if f"`{field.name}`" not in PAGE] == []


def test_it_names_every_tool_with_its_arguments() -> None:
    tools = {
        f"{name}({', '.join(list(inspect.signature(tool).parameters)[1:])})"
        for name, tool in vars(Tools).items()
        if not name.startswith("_")
    }

    assert set(re.findall(r"^\| `(\w+\([^)]*\))` \|", PAGE, flags=re.MULTILINE)) == tools


def test_every_command_that_it_gives_exists() -> None:
    assert isinstance(cli, click.Group)
    given = re.findall(r"`overlapcheck ([a-z]+)([^`]*)`", PAGE)
    options = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in cli.commands.items()
    }

    assert given
    for command, rest in given:
        own = rest.partition(" python ")[0]
        assert set(re.findall(r"--[a-z-]+", own)) <= options[command], (command, rest)
