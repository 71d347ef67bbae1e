"""docs/definitions.md says what the code does: its drawings are analysed, its names looked up."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest

import overlapcheck
from overlapcheck.cli import cli
from overlapcheck.errors import ExitCode
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.measurements import WindowSource
from overlapcheck.saved import report_document
from overlapcheck.selection import COMMUNICATION, Selection
from overlapcheck.verdict import Policy
from tests.conftest import ROOT
from tests.json_schemas import published
from tests.pictures import picture

PAGE = (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
PACKAGE = Path(overlapcheck.__path__[0])
NS_OF_UNIT = {"ms": 1_000_000}
ROUNDING = 0.0005
"""Shares are told in percent with one digit."""


@dataclass(frozen=True)
class Example:
    """A drawing, how it is analysed, and what that gives."""

    drawing: str
    options: dict[str, Any]
    expected: dict[str, str]


def examples() -> list[Example]:
    """A later `with` of a block says how the same drawing is analysed again."""
    found = []
    for block in re.findall(r"```text\n(.*?)```", PAGE, flags=re.DOTALL):
        drawing, _, rest = block.partition("\n\n")
        for part in re.split(r"^(?=with )", rest, flags=re.MULTILINE):
            said = re.findall(r"^with (.*)$", part, flags=re.MULTILINE)
            options = tomllib.loads("\n".join(said))
            given = ", ".join(re.findall(r"^gives (.*)$", part, flags=re.MULTILINE))
            if given:
                pairs = re.findall(r"([^,=]+) = ([^,]+)", given)
                found.append(
                    Example(drawing, options, {key.strip(): value for key, value in pairs})
                )
    return found


EXAMPLES = examples()


@cache
def defined(name: str) -> Any:
    """A constant of the package, in whatever module it lives."""
    homes = [
        path
        for path in PACKAGE.rglob("*.py")
        if any(
            isinstance(node, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
            for node in ast.parse(path.read_text(encoding="utf-8")).body
        )
    ]
    assert len(homes) == 1, f"{name} is defined in {homes}"
    parts = homes[0].relative_to(PACKAGE.parent).with_suffix("").parts
    return getattr(import_module(".".join(parts)), name)


def answer(example: Example, scratch: Path) -> dict[str, Any]:
    """The JSON report of an example, devices and checks reachable by name."""
    selected = {f.name for f in fields(Selection)} & set(example.options)
    drawn = {key: value for key, value in example.options.items() if key not in selected}
    export = picture(example.drawing, column_us=1000, **drawn).export(scratch / "example.sqlite")
    selection = Selection(**{key: example.options[key] for key in selected})
    report = report_document(overlapcheck.analyze(export, selection=selection))
    (device,) = report["devices"]
    checks = {check["name"]: check for check in report["verdict"]["checks"]}
    ledger = {entry["cause"]: entry["ns"] for entry in device["ledger"]}
    return {**device, "checks": checks, "ledger": ledger, "verdict": report["verdict"]}


def looked_up(report: Any, path: str) -> Any:
    for key in path.split("."):
        report = report[key]
    return report


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: ",".join(e.expected)[:60])
def test_a_drawing_gives_what_the_page_says(example: Example, tmp_path: Path) -> None:
    report = answer(example, tmp_path)

    for path, said in example.expected.items():
        found = looked_up(report, path)
        number, _, unit = said.partition(" ")
        if unit == "%":
            assert found == pytest.approx(float(number) / 100, abs=ROUNDING), path
        elif unit in NS_OF_UNIT:
            assert found == int(number) * NS_OF_UNIT[unit], path
        else:
            assert str(found) == said, path


def test_every_section_on_numbers_has_a_drawing() -> None:
    told = {path.split(".")[0] for example in EXAMPLES for path in example.expected}

    assert {
        "window",
        "copies",
        "opaque_ns",
        "stalled_ns",
        "recoverable",
        "checks",
        "ledger",
    } <= told


def code(language: str) -> str:
    (block,) = re.findall(rf"```regex {language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return "".join(block.split())


def test_the_patterns_are_those_of_the_code() -> None:
    assert code("communication") == COMMUNICATION
    assert code("step-like") == defined("STEP_LIKE").pattern


def test_the_sources_of_a_window_are_all_told() -> None:
    (table,) = re.findall(r"^\| `window.source`.*?\n\n", PAGE, flags=re.MULTILINE | re.DOTALL)
    told = re.findall(r"^\| `([a-z-]+)` \|", table, flags=re.MULTILINE)

    assert sorted(told) == sorted(source.value for source in WindowSource)


def test_every_exit_code_is_told() -> None:
    told = {int(number) for number in re.findall(r"^\| (\d+) \|", PAGE, flags=re.MULTILINE)}

    assert told == {int(exit_code) for exit_code in ExitCode}


def test_default_limits_are_those_of_the_policy() -> None:
    policy = Policy()
    told = dict(re.findall(r"^\| `([a-z]+)[^|]*\|[^|]*\| ([^|]+) \|$", PAGE, flags=re.MULTILINE))

    assert policy.min_overlap is not None and policy.max_recoverable is not None
    assert told["overlap"] == f"{policy.min_overlap:.0%}".replace("%", " %")
    assert told["recoverable"] == f"{policy.max_recoverable:.0%}".replace("%", " %")
    assert (policy.max_idle, policy.max_exposed_communication) == (None, None)
    assert told["idle"] == told["exposed"] == told["copies"] == "not asked"
    assert not policy.require_copies and not policy.fail_on
    assert f"less than {MATERIAL_SHARE:.0%} of the".replace("%", " %") in PAGE


@pytest.mark.parametrize("columns", [19, 20])
def test_calls_that_hold_a_thread_are_listed_from_the_length_told(columns: int) -> None:
    least = re.findall(r"calls that held a thread for (\d+) µs or more", PAGE)
    drawing = f"""
        s7   kernel fwd             |aaaa{"." * columns}bbbb|
        t1   cudaStreamSynchronize  |....{"y" * columns}....|
        """

    listed = len(picture(drawing).device().blocking)

    assert [listed] == [int(columns >= int(us)) for us in least]


def test_every_option_exists() -> None:
    assert isinstance(cli, click.Group)
    known = {
        option
        for command in cli.commands.values()
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }

    assert set(re.findall(r"`[^`\n]*?(--[a-z][a-z-]+)", PAGE)) <= known


def properties(schema: Any) -> set[str]:
    """Every field name of a JSON schema, at any depth."""
    if isinstance(schema, list):
        return set().union(*map(properties, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    own = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    return own.union(*(properties(value) for value in schema.values()))


def test_every_json_field_exists() -> None:
    known = properties(published("report")) | {"h2d", "d2h", "p2p", "d2d", "ranges"}
    prose = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    spelt = re.findall(r"`([a-z]+(?:_[a-z0-9]+)+|[a-z_0-9]+(?:\.[a-z_0-9]+)+|[a-z_]+\[\])`", prose)
    named = {part for text in spelt for part in text.removesuffix("[]").split(".")}

    assert named, "the page names no field"
    assert named - known == set()


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", PAGE)
    headings = {
        "#" + re.sub(r"[^a-z -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", PAGE, flags=re.MULTILINE)
    }

    for target in targets:
        assert target in headings or (ROOT / "docs" / target.split("#")[0]).exists(), target
