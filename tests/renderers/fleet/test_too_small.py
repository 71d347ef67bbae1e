"""A number that misses its limit and passes, for so little hangs on it: said in every table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlapcheck.fleet import FleetCheck
from overlapcheck.renderers.fleet import fleet_renderers
from overlapcheck.verdict import Outcome
from tests.renderers.fleet.jobs import a_job, a_rank

FEW = FleetCheck(
    name="overlap d2h",
    outcome=Outcome.PASS,
    ranks=1,
    failed=0,
    inconclusive=0,
    limit=0.8,
    at_least=True,
    median=0.1,
    worst=0.1,
    worst_rank="7",
    reason="not judged: hiding more wins at most 0.1 %",
)


def page(check: FleetCheck, name: str) -> str:
    return fleet_renderers()[name].render(replace(a_job(a_rank(0)), checks=(check,)))


@pytest.mark.parametrize(
    ("check", "small"),
    [
        (FEW, True),
        (replace(FEW, worst=0.8), False),
        (replace(FEW, outcome=Outcome.FAIL), False),
        (replace(FEW, at_least=False), False),
        (replace(FEW, worst=None), False),
        (replace(FEW, limit=None), False),
    ],
)
def test_only_what_misses_its_limit_and_passes_was_too_small(
    check: FleetCheck, small: bool
) -> None:
    assert check.too_small == small


def test_the_terminal_says_so_in_place_of_the_worst_rank() -> None:
    assert ">= 80.0 %  n/a, too small" in page(FEW, "terminal")
    assert "n/a" not in page(replace(FEW, worst=0.9), "terminal")


def test_markdown_says_why() -> None:
    assert FEW.reason in page(FEW, "markdown")
    assert FEW.reason not in page(replace(FEW, worst=0.9), "markdown")


def test_the_page_marks_it() -> None:
    assert ">n/a</span>" in page(FEW, "html")
    assert ">n/a</span>" not in page(replace(FEW, worst=0.9), "html")
