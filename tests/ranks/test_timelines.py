"""The telling ranks on one axis: whose clocks agree, which step begins at 0, who waited."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from overlapcheck import pipeline
from overlapcheck.fleet import FleetReport, RankTimeline
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.merge import merge
from overlapcheck.ranks.pool import ThisProcess
from overlapcheck.ranks.run import judge_fleet
from overlapcheck.ranks.summary import summarize
from overlapcheck.ranks.timelines import MAX_TIMELINES
from overlapcheck.reading import Reading
from overlapcheck.report_result import DrawnRank, ReportResult
from tests.ranks import fleets

US = 1000
LATE, PAGEABLE = 4, 6
judge = partial(pipeline.analyze, reading=Reading().of_rank)


def fleet(folder: Path, ranks: int, pageable: int | None = None) -> FleetReport:
    paths = fleets.write_fleet(folder, ranks, late=LATE, pageable=pageable)
    return judge_fleet(JobReports(paths), judge, ThisProcess())


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> FleetReport:
    return fleet(tmp_path_factory.mktemp("job"), 8, PAGEABLE)


def by_rank(report: FleetReport) -> dict[str, RankTimeline]:
    return {one.rank: one for one in report.timelines}


def test_they_are_the_telling_ones_in_their_order(answer: FleetReport) -> None:
    ranks = [one.rank for one in answer.timelines]

    assert ranks == sorted(ranks, key=int)
    assert {str(LATE), str(PAGEABLE)} < set(ranks) and len(ranks) <= MAX_TIMELINES
    assert "the others wait for it" in by_rank(answer)[str(LATE)].why


def test_all_wait_in_one_collective_of_a_step_until_the_late_rank_comes(
    answer: FleetReport,
) -> None:
    """It comes in column 9 of 100 us, the others in column 6; all leave in column 11."""
    for rank, one in by_rank(answer).items():
        assert one.step == "step 3"
        first = one.meetings[0]
        begun = 900 if rank == str(LATE) else 600
        at = one.at_ns
        assert (first.start_ns + at, first.until_ns + at, first.end_ns + at) == (
            begun * US,
            900 * US,
            1100 * US,
        )
        assert (first.kind, first.latest) == ("all-reduce", str(LATE))
    occasions = [[met.occasion for met in one.meetings] for one in answer.timelines]
    assert len(set(map(tuple, occasions))) == 1 and len(set(occasions[0])) == 3


def test_ranks_of_another_host_are_drawn_from_the_steps_begin(tmp_path: Path) -> None:
    """Its clock is 37 ms ahead: by clocks the two hosts would have nothing in common."""
    report = fleet(tmp_path, fleets.PER_HOST + 4, pageable=fleets.PER_HOST + 2)
    here, there = (by_rank(report)[str(rank)] for rank in (LATE, fleets.PER_HOST + 2))

    assert (here.clock, here.at_ns, there.clock, there.at_ns) == (0, 0, 1, 0)
    # Its own host's ranks meet, and none of them waits for rank 4.
    assert there.meetings and {met.latest for met in there.meetings} & {str(LATE)} == set()


def results(folder: Path) -> tuple[list[Path], dict[int, ReportResult]]:
    paths = fleets.write_fleet(folder, 3, late=1)
    return paths, {n: summarize(judge(path)) for n, path in enumerate(paths)}


def test_a_clock_that_is_off_puts_its_rank_at_the_steps_begin(tmp_path: Path) -> None:
    paths, found = results(tmp_path)
    utc = found[2].utc_start_ns
    assert utc is not None
    found[2] = replace(found[2], utc_start_ns=utc + 5_000_000_000)
    report = merge(JobReports(paths), found, {})

    assert {one.rank: (one.clock, one.at_ns) for one in report.timelines} == {
        "0": (0, 0),
        "1": (0, 0),
        "2": (1, 0),
    }
    assert [len(one.meetings) for one in report.timelines] == [3, 3, 0]


def test_a_rank_that_shows_other_steps_is_drawn_from_one_of_its_own(tmp_path: Path) -> None:
    paths, found = results(tmp_path)
    drawn = found[1].drawn[0]
    assert isinstance(drawn, DrawnRank)
    later = tuple(number + 40 for number in drawn.excerpt.step_number)
    moved = replace(drawn, excerpt=replace(drawn.excerpt, step_number=later))
    found[1] = replace(found[1], drawn=(moved,))
    report = merge(JobReports(paths), found, {})

    steps = {one.rank: one.step for one in report.timelines}
    assert (steps.pop("1"), set(steps.values())) == ("step 43", {"step 3"})


def test_a_collective_that_one_rank_does_not_show_is_not_compared(tmp_path: Path) -> None:
    """Who came last is known only where every rank of the group is looked at."""
    paths, found = results(tmp_path)
    late = found[1].drawn[0]
    assert late is not None
    found[1] = replace(found[1], drawn=(replace(late, collectives=()),))
    report = merge(JobReports(paths), found, {})

    assert len(report.timelines) >= 2
    assert [one.meetings for one in report.timelines] == [()] * len(report.timelines)


def test_a_result_that_keeps_nothing_to_draw_has_no_timeline(tmp_path: Path) -> None:
    paths, found = results(tmp_path)
    bare = {n: replace(result, drawn=()) for n, result in found.items()}

    assert merge(JobReports(paths), bare, {}).timelines == ()


def test_hundreds_of_ranks_leave_a_bounded_number_of_timelines(tmp_path: Path) -> None:
    _, found = results(tmp_path)
    many = {n: found[0 if n % 50 else 1] for n in range(300)}
    report = merge(JobReports([tmp_path / f"rank_{n}.sqlite" for n in many]), many, {})

    assert 2 <= len(report.timelines) <= MAX_TIMELINES
    assert sum(len(row.count) for one in report.timelines for row in one.excerpt.rows) < 3_200
