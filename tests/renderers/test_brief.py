"""The brief form: whole where it can be, under 4 kB whatever happens."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from overlapcheck.brief import MOST_BYTES, Brief, BriefCause, BriefCheck
from overlapcheck.pipeline import analyze_ranks, streams
from overlapcheck.reading import Reading
from overlapcheck.renderers import renderers
from overlapcheck.renderers._brief_document import brief_text, fitted
from overlapcheck.renderers.comparison import comparison_renderers
from overlapcheck.renderers.fleet import fleet_renderers
from overlapcheck.renderers.streams import stream_renderers
from overlapcheck.report import Report
from overlapcheck.verdict import Basis, Policy
from tests.export import RealExport
from tests.json_schemas import published
from tests.renderers.comparison.comparisons import COMPARISONS
from tests.renderers.reports import EVERY, REPORTS, at_lines, big_report, golden


def checked(text: str) -> dict[str, Any]:
    """The object, which fits its schema and its size."""
    assert len(text.encode()) < MOST_BYTES
    assert text.endswith("}\n")
    assert text.count("\n") == 1
    document: dict[str, Any] = json.loads(text)
    Draft202012Validator(published("brief")).validate(document)
    return document


def brief(report: Report) -> dict[str, Any]:
    return checked(renderers()["brief"].render(report))


@pytest.mark.parametrize("name", REPORTS)
def test_golden(name: str) -> None:
    text = renderers()["brief"].render(REPORTS[name])

    assert text == golden("brief", f"{name}.brief.json", text)


@pytest.mark.parametrize("report", [*EVERY, big_report()])
def test_it_is_small_whatever_the_report_holds(report: Report) -> None:
    found = brief(report)

    assert found["verdict"] == report.verdict.outcome
    assert len(found["causes"]) <= 3


@pytest.mark.parametrize("char", ["x", '"', "\\", "\U0001f600", "é"])
def test_the_worst_of_all_fits(char: str) -> None:
    """Every text as long as texts get, every number as long as numbers get."""
    long = f"a{char * 3000}z"
    number = -1.234567891234567e-300
    check = BriefCheck(long, long, "INCONCLUSIVE", number, number, False, long)
    cause = BriefCause(long, long, long, number, long, "suspected", (long,) * 9, long, long, long)
    worst = Brief(
        1, "comparison", "INCONCLUSIVE", "as recorded", 3, long, long,
        (check,) * 99999, 0, (cause,) * 99999, 0, long, False,
    )  # fmt: skip
    found = checked(brief_text(worst))

    assert found["cut"]
    assert (found["checks_left_out"], found["causes_left_out"]) == (99995, 99996)


def test_what_does_not_fit_is_counted_and_said() -> None:
    report = big_report()
    found = brief(report)

    assert found["cut"]
    assert len(found["checks"]) + found["checks_left_out"] == len(report.verdict.checks)
    assert len(found["causes"]) + found["causes_left_out"] == len(report.findings)
    assert found["checks"][0]["outcome"] == "FAIL"


def test_a_report_that_fits_is_not_cut() -> None:
    report = REPORTS["with_findings"]
    odd = replace(report.findings[0], share=1 / 3, title="a  b")
    found = brief(replace(report, findings=(odd, *report.findings[1:])))
    first = report.findings[0]

    assert not found["cut"]
    assert (found["causes"][0]["share"], found["causes"][0]["title"]) == (0.333333, "a b")
    assert found["causes"][0]["evidence"] == list(first.evidence)
    assert found["causes"][0]["advice"] == first.advice
    assert found["next"] == f"overlapcheck explain {first.cause}"


def test_what_settles_an_inconclusive_report_comes_next() -> None:
    report = REPORTS["inconclusive"]
    settling = next(c.settle_with for c in report.verdict.checks if c.settle_with)

    assert brief(report)["next"] == settling


def test_what_would_settle_a_failure_as_recorded_comes_next() -> None:
    report = REPORTS["with_findings"]
    settled = replace(report.verdict, settle_with="run it again")
    own = replace(report.verdict, basis=Basis.OWN_PACE)
    found = brief(replace(report, verdict=settled))

    assert (found["basis"], found["next"]) == ("as recorded", "run it again")
    assert found["summary"].startswith("as recorded (to settle it: run it again): ")
    assert brief(replace(report, verdict=own))["basis"] == "own pace"


def test_nothing_comes_next_where_all_is_well() -> None:
    assert brief(REPORTS["pass"])["next"] is None


def test_a_cause_says_where_it_is_written() -> None:
    assert brief(at_lines(("train.py", 104)))["causes"][0]["source"] == "train.py:104 (main)"


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str) -> None:
    comparison = COMPARISONS[name]
    found = checked(comparison_renderers()["brief"].render(comparison))

    assert found["exit_code"] == comparison.exit_code
    assert found["kind"] == "comparison"


def test_ranks(real_export: RealExport) -> None:
    exports = [real_export(name) for name in ("pt_pageable", "cu_double_buffer")]
    report = analyze_ranks(exports, policy=Policy(expect_ranks=2), reading=Reading(jobs=1))
    found = checked(fleet_renderers()["brief"].render(report))
    first = report.causes[0]
    labels = [f"{'x' * 500}{number}" for number in range(300)]
    many = tuple(replace(first, cause=label, worst_rank=label, title=label) for label in labels)

    assert (found["kind"], found["verdict"]) == ("ranks", report.outcome)
    assert found["judged"] == "2 ranks of 2 reports"
    large = checked(fleet_renderers()["brief"].render(replace(report, causes=many)))
    assert large["causes_left_out"] == 297


@pytest.mark.parametrize("form", ["x", '"', "é"])
def test_streams(form: str, real_export: RealExport) -> None:
    report = streams(real_export("ddp_bucketed"))
    (first, second), render = report.graphs, stream_renderers()["brief"].render
    document = json.loads(render(report))
    edges = [replace(e, rule=replace(e.rule, source=form * 999)) for e in first.edges] * 99
    long = replace(first, process=form * 999, edges=tuple(edges), streams=first.streams * 99)
    large = render(replace(report, graphs=(long, second) * 99, settle_with=form * 999))
    least = json.loads(large)

    assert [one["process"] for one in document["processes"]] == [first.process, second.process]
    assert "ready edge h2d -> compute, distance -1" in document["processes"][0]["edges"]
    assert document["next"] is None
    assert len(large.encode()) < MOST_BYTES
    assert len(least["processes"]) + least["processes_left_out"] == 198
    told = least["processes"][0]
    assert len(told["edges"]) + told["edges_left_out"] == len(edges)


@given(st.text(), st.integers(4, 60))
def test_a_text_fits_and_is_whole_where_it_can_be(text: str, most: int) -> None:
    found = fitted(text, most)

    assert len(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")) - 2 <= most
    assert found == fitted(found, most)
