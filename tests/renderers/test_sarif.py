"""SARIF 2.1.0 against its published schema, and what is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from overlapcheck.renderers import renderer_for_file, renderers
from overlapcheck.renderers.sarif import SarifRenderer
from overlapcheck.report import Report
from tests.renderers.reports import EVERY, MARKUP, REPORTS, at_lines, big_report, golden
from tests.renderers.test_terminal import hostile_report

SCHEMA = Path(__file__).parent / "schemas" / "sarif-2.1.0-rtm.5.json"


@pytest.fixture(scope="module")
def validator() -> Draft4Validator:
    return Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def render(report: Report) -> str:
    return renderers()["sarif"].render(report)


def run(report: Report, root: str = "") -> dict[str, Any]:
    (found,) = json.loads(SarifRenderer(root=root).render(report))["runs"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", REPORTS)
def test_golden(name: str) -> None:
    text = render(REPORTS[name])

    assert text == golden("sarif", f"{name}.sarif", text)


@pytest.mark.parametrize("report", [*EVERY, big_report(4)])
def test_it_is_valid(report: Report, validator: Draft4Validator) -> None:
    validator.validate(json.loads(render(report)))


@pytest.mark.parametrize("report", EVERY)
def test_every_result_has_its_rule(report: Report) -> None:
    found = run(report)
    rules = found["tool"]["driver"]["rules"]

    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in found["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert found["invocations"][0]["exitCode"] == int(report.verdict.exit_code)


def test_levels_say_what_failed_what_is_unknown_and_what_is_small() -> None:
    levels = {r["ruleId"]: r["level"] for r in run(REPORTS["with_findings"])["results"]}

    assert levels["check/overlap-h2d"] == levels["cause/pageable-copy"] == "error"
    assert levels["cause/launch-latency"] == "note"
    assert [r["level"] for r in run(REPORTS["inconclusive"])["results"]] == ["warning"]
    assert run(REPORTS["pass"])["results"] == []


def test_places_are_uris_below_the_root_with_lines_where_known() -> None:
    report = at_lines(("/repo/a b.py", 7), ("/usr/x#1.py", 0))
    result = next(r for r in run(report, "/repo")["results"] if r.get("locations"))
    inside, outside = result["locations"]

    assert inside["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b.py"},
        "region": {"startLine": 7},
    }
    assert "physicalLocation" not in outside
    assert outside["message"] == {"text": "/usr/x#1.py (main)"}


def test_a_message_has_no_links_and_no_placeholders() -> None:
    texts = [r["message"]["text"] for r in run(hostile_report(MARKUP))["results"]]

    assert texts
    assert not any("](" in text or "{0}" in text.replace("{{0}}", "") for text in texts)


def test_it_stays_bounded() -> None:
    found = run(big_report())

    assert len(found["results"]) == 1000
    assert found["properties"]["resultsTotal"] > 1000


def test_its_suffix() -> None:
    assert renderer_for_file("overlap.sarif").name == "sarif"
