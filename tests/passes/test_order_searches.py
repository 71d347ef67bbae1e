"""Finding operations by stream and time, against trying all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from overlapcheck.columns import ABSENT, ABSENT_TIME
from overlapcheck.order import Edges, Operations, Relation, Work
from overlapcheck.passes.order.candidates import Launches
from overlapcheck.passes.order.dependencies import _Best, _last_in_stream
from overlapcheck.passes.order.device_order import _last_before
from overlapcheck.passes.order.host_waits import _last_before_each
from overlapcheck.passes.order.operations import operations
from overlapcheck.passes.order.stream_order import stream_order
from overlapcheck.passes.process import process_tables
from overlapcheck.trace import processes_of
from tests.pictures import picture

COUNT = 12
SEEDS = range(25)


def drawn() -> Operations:
    cells = "abcdefghijkl"
    trace = picture(f"s7 kernel k |{cells}|\nt1 cudaLaunchKernel |{cells}|").trace()
    (process,) = process_tables(trace, processes_of((trace.kernels,)))
    return operations(process, np.zeros(COUNT, dtype=bool))


DRAWN = drawn()


def randomly(seed: int, *, unlaunched: bool = True) -> Operations:
    """A dozen on three streams, sorted by start; some last no time, some have no launch."""
    dice = np.random.default_rng(seed)
    start = np.sort(dice.integers(0, 20, COUNT))
    launch = dice.permutation(COUNT) - 3
    if unlaunched:
        launch = np.where(dice.random(COUNT) < 0.2, ABSENT_TIME, launch)
    return replace(
        DRAWN,
        start_ns=start,
        end_ns=start + dice.integers(0, 6, COUNT),
        stream=dice.integers(0, 3, COUNT),
        launch_start_ns=launch,
        launch_end_ns=launch,
    )


def last_of(ops: Operations, rows: Iterator[int] | list[int]) -> int:
    """The end of the one that ended last; ABSENT_TIME for none."""
    return max((int(ops.end_ns[row]) for row in rows), default=ABSENT_TIME)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_a_stream(seed: int) -> None:
    ops = randomly(seed)
    pairs = stream_order(ops)
    found = dict(zip(pairs.after.tolist(), pairs.before.tolist(), strict=True))

    assert pairs.after.tolist() == sorted(found)
    for row in range(COUNT):
        ended = [
            other
            for other in range(COUNT)
            if other != row
            and ops.stream[other] == ops.stream[row]
            and ops.end_ns[other] <= ops.start_ns[row]
            and ops.end_ns[other] >= ops.start_ns[other]
        ]
        end = ops.end_ns[found[row]] if row in found else ABSENT_TIME
        assert end == last_of(ops, ended), row
        assert found.get(row) != row
        assert row not in found or ops.stream[found[row]] == ops.stream[row]


@pytest.mark.parametrize("seed", SEEDS)
def test_work_without_gaps_or_overlaps_is_in_order_too(seed: int) -> None:
    """The quick way, where no operation starts before the one before it ended."""
    dice = np.random.default_rng(seed)
    start = np.cumsum(dice.integers(1, 4, COUNT))
    ops = replace(randomly(seed), start_ns=start, end_ns=start + 1, stream=np.arange(COUNT) % 3)
    pairs = stream_order(ops)

    assert pairs.after.tolist() == list(range(3, COUNT))
    assert pairs.before.tolist() == list(range(COUNT - 3))


def test_migrations_wait_in_no_stream() -> None:
    work = np.full(COUNT, Work.COMPUTE, dtype=np.int8)
    work[5] = Work.MIGRATION
    start = np.arange(COUNT) * 2
    ops = replace(
        DRAWN, start_ns=start, end_ns=start + 1, stream=np.zeros(COUNT, dtype=int), work=work
    )

    assert stream_order(ops).after.tolist() == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize("seed", SEEDS)
def test_launches_before_and_from_a_time_on(seed: int) -> None:
    ops = randomly(seed)
    launches = Launches(ops, ops.stream)
    known = [row for row in range(COUNT) if ops.launch_start_ns[row] != ABSENT_TIME]
    for stream in range(4):
        for time in range(-5, COUNT):
            own = [row for row in known if ops.stream[row] == stream]
            before = [row for row in own if ops.launch_start_ns[row] < time]
            since = [row for row in own if ops.launch_start_ns[row] >= time]
            number, at = np.array([stream]), np.array([time])

            assert launches.last_before(number, at).tolist() == [
                max(before, key=lambda row: ops.launch_start_ns[row], default=ABSENT)
            ]
            assert launches.first_from(number, at).tolist() == [
                min(since, key=lambda row: ops.launch_start_ns[row], default=ABSENT)
            ]


def test_without_launches_none_is_found() -> None:
    ops = replace(DRAWN, launch_start_ns=np.full(COUNT, ABSENT_TIME))
    at = np.array([0])

    assert Launches(ops, ops.stream).last_before(at, at).tolist() == [ABSENT]
    assert Launches(ops, ops.stream).first_from(at[:0], at[:0]).tolist() == []


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_of_a_stream_that_has_a_number(seed: int) -> None:
    ops = randomly(seed)
    number = np.where(np.random.default_rng(seed).random(COUNT) < 0.5, np.arange(COUNT), ABSENT)
    found = _last_in_stream(ops, number.astype(np.int32))

    for row in range(COUNT):
        numbered = [
            other
            for other in range(row + 1)
            if ops.stream[other] == ops.stream[row] and number[other] != ABSENT
        ]
        assert found[row] == max(numbered, default=row)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_holding_operation_launched_before_that_ended_last(seed: int) -> None:
    ops = randomly(seed)
    waiting = ops.stream == 0
    holding = ops.stream == 1
    pairs = _last_before(ops, waiting, holding)
    found = dict(zip(pairs.after.tolist(), pairs.before.tolist(), strict=True))

    for row in range(COUNT):
        launched = [
            other
            for other in np.flatnonzero(holding).tolist()
            if ABSENT_TIME < ops.launch_start_ns[other] < ops.launch_start_ns[row]
        ]
        if not waiting[row] or not launched:
            assert row not in found
        else:
            assert holding[found[row]]
            assert ops.end_ns[found[row]] == last_of(ops, launched)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_of_each_stream_of_those_that_a_wait_is_the_first_to_wait_for(seed: int) -> None:
    dice = np.random.default_rng(seed)
    waits, stream = np.sort(dice.integers(0, 30, 3)), dice.integers(0, 3, COUNT)
    launch = dice.permutation(30)[:COUNT]
    rows, wait = _last_before_each(waits, stream, launch)

    expected = set()
    for number in range(3):
        for own in range(3):
            earlier = [int(w) for w in waits[:number]]
            mine = [
                row
                for row in range(COUNT)
                if stream[row] == own
                and launch[row] <= waits[number]
                and all(launch[row] > w for w in earlier)
            ]
            if mine:
                expected.add((max(mine, key=lambda row: launch[row]), number))
    assert set(zip(rows.tolist(), wait.tolist(), strict=True)) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_of_all_that_ended_in_time_the_last_one_binds(seed: int) -> None:
    ops, dice = randomly(seed), np.random.default_rng(seed)
    slack = 2
    best = _Best(ops, slack)
    offered: list[tuple[int, int, Relation]] = []
    for relation in (Relation.STREAM, Relation.EVENT):
        after = np.sort(dice.integers(0, COUNT, 20)).astype(np.int32)
        before = dice.integers(0, COUNT, 20).astype(np.int32)
        nothing = np.zeros(20, dtype=np.int8)
        best.offer(
            Edges(before, after, nothing, nothing.astype(bool), before), relation, inferred=False
        )
        offered += [(b, a, relation) for b, a in zip(before.tolist(), after.tolist(), strict=True)]

    for row in range(COUNT):
        fit = [
            (int(ops.end_ns[b]), relation)
            for b, a, relation in offered
            if a == row and b < a and ops.end_ns[b] <= ops.start_ns[a] + slack
        ]
        if not fit:
            assert best.predecessor[row] == ABSENT
            continue
        end = max(end for end, _ in fit)
        first = next(relation for ended, relation in fit if ended == end)
        assert ops.end_ns[best.predecessor[row]] == end
        assert best.relation[row] == first
