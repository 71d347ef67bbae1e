"""The verdict over all ranks, and how many of them may fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from overlapcheck.fleet import FleetReport
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.merge import merge
from overlapcheck.ranks.work import Judged, judge_content
from overlapcheck.renderers.fleet import fleet_renderer
from overlapcheck.report_result import LostReport, ReportResult, Task
from overlapcheck.verdict import Outcome, Policy
from tests.ranks import fleets

P, F, U = Outcome.PASS, Outcome.FAIL, Outcome.INCONCLUSIVE
LOST = LostReport("rank_9.sqlite", "unreadable", "record it again")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> ReportResult:
    path = fleets.write_rank(fleets.USUAL, tmp_path_factory.mktemp("share") / "rank_0.sqlite", 1)
    judged = judge_content(fleets.judge, False, Task(0, path))
    assert isinstance(judged, Judged), judged
    return judged.result


def merged(
    one: ReportResult, outcomes: Sequence[Outcome], lost: int, percent: float
) -> FleetReport:
    ranks = {
        n: replace(one, rows=tuple(replace(row, outcome=outcome) for row in one.rows))
        for n, outcome in enumerate(outcomes)
    }
    missing = {len(outcomes) + n: LOST for n in range(lost)}
    paths = [Path(f"rank_{n}.sqlite") for n in range(len(outcomes) + lost)]
    return merge(JobReports(paths, policy=Policy(max_failing_ranks=percent / 100)), ranks, missing)


@pytest.mark.parametrize(
    ("outcomes", "lost", "percent", "expected"),
    [
        ([P, P, P, P], 0, 0, P),
        ([P, P, P, F], 0, 0, F),
        ([P, P, P, U], 0, 0, U),
        ([P, P, U, F], 0, 0, F),
        ([P, P, P], 1, 0, U),
        ([P, P, P, F], 0, 25, P),
        ([P, P, F, F], 0, 25, F),
        ([P, P, P, F], 0, 24.9, F),
        # The rank that cannot be judged may be one more that fails.
        ([P, P, U, F], 0, 25, U),
        ([P, P, F], 1, 25, U),
        ([P, P, U, F], 0, 50, P),
        ([P, P, P, U], 0, 25, P),
        ([F] * 7 + [P] * 93, 0, 7, P),
        ([U, U], 0, 50, U),
    ],
)
def test_the_worst_rank_decides_unless_a_share_may_fail(
    one: ReportResult, outcomes: list[Outcome], lost: int, percent: float, expected: Outcome
) -> None:
    assert merged(one, outcomes, lost, percent).outcome is expected


def test_the_share_is_a_check_only_where_it_is_asked_for(one: ReportResult) -> None:
    asked = merged(one, [P, P, P, F], 0, 25)
    (check,) = [check for check in asked.checks if check.name == "failing ranks"]

    assert (check.outcome, check.ranks, check.failed) == (P, 4, 1)
    assert check.worst == check.limit == 0.25
    assert all(c.name != "failing ranks" for c in merged(one, [P, F], 0, 0).checks)
    text = fleet_renderer("terminal").render(asked)
    assert text.startswith("PASS  1 of 4 ranks failed (rank 3), 25.0 % may; ")


def test_what_holds_for_a_whole_report_holds_for_each_of_its_ranks(one: ReportResult) -> None:
    unsure = replace(one, checks=(replace(one.rows[0].checks[0], device=None, outcome=U),))
    passing = replace(one, rows=tuple(replace(row, outcome=P) for row in one.rows))
    paths = [Path("rank_0.sqlite"), Path("rank_1.sqlite")]
    ranks = {0: passing, 1: replace(passing, checks=unsure.checks)}

    assert merge(JobReports(paths), ranks, {}).outcome is U
    assert merge(JobReports(paths, policy=Policy(max_failing_ranks=0.5)), ranks, {}).outcome is P
