"""What every cause file owes: a manual page, advice with its limits, and pictures."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

import overlapcheck.causes
from overlapcheck.causes import causes, check_known, manual, manual_index
from overlapcheck.errors import PolicyInvalid
from overlapcheck.ledger import Reason
from overlapcheck.measurements import Framework
from overlapcheck.thresholds import Thresholds
from tests.causes.test_pictures import CASES
from tests.pictures import picture

HEADINGS = [
    "What it is",
    "Why it costs overlap",
    "What it looks like",
    "What to do",
    "When this is wrong",
]
WITHOUT_REASON = {"graph-opaque", "incomplete-capture", "contention"}
"""Causes that are no reason of the idle ledger."""
FOR_CORRECTNESS = ("allocation", "host-sync", "event-wait")
"""What these remove may be there for correctness, and every word about them says so."""
IDS = sorted(causes())


def test_every_reason_has_a_cause() -> None:
    assert set(IDS) == {reason.cause for reason in Reason} | WITHOUT_REASON


@pytest.mark.parametrize("cause", IDS)
def test_the_file_has_the_name_of_the_cause(cause: str) -> None:
    (folder,) = overlapcheck.causes.__path__

    assert (Path(folder) / f"{cause.replace('-', '_')}.py").is_file()


@pytest.mark.parametrize("cause", IDS)
def test_the_manual_page_has_its_headings_in_order(cause: str) -> None:
    name, blank, summary, *rest = manual(cause).splitlines()
    headings = [line for line in rest if line and not line.startswith(" ")]

    assert (name, blank) == (cause, "")
    assert summary.endswith(".")
    assert summary.count(".") == 1
    numbers = any(cause in one.causes for one in Thresholds().described())
    assert headings == [*HEADINGS, *(["Numbers that decide"] if numbers else [])]
    assert max(map(len, rest)) <= 100


@pytest.mark.parametrize("cause", IDS)
def test_the_manual_page_speaks_to_both_frameworks(cause: str) -> None:
    (what_to_do,) = re.findall(r"What to do\n(.*?)\n\n", manual(cause), flags=re.DOTALL)

    assert "Both frameworks" in what_to_do or "PyTorch" in what_to_do


@pytest.mark.parametrize("cause", IDS)
def test_advice_and_its_limits_are_clauses(cause: str) -> None:
    found = causes()[cause]

    measured = picture("s7 kernel k |a|").measure()
    for framework, once in product(Framework, (False, True)):
        advice = found.advise(replace(measured, framework=framework), once)
        assert advice
        assert not advice.endswith(".")
        assert advice[0].islower()
    for clause in (found.title, found.caveat):
        assert clause
        assert not clause.endswith(".")
        assert clause[0].islower()


@pytest.mark.parametrize("cause", FOR_CORRECTNESS)
def test_what_may_be_needed_for_correctness_is_never_advised_away_without_a_warning(
    cause: str,
) -> None:
    page, caveat = manual(cause), causes()[cause].caveat

    for text in (page, caveat):
        assert re.search("correctness", text, flags=re.IGNORECASE)
        assert "record_stream" in text
        assert re.search("double[- ]buffer", text)


@pytest.mark.parametrize("cause", IDS)
def test_pictures_show_it_firing_and_quiet(cause: str) -> None:
    names = [case.split("/")[1] for case, (owner, _) in CASES.items() if owner == cause]

    assert any(name.startswith("fires_") for name in names)
    assert any(name.startswith("quiet_") for name in names)


def test_the_index_lists_every_cause_with_its_summary() -> None:
    index = manual_index()
    flowing = " ".join(index.split())

    assert max(map(len, index.splitlines())) <= 80
    for cause in IDS:
        summary = manual(cause).splitlines()[2].rstrip(".")
        assert re.search(rf"^{cause} ", index, flags=re.MULTILINE)
        assert f"{cause} {summary}" in flowing


def test_an_unknown_cause_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(PolicyInvalid) as refused:
        check_known(("pagable-copy",))

    assert "pageable-copy" in str(refused.value.hint)
