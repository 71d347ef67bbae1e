"""A check is named after an NVTX range, whose name may hold anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from jsonschema import Draft202012Validator
from rich.cells import cell_len

from overlapcheck import pipeline
from overlapcheck.renderers import renderers
from overlapcheck.report import Report
from overlapcheck.saved import restored
from overlapcheck.selection import Selection
from overlapcheck.verdict import Limits, Policy
from tests.json_schemas import published
from tests.pictures import picture

DRAWN = 'a<b>&amp;,"d" [f](g) %0A::error::x'
PATTERN = 'a<b>&amp;,"d" [[]f](g) %0A::error::?'
NOT_THERE = "no|such<i>&,\nrange\r\n::warning::y\x1b[31m"
SHOWN = "no|such<i>&, range  ::warning::y"
ROWS = f"""
s7  kernel k         |.aaaa.......cccc|
s13 h2d pinned 1B    |......bbbb......|
t1  cudaLaunchKernel |a..........c....|
t1  cudaMemcpyAsync  |..b.............|
t1  nvtx {DRAWN} |xxxx............|
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    path = picture(ROWS).export(tmp_path_factory.mktemp("names") / "names.sqlite")
    limits = Limits(min_overlap=0.8, max_recoverable=0.1)
    policy = Policy(ranges={PATTERN: limits, NOT_THERE: limits})
    return pipeline.analyze(path, policy=policy, selection=Selection(skip=0))


def rendered(report: Report, form: str) -> str:
    return renderers()[form].render(report)


def test_the_checks_bear_the_names(report: Report) -> None:
    assert [check.name for check in report.verdict.checks][3:] == [
        f"overlap h2d in '{PATTERN}'",
        f"recoverable in '{PATTERN}'",
        f"range '{SHOWN}'",
    ]
    assert [check.outcome.value for check in report.verdict.checks][3:] == [
        "FAIL",
        "FAIL",
        "INCONCLUSIVE",
    ]


def test_json_keeps_them_as_they_are_and_fits_its_schema(report: Report) -> None:
    text = rendered(report, "json")
    document = json.loads(text)
    Draft202012Validator(published("report")).validate(document)
    (device,) = document["devices"]
    found, missing = device["ranges"]

    assert [check["name"] for check in document["verdict"]["checks"]][-1] == f"range '{SHOWN}'"
    assert (found["pattern"], found["closed"], found["instances"]) == (PATTERN, 1, 1)
    assert (found["length_ns"], found["compute_ns"], found["idle_ns"]) == (9_000, 4_000, 5_000)
    assert found["copies"]["h2d"]["overlap"] == 0
    assert (missing["pattern"], missing["closed"], missing["length_ns"]) == (SHOWN, 0, 0)
    assert missing["recoverable"] is None
    assert restored(text).devices[0].ranges == report.devices[0].ranges


def test_a_result_of_before_there_were_ranges_can_be_read(report: Report) -> None:
    document = json.loads(rendered(report, "json"))
    del document["devices"][0]["ranges"]

    assert restored(json.dumps(document)).devices[0].ranges == ()


def test_junit_is_xml_with_the_names_in_it(report: Report) -> None:
    cases = [
        case.get("name") for case in Xml.fromstring(rendered(report, "junit")).iter("testcase")
    ]

    assert f"overlap h2d in '{PATTERN}'" in cases
    assert len(set(cases)) == len(report.verdict.checks)


def test_sarif_has_a_rule_for_each(report: Report) -> None:
    (run,) = json.loads(rendered(report, "sarif"))["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]

    assert sum("range-" in rule or "-in-" in rule for rule in rules) == 3
    assert not any("\n" in rule or " " in rule for rule in rules)


def test_html_has_no_markup_of_theirs(report: Report) -> None:
    text = rendered(report, "html")

    assert "a&lt;b&gt;&amp;amp;" in text
    assert "a<b>" not in text
    assert "<i>&" not in text


def test_markdown_rows_have_as_many_cells_as_their_head(report: Report) -> None:
    rows = [
        line for line in rendered(report, "markdown").splitlines() if re.match(r"\| .*\|$", line)
    ]
    checks = [row for row in rows if " in '" in row or "range '" in row]

    assert len(checks) == 3
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in checks} == {6}
    assert not any("<b>" in row or "<i>" in row for row in checks)


def test_no_annotation_of_theirs_begins_a_line(report: Report) -> None:
    lines = rendered(report, "github").splitlines()

    assert not any(line.startswith(("::error::x", "::warning::y")) for line in lines)
    assert all(line.startswith("::") for line in lines if "range '" in line)


def test_the_terminal_stays_in_its_columns(report: Report) -> None:
    text = rendered(report, "terminal")

    assert max(map(cell_len, text.splitlines())) <= 80
    assert "\x1b[31m" not in text
    assert re.search(r"overlap h2d in 'a<b>&amp;.* FAIL", text)


def test_a_saved_result_renders_the_same(report: Report, tmp_path: Path) -> None:
    again = restored(rendered(report, "json"))

    for form in ("terminal", "json", "junit", "markdown", "github", "sarif"):
        assert rendered(again, form) == rendered(report, form), form
