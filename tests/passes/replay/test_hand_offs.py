"""Threads that wait for each other: each limit, just within and beyond. Times in us."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Ints
from overlapcheck.passes.replay.hand_offs import with_hand_offs
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import (
    OF_SYSTEM,
    ORIGIN,
    GraphOperations,
    HostEvents,
    Links,
    StepGraph,
    Why,
)
from overlapcheck.trace import Strings

US = 1_000
CUDA = "cudaLaunchKernel"
WAIT = "pthread_cond_wait"
Event = tuple[int, str, float, float]
"""Thread, call, start and end."""


@dataclass(frozen=True)
class Found:
    """Links as (from, to, lag): the event that ends; the end "e1" or the start "s1" of another."""

    links: list[tuple[int, str, int]]
    outside: list[tuple[str, int]]
    own: list[float]
    gap: list[float]


def found(*rows: Event) -> Found:
    rows = tuple(sorted(rows, key=lambda row: row[2]))
    names = sorted({name for _, name, _, _ in rows})
    events = HostEvents.filled(
        len(rows),
        tid=[row[0] for row in rows],
        name_id=[names.index(row[1]) for row in rows],
        kind=[ApiKind.LAUNCH if row[1].startswith("cuda") else OF_SYSTEM for row in rows],
        start_ns=ns([row[2] for row in rows]),
        end_ns=ns([row[3] for row in rows]),
        own_ns=ns([row[3] for row in rows]) - ns([row[2] for row in rows]),
        previous=[previous(rows, at) for at in range(len(rows))],
        gap_ns=[gap(rows, at) for at in range(len(rows))],
    )
    nothing = np.zeros(2 * len(rows) + 2, dtype=np.int64)
    graph = StepGraph(GraphOperations.filled(1), events, Links.none(), nothing, 0, 4, 4)
    after = with_hand_offs(graph, Strings(dict(enumerate(names))))
    links = after.links.rows(after.links.of(Why.HAND_OFF))
    outside = after.links.rows(after.links.of(Why.OUTSIDE))
    assert len(links) + len(outside) == len(after.links)
    assert (links.before % 2 == 1).all()
    assert (outside.before == ORIGIN).all()
    nodes = zip(links.before.tolist(), links.after.tolist(), links.lag_ns.tolist(), strict=True)
    come = zip(outside.after.tolist(), outside.lag_ns.tolist(), strict=True)
    return Found(
        [(before // 2 - 1, told(after_), lag) for before, after_, lag in nodes],
        [(told(after_), lag) for after_, lag in come],
        (after.events.own_ns / US).tolist(),
        (after.events.gap_ns / US).tolist(),
    )


def ns(us: list[float]) -> Ints:
    found: Ints = np.rint(np.array(us) * US).astype(np.int64)
    return found


def previous(rows: tuple[Event, ...], at: int) -> int:
    return max((n for n in range(at) if rows[n][0] == rows[at][0]), default=ABSENT)


def gap(rows: tuple[Event, ...], at: int) -> int:
    before = previous(rows, at)
    return 0 if before == ABSENT else round((rows[at][2] - rows[before][3]) * US)


def told(node: int) -> str:
    """Of a graph of one operation, whose nodes come first."""
    return f"{'se'[node % 2]}{node // 2 - 1}"


LAUNCHES = (1, CUDA, 0.0, 10.0)


def test_a_wait_that_another_thread_ended_ends_with_that_ones_work() -> None:
    after = found(LAUNCHES, (2, CUDA, 20, 90), (1, WAIT, 10, 100))

    # Sorted by start: the wait is event 1, what the other thread did is event 2.
    assert after.links == [(2, "e1", 10 * US)]
    assert after.outside == []
    assert after.own == [10, REPLAY.wakes_ns / US, 70]
    assert after.gap == [0, 0, 0]


@pytest.mark.parametrize(
    ("begin", "end", "worked", "handed"),
    [
        (1000, 1100, 1050, True),
        (1000, 1100, 1049.999, False),
        (1000, 2000, 1850, True),
        (1000, 2000, 1849.999, False),
        (1000, 1010, 1005, True),
        (1000, 1009.999, 1005, False),
        (1000, 1100, 1100, True),
        (1000, 1100, 1000, False),
        (1000, 1050, 1000.001, True),
    ],
    ids=["50 us before", "more", "a seventh before", "more of it", "of 10 us", "shorter", "at once",
         "before it began", "just after it began"],
)  # fmt: skip
def test_the_work_ends_in_the_wait_and_shortly_before_its_end(
    begin: float, end: float, worked: float, handed: bool
) -> None:
    after = found(LAUNCHES, (2, CUDA, 900, worked), (1, WAIT, begin, end))

    assert after.links == ([(1, "e2", round((end - worked) * US))] if handed else [])
    assert (after.own[2] == 2) is (handed or end - begin >= 100)


@pytest.mark.parametrize(("end", "outside"), [(1099.999, False), (1100.0, True)])
def test_a_long_wait_that_no_thread_ends_ends_from_outside(end: float, outside: bool) -> None:
    after = found(LAUNCHES, (1, WAIT, 1000, end))

    assert after.links == []
    assert after.outside == ([("e1", 1_100_000)] if outside else [])
    assert after.own[1] == (2 if outside else pytest.approx(end - 1000))


@pytest.mark.parametrize(
    ("name", "waits"), [("MPI_Waitall", True), ("read", True), ("write", False), ("MPI", False)]
)
def test_only_calls_that_wait_are_waits(name: str, waits: bool) -> None:
    assert bool(found(LAUNCHES, (2, CUDA, 20, 90), (1, name, 10, 100)).links) is waits


@pytest.mark.parametrize(("worked", "handed"), [(9.0, False), (10.0, False), (10.001, True)])
def test_what_had_ended_when_a_wait_began_did_not_end_it(worked: float, handed: bool) -> None:
    after = found(LAUNCHES, (2, CUDA, 1, worked), (1, WAIT, 10, 40))

    assert len(after.links) == handed


def test_two_waits_are_two_links_with_the_time_of_each() -> None:
    after = found(
        LAUNCHES, (2, CUDA, 20, 90), (1, WAIT, 10, 100), (2, CUDA, 210, 293), (1, WAIT, 200, 300)
    )

    assert after.links == [(2, "e1", 10 * US), (4, "e3", 7 * US)]


def test_a_thread_that_hands_nothing_over_may_wait_as_it_likes() -> None:
    after = found(
        (1, CUDA, 0, 190), (2, WAIT, 10, 200), (2, "write", 300, 310), (1, CUDA, 290, 299)
    )

    assert (after.links, after.outside) == ([], [])
    assert after.own == [190, 190, 9, 10]


def test_waits_are_no_work_and_reads_are() -> None:
    assert not found(LAUNCHES, (2, WAIT, 20, 90), (1, WAIT, 10, 100)).links
    assert found(LAUNCHES, (2, "read", 20, 90), (1, WAIT, 10, 100)).links
    assert found(LAUNCHES, (2, "write", 20, 90), (1, WAIT, 10, 100)).links


def test_its_own_work_ends_no_wait_of_a_thread() -> None:
    after = found(LAUNCHES, (1, CUDA, 10, 15), (1, WAIT, 10, 100))

    assert after.links == []


def test_of_several_the_thread_that_was_done_last_ended_the_wait() -> None:
    late = (3, CUDA, 30, 95)
    early, waits = (2, CUDA, 20, 90), (1, WAIT, 10, 100)

    assert found(LAUNCHES, early, waits, late).links == [(3, "e1", 5 * US)]
    assert found(LAUNCHES, (2, CUDA, 20, 97), waits, late).links == [(2, "e1", 3 * US)]
    assert found(LAUNCHES, (2, CUDA, 20, 95), waits, late).links == [(2, "e1", 5 * US)]
    # Neither what only waits nor what works later or earlier hides the one that did it.
    assert found(LAUNCHES, (2, WAIT, 20, 90), waits, late).links == [(3, "e1", 5 * US)]
    assert found(LAUNCHES, (2, CUDA, 98, 190), waits, late).links == [(2, "e1", 5 * US)]
    assert found((2, CUDA, 1, 9), LAUNCHES, waits, late).links == [(3, "e2", 5 * US)]


def test_of_one_thread_its_last_work_before_the_end_counts() -> None:
    after = found(
        LAUNCHES, (1, WAIT, 10, 100), (2, CUDA, 20, 70), (2, CUDA, 71, 90), (2, CUDA, 91, 110)
    )

    assert after.links == [(3, "e1", 10 * US)]


def gaps(*others: Event, end: float = 1200.0) -> Found:
    """A thread that makes no call from 1000 to 1200 us."""
    return found((1, CUDA, 990, 1000), (1, CUDA, end, end + 10), *others)


def test_a_gap_in_which_another_thread_is_at_work_is_a_wait_for_it() -> None:
    after = gaps((2, CUDA, 1020, 1180))

    assert after.links == [(1, "s2", 20 * US)]
    assert after.gap == [0, 0, 2]
    assert after.own == [10, 160, 10]


@pytest.mark.parametrize(
    ("start", "end", "handed"),
    [
        (1080, 1180, True),
        (1080.001, 1180, False),
        (1010, 1150, True),
        (1010, 1149.999, False),
        (900, 1150, True),
        (1000, 1201, False),
    ],
    ids=["half of it", "less", "50 us before", "more", "since before it", "beyond it"],
)
def test_it_is_at_work_for_half_of_it_and_shortly_before_its_end(
    start: float, end: float, handed: bool
) -> None:
    after = gaps((2, CUDA, start, end))

    assert len(after.links) == handed
    assert after.gap[-1 if end <= 1200 else 2] == (2 if handed else 200)


def test_a_thread_is_at_work_from_its_first_call_in_the_gap() -> None:
    assert gaps((2, CUDA, 1020, 1030), (2, CUDA, 1170, 1180)).links
    assert not gaps((2, CUDA, 920, 930), (2, CUDA, 1170, 1180)).links
    assert not gaps((2, CUDA, 920, 930), (2, CUDA, 1110, 1120), (2, CUDA, 1170, 1180)).links
    assert gaps((2, CUDA, 920, 1005), (2, CUDA, 1010, 1020), (2, CUDA, 1170, 1180)).links


@pytest.mark.parametrize(("end", "handed"), [(1010.0, True), (1009.999, False)])
def test_short_gaps_are_the_threads_own(end: float, handed: bool) -> None:
    assert len(gaps((2, CUDA, 1000, 1009), end=end).links) == handed


def test_long_gaps_give_a_seventh() -> None:
    assert gaps((2, CUDA, 1000, 1850), end=2000.0).links
    assert not gaps((2, CUDA, 1000, 1849.999), end=2000.0).links


def test_gaps_of_threads_that_hand_nothing_over_stay() -> None:
    after = found((1, CUDA, 1000, 1190), (2, "write", 990, 1000), (2, "write", 1200, 1210))

    assert after.links == []
    assert after.gap[2] == 200


def test_links_that_are_there_stay() -> None:
    one = Links.between(np.array([0]), np.array([2]), 7, Why.WAIT)
    events = HostEvents.filled(2, tid=[1, 1], start_ns=[0, 5], end_ns=[1, 6], kind=ApiKind.LAUNCH)
    nothing = np.zeros(4, dtype=np.int64)
    graph = StepGraph(GraphOperations.none(), events, one, nothing, 0, 4, 4)
    after = with_hand_offs(graph, Strings())

    assert [column.tolist() for column in after.links.columns] == [[0], [2], [7], [Why.WAIT]]
