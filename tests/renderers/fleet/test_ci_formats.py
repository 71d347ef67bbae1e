"""Many ranks as JUnit, SARIF, annotations and a comment: valid, and as red as the exit code."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator
from lxml import etree

from overlapcheck.fleet import FleetReport
from overlapcheck.renderers._markdown_text import MARKER
from overlapcheck.renderers.fleet import fleet_renderers
from overlapcheck.renderers.fleet.github import FleetGithub
from overlapcheck.renderers.fleet.junit import MAX_RANKS
from overlapcheck.renderers.fleet.sarif import FleetSarif
from overlapcheck.verdict import Outcome
from tests.renderers.fleet.jobs import EVERY, JOBS, many
from tests.renderers.test_github import Command, commands
from tests.renderers.test_markdown import cells

SCHEMAS = Path(__file__).parents[1] / "schemas"


def junit(job: FleetReport) -> etree._Element:
    return etree.fromstring(fleet_renderers()["junit"].render(job).encode())


def run_of(job: FleetReport, root: str = "") -> dict[str, Any]:
    (found,) = json.loads(FleetSarif(root=root).render(job))["runs"]
    assert isinstance(found, dict)
    return found


def told(job: FleetReport, root: str = "") -> list[Command]:
    return commands(FleetGithub(root=root).render(job))


def case_of(job: FleetReport, class_name: str, name: str) -> etree._Element:
    (found,) = (
        case
        for case in junit(job).iter("testcase")
        if (case.get("classname"), case.get("name")) == (class_name, name)
    )
    return found


# ---- JUnit


@pytest.mark.parametrize("job", EVERY)
def test_junit_is_valid_counts_right_and_is_red_where_the_exit_code_is(job: FleetReport) -> None:
    root = junit(job)
    etree.XMLSchema(etree.parse(SCHEMAS / "junit.xsd")).assertValid(root)

    for node in (root, *root.iter("testsuite")):
        assert node.get("tests") == str(len(list(node.iter("testcase"))))
        assert node.get("failures") == str(len(list(node.iter("failure"))))
        assert node.get("errors") == str(len(list(node.iter("error"))))
    assert (root.get("failures") != "0") == (job.outcome is Outcome.FAIL)
    if job.outcome is not Outcome.FAIL:
        assert (root.get("errors") != "0") == (job.outcome is Outcome.INCONCLUSIVE)


def test_there_is_a_suite_for_the_job_and_one_for_each_rank() -> None:
    root = junit(JOBS["fail"])
    checks = ["capture", "overlap h2d", "recoverable"]
    cases = {
        suite.get("name"): [case.get("name") for case in suite.iter("testcase")] for suite in root
    }

    assert cases == {
        "job": ["reports", "ranks", *checks, "stragglers", "collective order"],
        **{f"rank {n}": checks for n in range(8)},
    }
    assert {case.get("classname") for case in root[1].iter("testcase")} == {"overlapcheck.rank0"}


def test_a_failing_rank_is_named_by_the_job_with_the_cause_and_what_to_do() -> None:
    (failure,) = case_of(JOBS["fail"], "overlapcheck.job", "overlap h2d").iter("failure")
    body = (failure.text or "").splitlines()

    assert failure.get("message") == (
        "overlap h2d: 1 of 8 ranks failed; median 97.0 %, worst 31.0 % of rank 6,"
        " limit >= 80.0 %: ceiling 100.0 %"
    )
    for line in (
        "failed    rank 6",
        "cause     pageable-copy: copies go through pageable memory",
        "at        /repo/train.py:104 (prefetch)",
        "do        pin the source",
        "unless    the buffer is used once",
    ):
        assert line in body
    (mine,) = case_of(JOBS["fail"], "overlapcheck.rank6", "overlap h2d").iter("failure")
    assert "cause     pageable-copy, 20.0 % of the window" in (mine.text or "").splitlines()


def test_what_is_not_there_is_an_error_of_the_job() -> None:
    (lost,) = case_of(JOBS["incomplete"], "overlapcheck.job", "reports").iter("error")
    (missing,) = case_of(JOBS["incomplete"], "overlapcheck.job", "ranks").iter("error")

    assert "lost      rank_1.sqlite: the file is empty; record it again" in (lost.text or "")
    assert "ranks 3, 5 missing beside 5 ranks" in missing.get("message", "")
    assert "to do     give all reports, or --expect-ranks 6" in (missing.text or "")


def test_what_may_fail_and_what_nobody_asks_about_is_skipped() -> None:
    skipped = {
        f"{case.get('classname')} {case.get('name')}"
        for case in junit(JOBS["fail_allowed"]).iter("testcase")
        if case.find("skipped") is not None
    }

    assert skipped == {
        "overlapcheck.job overlap h2d",
        "overlapcheck.job recoverable",
        "overlapcheck.job stragglers",
        "overlapcheck.job collective order",
        "overlapcheck.rank6 overlap h2d",
        "overlapcheck.rank6 recoverable",
    }


def test_of_many_ranks_the_worst_have_suites_and_the_job_counts_all() -> None:
    job = many()
    root = junit(job)
    names = [suite.get("name", "") for suite in root][1:]
    properties = {node.get("name"): node.get("value") for node in root[0].iter("property")}

    assert len(names) == MAX_RANKS
    assert {f"rank {n}" for n in range(3, 300, 10)} | {f"rank {n}" for n in range(7, 300, 10)} < (
        set(names)
    )
    assert properties["ranks without a suite"] == str(300 - MAX_RANKS)
    assert "30 of 300 ranks failed" in etree.tostring(root[0], encoding="unicode")


# ---- SARIF


@pytest.mark.parametrize("job", EVERY)
def test_sarif_is_valid_and_every_result_has_its_rule(job: FleetReport) -> None:
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
    Draft4Validator(schema).validate(json.loads(fleet_renderers()["sarif"].render(job)))
    run = run_of(job)
    rules = run["tool"]["driver"]["rules"]

    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["invocations"][0]["exitCode"] == int(job.exit_code)
    assert any(r["level"] == "error" for r in run["results"]) == (job.outcome is Outcome.FAIL)


def test_a_cause_is_one_result_with_its_ranks_on_the_worst_ones_lines() -> None:
    results = run_of(many(), "/repo")["results"]
    (cause,) = (one for one in results if one["ruleId"] == "cause/pageable-copy")

    assert cause["level"] == "error"
    assert cause["properties"]["ranks"] == [str(n) for n in range(3, 300, 10)]
    assert cause["properties"]["ranksTotal"] == 30
    assert cause["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "train.py"},
        "region": {"startLine": 104},
    }


def test_sarif_has_who_is_late_lost_and_missing_and_never_twice() -> None:
    results = run_of(JOBS["fail"])["results"] + run_of(JOBS["incomplete"])["results"]
    levels = {result["ruleId"]: result["level"] for result in results}
    prints = [json.dumps(result["partialFingerprints"]) for result in results]

    assert levels == {
        "check/overlap-h2d": "error",
        "check/recoverable": "error",
        "cause/pageable-copy": "error",
        "cause/exposed-collective": "error",
        "ranks/straggler": "warning",
        "ranks/collective-order": "warning",
        "ranks/missing": "warning",
        "ranks/lost": "warning",
    }
    assert len(set(prints)) == len(prints)
    assert {result["level"] for result in run_of(JOBS["fail_allowed"])["results"]} == {"note"}
    assert run_of(JOBS["pass"])["results"] == []


# ---- annotations


@pytest.mark.parametrize("job", EVERY)
def test_annotations_are_commands_few_and_errors_where_the_job_fails(job: FleetReport) -> None:
    found = told(job)

    assert found[0].properties["title"] == f"overlapcheck: {job.outcome}"
    assert max(Counter(command.level for command in found).values()) <= 10
    assert any(command.level == "error" for command in found) == (job.outcome is Outcome.FAIL)
    assert all(len(command.text) < 5000 for command in found)


def test_levels_of_annotations_are_no_worse_than_the_verdict() -> None:
    levels = {name: {command.level for command in told(job)} for name, job in JOBS.items()}

    assert levels["pass"] == levels["fail_allowed"] == levels["lost_allowed"] == {"notice"}
    assert levels["fail"] == {"error", "warning"}
    assert levels["unsure"] == levels["incomplete"] == {"warning"}


def test_a_cause_stands_on_its_lines_below_the_root() -> None:
    places = [
        (command.properties["file"], command.properties.get("line"))
        for command in told(JOBS["fail"], "/repo")
        if "file" in command.properties
    ]

    assert places == [("train.py", "104")]


# ---- a comment


@pytest.mark.parametrize("job", EVERY)
def test_a_comment_fits_and_begins_with_its_marker(job: FleetReport) -> None:
    text = fleet_renderers()["markdown"].render(job)

    assert len(text) <= 65_000
    assert text.startswith(f"{MARKER}\n### ")
    assert job.outcome.value in text.splitlines()[1]
    assert text.endswith("</sub>\n")
    assert text.count("<details>") == text.count("</details>")


def test_a_comment_has_the_ranks_that_tell_and_counts_the_rest() -> None:
    text = fleet_renderers()["markdown"].render(many())

    assert "and 284 more ranks" in text
    assert {"3", "13", "153"} < set(cells(text))
    assert "- and 80 more reports" in text
    assert "**at** /repo/train.py:104 (prefetch)" in text


def test_what_passes_keeps_its_causes_closed() -> None:
    allowed = fleet_renderers()["markdown"].render(JOBS["fail_allowed"])

    assert "<summary>What still costs time</summary>" in allowed
    assert "What still costs time" not in fleet_renderers()["markdown"].render(JOBS["fail"])
