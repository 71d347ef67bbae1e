"""A comparison as JUnit, SARIF and annotations: valid, and as red as the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator
from lxml import etree

from overlapcheck.comparison import Comparison
from overlapcheck.renderers.comparison import comparison_renderers
from overlapcheck.renderers.comparison.github import ComparisonGithub
from overlapcheck.renderers.comparison.sarif import ComparisonSarif
from tests.renderers.comparison.comparisons import COMPARISONS, EVERY
from tests.renderers.test_github import Command, commands

SCHEMAS = Path(__file__).parents[1] / "schemas"


def junit(comparison: Comparison) -> etree._Element:
    return etree.fromstring(comparison_renderers()["junit"].render(comparison).encode())


def run_of(comparison: Comparison, root: str = "") -> dict[str, Any]:
    (found,) = json.loads(ComparisonSarif(root=root).render(comparison))["runs"]
    assert isinstance(found, dict)
    return found


def told(comparison: Comparison, root: str = "") -> list[Command]:
    return commands(ComparisonGithub(root=root).render(comparison))


# ---- JUnit


@pytest.mark.parametrize("comparison", EVERY)
def test_junit_is_valid_counts_right_and_is_red_where_the_exit_code_is(
    comparison: Comparison,
) -> None:
    root = junit(comparison)
    etree.XMLSchema(etree.parse(SCHEMAS / "junit.xsd")).assertValid(root)

    for node in (root, *root.iter("testsuite")):
        assert node.get("tests") == str(len(list(node.iter("testcase"))))
        assert node.get("failures") == str(len(list(node.iter("failure"))))
        assert node.get("skipped", "0") == str(len(list(node.iter("skipped")))) or node is root
    assert (root.get("failures") != "0") == (int(comparison.exit_code) == 1)
    groups = [{case.get("classname") for case in suite.iter("testcase")} for suite in root]
    assert len(set().union(*groups)) == len(groups)


def test_a_failed_case_says_both_numbers_the_noise_and_the_new_cause() -> None:
    failures = list(junit(COMPARISONS["worse"]).iter("failure"))
    body = failures[0].text or ""

    assert [f.get("message", "").split(" ->")[0] for f in failures] == [
        "step time 8.0 ms",
        "recoverable 5.0 %",
        "overlap h2d 95.0 %",
    ]
    for line in (
        "base      8.0 ms",
        "new       10.0 ms",
        "noise     80.0 us",
        "at        /repo/train.py:104 (prefetch)",
        "do        do this",
        "unless    that is meant",
    ):
        assert line in body.splitlines()
    assert "cause     pageable-copy (new, 3.0 ms per step" in body


def test_what_one_side_lacks_is_skipped_and_says_which() -> None:
    skipped = {
        case.get("name"): skip.get("message")
        for case in junit(COMPARISONS["not_judged"]).iter("testcase")
        for skip in case.iter("skipped")
    }

    assert skipped == {
        "overlap h2d": "overlap h2d is not judged: the new side has none",
        "overlap d2h": "overlap d2h is not judged: the base side has none",
    }


# ---- SARIF


@pytest.mark.parametrize("comparison", EVERY)
def test_sarif_is_valid_and_every_result_has_its_rule(comparison: Comparison) -> None:
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
    document = json.loads(comparison_renderers()["sarif"].render(comparison))
    Draft4Validator(schema).validate(document)
    run = run_of(comparison)
    rules = run["tool"]["driver"]["rules"]

    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["invocations"][0]["exitCode"] == int(comparison.exit_code)


def test_sarif_has_what_got_worse_and_new_causes_on_their_lines() -> None:
    results = run_of(COMPARISONS["worse"], "/repo")["results"]
    levels = {result["ruleId"]: result["level"] for result in results}
    (cause,) = (r for r in results if r["ruleId"] == "cause/pageable-copy")

    assert levels == {
        "compare/step-time": "error",
        "compare/recoverable": "error",
        "compare/overlap-h2d": "error",
        "cause/pageable-copy": "error",
    }
    assert cause["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "train.py"},
        "region": {"startLine": 104},
    }
    allowed = run_of(COMPARISONS["worse_but_allowed"])["results"]
    assert {result["level"] for result in allowed} == {"warning"}
    for name in ("better", "no_change"):
        assert run_of(COMPARISONS[name])["results"] == []


# ---- annotations


@pytest.mark.parametrize("comparison", EVERY)
def test_annotations_are_commands_and_errors_only_where_the_exit_code_is_one(
    comparison: Comparison,
) -> None:
    found = told(comparison)

    assert any(command.level == "error" for command in found) == (int(comparison.exit_code) == 1)
    assert all(len(command.text) < 5000 for command in found)


def test_levels_of_annotations_say_what_fails_what_is_worse_and_what_is_news() -> None:
    levels = {name: {c.level for c in told(COMPARISONS[name])} for name in COMPARISONS}

    assert levels["better"] == levels["no_change"] == {"notice"}
    assert levels["worse"] == {"error"}
    assert levels["worse_but_allowed"] == {"warning"}
    gone = told(COMPARISONS["better"])[-1]
    assert gone.properties["title"] == "overlapcheck compare: pageable-copy"
    assert gone.text.startswith("gone, 3.0 ms per step")


def test_a_new_cause_stands_on_its_lines_below_the_root() -> None:
    places = [
        (command.properties["file"], command.properties.get("line"))
        for command in told(COMPARISONS["worse"], "/repo")
        if "file" in command.properties
    ]

    assert places == [("train.py", "104")]
