"""GitHub annotations: the commands as the runner reads them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import pytest

from overlapcheck.renderers import renderer_for_file, renderers
from overlapcheck.renderers.github import GithubRenderer
from overlapcheck.report import Report
from tests.renderers.reports import EVERY, MARKUP, REPORTS, at_lines, big_report, golden
from tests.renderers.test_terminal import hostile_report

COMMAND = re.compile(r"::(error|warning|notice) ((?:\w+=[^,:\r\n]*,?)+)::([^\r\n]*)\n")


@dataclass
class Command:
    level: str
    properties: dict[str, str]
    text: str


def commands(text: str) -> list[Command]:
    """Read as actions/runner does: split at commas and colons, then decode."""
    found = []
    for line in text.splitlines(keepends=True):
        match = COMMAND.fullmatch(line)
        assert match, line
        level, properties, said = match.groups()
        pairs = (pair.split("=", 1) for pair in properties.split(","))
        found.append(Command(level, {key: _decoded(value) for key, value in pairs}, _decoded(said)))
    return found


def _decoded(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        text = text.replace(code, char)
    return text.replace("%25", "%")


def render(report: Report) -> str:
    return renderers()["github"].render(report)


@pytest.mark.parametrize("name", REPORTS)
def test_golden(name: str) -> None:
    text = render(REPORTS[name])

    assert text == golden("github", f"{name}.github.txt", text)


@pytest.mark.parametrize("report", [*EVERY, big_report()])
def test_every_line_is_one_command_and_no_level_overflows(report: Report) -> None:
    found = commands(render(report))

    assert found
    assert max(Counter(command.level for command in found).values()) <= 10
    assert all(len(command.text) < 5000 for command in found)


def test_what_is_left_out_is_counted() -> None:
    errors = [c for c in commands(render(big_report())) if c.level == "error"]

    assert re.fullmatch(r"\d+ more errors: see the full report", errors[-1].text)


def test_a_cause_points_at_its_lines_below_the_root() -> None:
    report = at_lines(("/repo/src/a,b:c.py", 7), ("/usr/lib/x.py", 0))
    found = commands(GithubRenderer(root="/repo").render(report))
    causes = [one for one in found if "pageable-copy" in one.properties["title"]]
    inside, outside = causes[:2]

    assert inside.properties == {
        "file": "src/a,b:c.py",
        "line": "7",
        "title": "overlapcheck: pageable-copy",
    }
    assert "file" not in outside.properties
    assert outside.text.endswith("\nat /usr/lib/x.py (main)")


def test_levels_follow_the_verdict() -> None:
    levels = {name: {c.level for c in commands(render(REPORTS[name]))} for name in REPORTS}

    assert levels["pass"] == {"notice"}
    assert levels["fail"] == {"error"}
    assert levels["inconclusive"] == {"warning"}


def test_names_cannot_end_a_command_or_begin_another() -> None:
    found = commands(render(hostile_report(MARKUP)))
    text = " ".join(MARKUP.split())

    assert any(text in command.text for command in found)
    assert any(command.properties["title"].startswith("overlapcheck: a<b>") for command in found)


def test_it_has_a_suffix_of_its_own() -> None:
    assert renderer_for_file("x.github.txt").name == "github"
    assert renderer_for_file("x.txt").name == "terminal"
