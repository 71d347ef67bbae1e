"""Cutting and finding in the ledger, against trying everything."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import Window, WindowSource
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger.held_calls import _reach_within
from overlapcheck.passes.ledger.host_timeline import ThreadCalls, _absences
from overlapcheck.passes.ledger.idle_walk import _last_fill, _whole_gaps
from overlapcheck.passes.ledger.splitting import split
from overlapcheck.trace_tables import ApiCalls

SEEDS = range(30)
MINE, OTHER = 1, 2


def disjoint(dice: np.random.Generator, count: int, reach: int) -> tuple[list[int], list[int]]:
    """Intervals, some of which touch."""
    edges = np.sort(dice.choice(reach, 2 * count, replace=False))
    start, end = edges[::2].copy(), edges[1::2].copy()
    touch = dice.random(count - 1) < 0.3
    end[:-1] = np.where(touch, start[1:], end[:-1])
    return start.tolist(), end.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_spans_are_cut_where_intervals_begin_and_end(seed: int) -> None:
    dice = np.random.default_rng(seed)
    start = dice.integers(0, 40, 6)
    end = start + dice.integers(0, 12, 6)
    cut_start, cut_end = disjoint(dice, int(dice.integers(1, 6)), 40)
    found = split(start, end, np.array(cut_start), np.array(cut_end))

    expected = []
    for span in range(6):
        edges = {int(start[span]), int(end[span])}
        edges |= {t for t in (*cut_start, *cut_end) if start[span] < t < end[span]}
        for left, right in pairwise(sorted(edges)):
            cover = [i for i in range(len(cut_start)) if cut_start[i] <= left < cut_end[i]]
            expected.append((span, left, right, cover[0] if cover else ABSENT))
    columns = (found.span, found.start_ns, found.end_ns, found.cut)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected


def test_without_intervals_spans_stay_whole() -> None:
    none = np.empty(0, dtype=np.int64)
    found = split(np.array([5, 7, 9]), np.array([6, 7, 12]), none, none)

    assert (found.span.tolist(), found.cut.tolist()) == ([0, 2], [ABSENT, ABSENT])
    assert (found.start_ns.tolist(), found.end_ns.tolist()) == ([5, 9], [6, 12])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_latest_end_so_far_begins_anew_with_each_thread(seed: int) -> None:
    dice = np.random.default_rng(seed)
    end = dice.integers(-9, 30, 12)
    group = np.sort(dice.integers(1, 4, 12))

    assert _reach_within(end, group).tolist() == [
        max(int(end[j]) for j in range(i + 1) if group[j] == group[i]) for i in range(12)
    ]


def calls_of(dice: np.random.Generator) -> tuple[ApiCalls, ThreadCalls]:
    count = 10
    start = np.sort(dice.choice(60, count, replace=False))
    kinds = np.where(dice.random(count) < 0.5, ApiKind.OTHER, ApiKind.LAUNCH).astype(np.int8)
    tid = np.where(dice.random(count) < 0.8, MINE, OTHER)
    end = start + dice.integers(1, 9, count)
    calls = ApiCalls.filled(count, start_ns=start, end_ns=end, tid=tid)
    return calls, ThreadCalls(calls, kinds, MINE)


@pytest.mark.parametrize("seed", SEEDS)
def test_time_in_calls_near_some_pieces(seed: int) -> None:
    dice = np.random.default_rng(seed)
    calls, thread = calls_of(dice)
    begin, finish = disjoint(dice, 3, 60)
    pieces = Intervals.of(np.array(begin), np.array(finish))
    starts, ends = np.array(begin), np.array(finish)

    def time(launching: bool) -> set[int]:
        own = (calls.tid == MINE) & ((thread.kinds == ApiKind.LAUNCH) == launching)
        return {t for i in np.flatnonzero(own) for t in range(calls.start_ns[i], calls.end_ns[i])}

    def inside(found: Intervals) -> set[int]:
        cut = found & pieces
        return {
            t
            for a, b in zip(cut.start_ns.tolist(), cut.end_ns.tolist(), strict=True)
            for t in range(a, b)
        }

    within = {t for a, b in zip(begin, finish, strict=True) for t in range(a, b)}
    assert inside(thread.handing_over_near(starts, ends)) == time(True) & within
    assert inside(thread.others_near(starts, ends)) == (time(False) - time(True)) & within


@pytest.mark.parametrize("seed", SEEDS)
def test_the_longest_call_that_begins_in_a_piece_and_hands_nothing_over(seed: int) -> None:
    dice = np.random.default_rng(seed)
    calls, thread = calls_of(dice)
    begin, finish = disjoint(dice, 3, 60)
    found = thread.longest_other(np.array(begin), np.array(finish))

    for at, (a, b) in enumerate(zip(begin, finish, strict=True)):
        inside = [
            i
            for i in range(len(calls))
            if calls.tid[i] == MINE
            and thread.kinds[i] == ApiKind.OTHER
            and a <= calls.start_ns[i] < b
        ]
        length = calls.end_ns - calls.start_ns
        expected = max(inside, key=lambda i: (length[i], i), default=ABSENT)
        assert found[at] == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stretch_of_the_window_without_a_call_is_an_absence(seed: int) -> None:
    dice = np.random.default_rng(seed)
    start = np.sort(dice.integers(-10, 60, int(dice.integers(0, 6))))
    end = start + dice.integers(1, 20, start.size)
    window = Window(0, 50, WindowSource.WHOLE_RUN, "")
    found = _absences(start, end, window, away_ns=8)

    busy = Intervals.of(start, end) if start.size else Intervals.empty()
    free = busy.complement(0, 50)
    long = free.end_ns - free.start_ns >= 8
    assert found.start_ns.tolist() == free.start_ns[long].tolist()
    assert found.end_ns.tolist() == free.end_ns[long].tolist()


def operations(dice: np.random.Generator, works: tuple[Work, ...]) -> Operations:
    start = np.sort(dice.integers(0, 60, 9))
    return Operations.filled(
        9,
        start_ns=start,
        end_ns=start + dice.integers(1, 9, 9),
        work=dice.choice(np.array(works, dtype=np.int8), 9),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_piece_of_idle_time_is_part_of_a_gap_between_kernels(seed: int) -> None:
    dice = np.random.default_rng(seed)
    ops = operations(dice, (Work.COMPUTE, Work.H2D))
    rows = [i for i in range(9) if ops.work[i] == Work.COMPUTE]
    spans = [(int(ops.start_ns[i]), int(ops.end_ns[i])) for i in rows]
    compute = Intervals.of(*(np.array(column) for column in zip(*spans, strict=True)))
    idle = compute.complement(10, 50)
    begin, finish, kernel = _whole_gaps(ops, idle)

    for piece in range(len(idle)):
        at, end = int(idle.start_ns[piece]), int(idle.end_ns[piece])
        before = [b for a, b in spans if a < at]
        after = [i for i in rows if ops.start_ns[i] >= end]
        assert begin[piece] == (max(before) if before else at)
        assert kernel[piece] == (after[0] if after else ABSENT)
        assert finish[piece] == (ops.start_ns[after[0]] if after else end)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_ran_last_in_a_gap_that_no_kernel_ends(seed: int) -> None:
    dice = np.random.default_rng(seed)
    ops = operations(dice, (Work.COMPUTE, Work.H2D, Work.MIGRATION))
    begin = int(dice.integers(0, 60))
    finish = begin + int(dice.integers(1, 20))
    current, upper = _last_fill(ops, np.array([begin]), np.array([finish]))

    inside = [
        i
        for i in range(9)
        if ops.work[i] == Work.H2D and ops.end_ns[i] > begin and ops.start_ns[i] < finish
    ]
    if inside:
        last = max(int(ops.end_ns[i]) for i in inside)
        assert ops.end_ns[current[0]] == last
        assert ops.work[current[0]] == Work.H2D
        assert upper[0] == min(last, finish)
    else:
        assert (current[0], upper[0]) == (0, begin)
