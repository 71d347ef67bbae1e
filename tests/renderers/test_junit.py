"""JUnit XML: what a CI server reads out of it, and that it can read it at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from overlapcheck.renderers import renderer_for_file, renderers
from overlapcheck.report import Report
from tests.renderers.reports import EVERY, MARKUP, REPORTS, big_report, golden
from tests.renderers.test_terminal import a_device, a_report, failing, hostile_report, passing

XSD = Path(__file__).parent / "schemas" / "junit.xsd"


def render(report: Report) -> str:
    return renderers()["junit"].render(report)


def parsed(report: Report) -> etree._Element:
    return etree.fromstring(render(report).encode())


@pytest.mark.parametrize("name", REPORTS)
def test_golden(name: str) -> None:
    text = render(REPORTS[name])

    assert text == golden("junit", f"{name}.xml", text)


@pytest.mark.parametrize("report", [*EVERY, big_report(8)])
def test_it_is_valid_and_counts_right(report: Report) -> None:
    root = parsed(report)
    etree.XMLSchema(etree.parse(XSD)).assertValid(root)

    for node in (root, *root.iter("testsuite")):
        assert node.get("tests") == str(len(list(node.iter("testcase"))))
        assert node.get("failures") == str(len(list(node.iter("failure"))))
        assert node.get("errors") == str(len(list(node.iter("error"))))


@pytest.mark.parametrize("report", EVERY)
def test_a_run_that_did_not_pass_is_red(report: Report) -> None:
    root = parsed(report)
    red = root.get("failures") != "0" or root.get("errors") != "0"

    assert red == (report.verdict.outcome.value != "PASS")


def test_a_failure_says_measured_limit_reason_and_what_to_do() -> None:
    (failure, _) = parsed(REPORTS["with_findings"]).iter("failure")
    message = failure.get("message")

    assert message == (
        "overlap h2d is 78.8 %, limit >= 80.0 %: pageable copies get no relief (ceiling 100.0 %)"
    )
    body = failure.text or ""
    for word in (
        "pageable-copy (sure)",
        "do        pin the source",
        "unless    the buffer",
        ":104",
    ):
        assert word in body


def test_what_cannot_be_judged_is_an_error_with_the_way_out() -> None:
    (error,) = parsed(REPORTS["inconclusive"]).iter("error")

    assert error.get("type") == "inconclusive"
    assert "to do     record with --cuda-graph-trace=node" in (error.text or "")


def test_names_come_back_as_they_were_but_for_line_breaks() -> None:
    case = next(parsed(hostile_report(MARKUP)).iter("testcase"))

    assert case.get("name") == " ".join(MARKUP.split())


def test_cases_keep_their_names_from_run_to_run() -> None:
    report = a_report((*passing(0), *failing(1)), (a_device(0), a_device(1)))
    names = {case.get("classname") for case in parsed(report).iter("testcase")}

    assert names == {"overlapcheck.device0", "overlapcheck.device1"}


@pytest.mark.parametrize("name", ["junit.xml", "result.junit.xml", "R.XML"])
def test_its_files_end_in_xml(name: str) -> None:
    assert renderer_for_file(name).name == "junit"


def test_it_stays_bounded() -> None:
    assert len(render(big_report())) < 3_000_000
