"""Rules about calls that hold a thread, each by itself, on calls and operations made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from overlapcheck.api_kinds import HAND_OVERS, ApiKind
from overlapcheck.columns import ABSENT
from overlapcheck.ledger import Reason
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger import call_rules
from overlapcheck.passes.ledger.call_rules import Calls, Locks
from overlapcheck.passes.ledger.held_calls import launches_block
from overlapcheck.passes.ledger.rule import Ruling
from overlapcheck.thresholds import USUAL
from overlapcheck.trace import Strings
from overlapcheck.trace_tables import ApiCalls, OsCalls

COPY, SYNC_COPY, LAUNCH, OTHER = ApiKind.COPY, ApiKind.SYNC_COPY, ApiKind.LAUNCH, ApiKind.OTHER
D2H, H2D, COMPUTE, MEMSET = Work.D2H, Work.H2D, Work.COMPUTE, Work.MEMSET
Call = tuple[int, int, int, ApiKind]
"""Thread, begin, end, kind."""


def made(calls: Sequence[Call], *ops: Mapping[str, Any], blocking: bool = False) -> Calls:
    """Calls, and the operations that they made, each while its call was open."""
    tid, start, end, kinds = zip(*calls, strict=True)
    table = ApiCalls.filled(len(calls), tid=tid, start_ns=start, end_ns=end)
    rows = []
    for op in ops:
        call = op.get("call", 0)
        opened, closed = (column[call] if call != ABSENT else ABSENT for column in (start, end))
        usual = {"call": call, "start_ns": opened, "end_ns": closed, "work": D2H, "bytes": 8}
        launched = {"launch_start_ns": opened, "launch_end_ns": closed, "pageable": False}
        rows.append({**usual, **launched, "name_id": ABSENT, **op})
    columns = {name: [int(row[name]) for row in rows] for name in (rows[0] if rows else ())}
    made_ops = Operations.filled(len(rows), **columns)
    return Calls(
        table, np.array([int(one) for one in kinds], dtype=np.int8), made_ops, blocking, USUAL
    )


def rows(rule: Callable[[Any], Ruling], case: Any) -> list[int]:
    """Calls that a rule speaks for."""
    return np.flatnonzero(rule(case).rows).tolist()


def one(kind: ApiKind, length: int, **op: Any) -> Calls:
    return made([(1, 0, length, kind)], op)


def read_back(kind: ApiKind = COPY, length: int = 10_000, **op: Any) -> bool:
    """Whether a call is a synchronisation; what it copied ends with it."""
    return rows(call_rules.small_read_back, one(kind, length, **op)) == [0]


def test_a_small_read_back_that_returns_when_it_is_done_is_a_wait() -> None:
    assert read_back(pageable=True)
    assert read_back(SYNC_COPY)
    assert read_back(length=60_000)  # it outlasts its copy
    assert not read_back()
    assert not read_back(pageable=True, work=H2D)
    assert not read_back(LAUNCH, pageable=True)
    assert read_back(pageable=True, bytes=65_536)
    assert not read_back(pageable=True, bytes=65_537)


def test_a_call_is_small_by_all_that_it_copied() -> None:
    parts = {"bytes": 40_000, "pageable": True}

    assert rows(call_rules.small_read_back, made([(1, 0, 9, COPY)], parts)) == [0]
    assert rows(call_rules.small_read_back, made([(1, 0, 9, COPY)], parts, parts)) == []
    two: list[Call] = [(1, 0, 9, COPY), (1, 10, 19, COPY)]
    assert rows(call_rules.small_read_back, made(two, parts, {**parts, "call": 1})) == [0, 1]
    # Its kernels copy nothing.
    kernel = {"work": COMPUTE, "bytes": 90_000}
    assert rows(call_rules.small_read_back, made([(1, 0, 9, COPY)], parts, kernel)) == [0]


@pytest.mark.parametrize("work", [Work.H2D, Work.D2H, Work.P2P, Work.D2D])
@pytest.mark.parametrize("size", [65_536, 65_537])
def test_pageable_memory_is_copied_in_the_call_but_for_few_bytes_to_the_device(
    work: Work, size: int
) -> None:
    staged = work is H2D and size == 65_536
    case = one(COPY, 10, work=work, bytes=size, pageable=True)

    assert rows(call_rules.pageable_copy, case) == ([] if staged else [0])
    assert rows(call_rules.pageable_copy, one(COPY, 10, work=work, bytes=size)) == []


def test_a_copy_that_no_call_is_known_of_is_no_calls() -> None:
    assert rows(call_rules.pageable_copy, one(COPY, 10, call=ABSENT, pageable=True)) == []


def outlasts(length: int, op_ns: int, end: int | None = None, kind: ApiKind = COPY) -> bool:
    """Whether a call that lasts so long is synchronous, by a copy of such a length."""
    end = length if end is None else end
    case = one(kind, length, work=H2D, bytes=1 << 20, start_ns=end - op_ns, end_ns=end)
    return rows(call_rules.synchronous_copy, case) == [0]


@pytest.mark.parametrize(
    ("length", "op_ns", "sync"),
    [
        (50_000, 10, True),  # longer than hand-overs by far
        (49_999, 10, False),
        (20_000, 10_000, True),  # half of it is the copy
        (20_000, 9_999, False),
        (19_999, 19_999, False),
    ],
)
def test_a_call_that_outlasts_its_copy_by_its_length_is_synchronous(
    length: int, op_ns: int, sync: bool
) -> None:
    assert outlasts(length, op_ns) is sync


@pytest.mark.parametrize(("end", "sync"), [(61_000, True), (61_001, False)])
def test_the_copy_had_ended_when_it_returned(end: int, sync: bool) -> None:
    """After 60 us; the clocks agree to one."""
    assert outlasts(60_000, 40_000, end) is sync
    assert outlasts(60_000, 40_000, end, SYNC_COPY)


@pytest.mark.parametrize("work", [MEMSET, Work.D2D, H2D])
@pytest.mark.parametrize(("end", "waits"), [(11_000, True), (11_001, False)])
def test_work_within_the_device_is_waited_for_where_it_ended_in_the_call(
    work: Work, end: int, waits: bool
) -> None:
    """By its name the call, which takes 10 us, waits for a copy over the link."""
    case = one(SYNC_COPY, 10_000, work=work, end_ns=end)

    assert rows(call_rules.synchronous_copy, case) == ([0] if waits or work is H2D else [])
    assert rows(call_rules.synchronous_copy, one(COPY, 10_000, work=work, end_ns=end)) == []


def test_a_synchronous_call_of_another_name_than_its_work() -> None:
    """Of two calls one is gone on by its memset, the other has none."""
    calls: list[Call] = [(1, 0, 10, SYNC_COPY), (1, 20, 30, SYNC_COPY)]
    memset = {"work": MEMSET, "call": 0, "end_ns": 90_000}
    unknown = {"work": MEMSET, "call": ABSENT, "end_ns": 90_000}

    assert rows(call_rules.synchronous_copy, made(calls, memset, unknown)) == [1]


@pytest.mark.parametrize("kind", ApiKind)
@pytest.mark.parametrize("length", [49_999, 50_000])
def test_calls_that_are_told_by_kind_and_length(kind: ApiKind, length: int) -> None:
    case = made([(1, 0, length, kind)])
    long = length == 50_000
    loads = kind is ApiKind.MODULE_LOAD or (kind is ApiKind.CODE_QUERY and long)

    assert rows(call_rules.loading_code, case) == ([0] if loads else [])
    assert rows(call_rules.other_call, case) == ([0] if long and kind not in HAND_OVERS else [])
    assert rows(call_rules.synchronisation, case) == ([0] if kind is ApiKind.SYNC else [])
    assert rows(call_rules.allocation, case) == ([0] if kind is ApiKind.ALLOCATION else [])
    assert rows(call_rules.graph_launch, case) == ([0] if kind is ApiKind.GRAPH_LAUNCH else [])
    assert rows(call_rules.building_a_graph, case) == ([0] if kind is ApiKind.GRAPH_BUILD else [])
    waiting = made([(1, 0, length, kind)], blocking=True)
    assert rows(call_rules.blocking_launch, waiting) == ([0] if kind in HAND_OVERS else [])
    assert rows(call_rules.blocking_launch, case) == []


MUTEX = {1: "pthread_mutex_lock", 2: "read"}


def locks(
    calls: Sequence[Call],
    reason: Sequence[int] | None = None,
    *ops: Mapping[str, Any],
    sleeps: Sequence[tuple[int, int, int, int]] = (),
) -> Locks:
    """Calls with their reasons so far; sleeps are thread, begin, end and name."""
    case = made(calls, *ops)
    why = np.array(reason or [ABSENT] * len(calls), dtype=np.int8)
    tid, start, end, name = zip(*sleeps, strict=True) if sleeps else ((), (), (), ())
    table = OsCalls.filled(len(sleeps), tid=tid, start_ns=start, end_ns=end, name_id=name)
    return Locks(case, why, table, Strings(MUTEX))


LOAD = int(Reason.MODULE_LOAD)


def locked(
    kept: Call = (1, 0, 100_000, LAUNCH),
    holding: Call = (2, 0, 100_000, ApiKind.MODULE_LOAD),
    reason: int = LOAD,
    own: int = ABSENT,
) -> bool:
    return rows(call_rules.driver_lock, locks([kept, holding], [own, reason])) == [0]


def test_a_hand_over_is_kept_by_another_threads_long_call() -> None:
    assert locked()
    assert locked(holding=(2, 0, 50_000, ApiKind.MODULE_LOAD))
    assert not locked(holding=(2, 1, 50_000, ApiKind.MODULE_LOAD))
    assert not locked(holding=(1, 0, 100_000, ApiKind.MODULE_LOAD))
    assert not locked(kept=(1, 0, 49_999, LAUNCH))
    assert not locked(kept=(1, 0, 100_000, OTHER))
    assert not locked(own=int(Reason.SYNC_COPY))
    assert not locked(kept=(1, 0, 60_000, LAUNCH), holding=(2, 0, 49_999, ApiKind.MODULE_LOAD))


@pytest.mark.parametrize("reason", Reason)
def test_only_some_calls_hold_the_lock_for_long(reason: Reason) -> None:
    holds = reason.cause in {"allocation", "module-load", "pageable-copy", "graph-launch"}

    assert locked(reason=int(reason)) is holds


def test_each_thread_waits_for_the_others() -> None:
    """Two that load, and a launch in each of three threads."""
    calls: list[Call] = [
        (1, 0, 100_000, ApiKind.MODULE_LOAD),
        (2, 200_000, 300_000, ApiKind.MODULE_LOAD),
        (1, 200_000, 290_000, LAUNCH),
        (2, 205_000, 295_000, LAUNCH),
        (3, 0, 90_000, LAUNCH),
    ]
    found = locks(calls, [LOAD, LOAD, ABSENT, ABSENT, ABSENT])

    assert rows(call_rules.driver_lock, found) == [2, 4]


def in_mutex(*sleeps: tuple[int, int, int, int], call: Call = (1, 0, 100_000, LAUNCH)) -> bool:
    return rows(call_rules.in_a_mutex, locks([call], sleeps=sleeps)) == [0]


def test_a_hand_over_that_waits_for_a_mutex_is_locked() -> None:
    assert in_mutex((1, 0, 50_000, 1))
    assert not in_mutex((1, 0, 49_999, 1))
    assert in_mutex((1, 0, 30_000, 1), (1, 60_000, 80_000, 1))
    assert not in_mutex((2, 0, 50_000, 1))
    assert not in_mutex((1, 0, 50_000, 2))
    assert not in_mutex()
    assert not in_mutex((1, 0, 40_000, 1), call=(1, 0, 49_999, LAUNCH))


MS = 1_000_000


def together(
    kept: Call = (1, MS, 3 * MS, LAUNCH), other: Call = (2, 0, 3 * MS, OTHER), own: int = ABSENT
) -> bool:
    found = locks([kept, other], [own, int(Reason.CUDA_CALL)])
    return rows(call_rules.ends_with_another, found) == [0]


def test_a_hand_over_of_milliseconds_that_ends_with_another_call_was_locked() -> None:
    assert together()
    assert not together(kept=(1, 2 * MS + 1, 3 * MS, LAUNCH))
    assert together(kept=(1, 2 * MS, 3 * MS, LAUNCH))
    assert not together(other=(1, 0, 3 * MS, OTHER))
    assert not together(own=int(Reason.SYNC_COPY))


@pytest.mark.parametrize(
    ("begin", "end", "found"),
    [
        (0, 3 * MS + 1_000, True),  # the clocks agree to a microsecond
        (0, 3 * MS + 1_001, False),
        (0, 3 * MS - 20_000, True),
        (0, 3 * MS - 20_001, False),
        (MS, 3 * MS, True),
        (MS + 1, 3 * MS, False),  # begun after it
        (3 * MS - 49_999, 3 * MS, False),
    ],
)
def test_the_other_call_was_begun_before_and_ends_just_before(
    begin: int, end: int, found: bool
) -> None:
    assert together(other=(2, begin, end, OTHER)) is found


def test_each_stuck_call_looks_at_the_last_that_ended_elsewhere() -> None:
    calls: list[Call] = [
        (1, MS, 3 * MS, LAUNCH),
        (2, 0, 3 * MS, OTHER),
        (2, 0, 2 * MS, OTHER),
        (3, 4 * MS, 6 * MS, LAUNCH),
        (1, 4 * MS, 6 * MS - 5, OTHER),
    ]
    assert rows(call_rules.ends_with_another, locks(calls)) == [0, 3]
    # Of a thread of which all others' calls are short nothing is said, of the next it is.
    alone: list[Call] = [(1, 0, 2 * MS, LAUNCH), (2, MS, MS + 10, LAUNCH), (1, 5, 9, OTHER)]
    assert rows(call_rules.ends_with_another, locks(alone)) == []
    pair: list[Call] = [(1, 0, 2 * MS, LAUNCH), (2, MS, 2 * MS + 10, LAUNCH)]
    assert rows(call_rules.ends_with_another, locks(pair)) == [1]


def first_launches(*lengths_and_names: tuple[int, int], kind: ApiKind = LAUNCH) -> list[int]:
    calls = [(1, MS * i, MS * i + length, kind) for i, (length, _) in enumerate(lengths_and_names)]
    ops = [
        {"call": i, "name_id": name, "work": COMPUTE}
        for i, (_, name) in enumerate(lengths_and_names)
    ]
    return rows(call_rules.first_launch, locks(calls, None, *ops))


def test_the_first_launch_of_a_kernel_loads_its_code_where_it_is_long() -> None:
    assert first_launches((500_000, 4)) == [0]
    assert first_launches((499_999, 4)) == []
    assert first_launches((500_000, 4), (500_000, 4), (500_000, 5)) == [0, 2]
    assert first_launches((10, 4), (500_000, 4)) == []
    assert first_launches((500_000, ABSENT)) == []
    assert first_launches((500_000, 4), kind=COPY) == []
    unknown = locks([(1, 0, MS, LAUNCH)], None, {"call": ABSENT, "name_id": 4, "work": COMPUTE})
    assert rows(call_rules.first_launch, unknown) == []
    known = locks([(1, 0, MS, LAUNCH)], [LOAD], {"name_id": 4, "work": COMPUTE})
    assert rows(call_rules.first_launch, known) == []


def test_a_hand_over_of_a_millisecond_is_stuck() -> None:
    calls: list[Call] = [(1, 0, MS, LAUNCH), (1, MS, 2 * MS - 1, LAUNCH), (1, 0, MS, OTHER)]

    assert rows(call_rules.stuck, locks(calls)) == [0]
    assert rows(call_rules.stuck, locks(calls, [LOAD, ABSENT, ABSENT])) == []


def blocks(
    waited: int, others: int, variable: str | None = None, slack: int = 1_000, **columns: Any
) -> bool:
    """Kernels of 20 us, some of which end with their launches, others 1 ns later than allowed."""
    count = waited + others
    ends = [20_000 + slack] * waited + [20_000 + slack + 1] * others
    usual = {"work": int(COMPUTE), "call": 0, "start_ns": 1_000 - 1, "end_ns": ends}
    ops = Operations.filled(count, **(usual | {"launch_end_ns": 20_000} | columns))
    return launches_block(ops, variable, USUAL)


def test_launches_block_where_the_variable_says_so_or_nine_of_ten_show_it() -> None:
    assert blocks(20, 0)
    assert not blocks(19, 0)
    assert blocks(18, 2)
    assert not blocks(17, 3)
    assert blocks(1, 1, "1")
    assert not blocks(1, 2, "1")
    for off in ("", "0", None):
        assert not blocks(1, 1, off)
    assert blocks(0, 0, "1")


def test_only_launched_kernels_that_are_longer_than_a_hand_over_tell() -> None:
    assert blocks(20, 0, start_ns=1_000, end_ns=21_000)
    assert not blocks(20, 0, start_ns=1_001, end_ns=21_000)
    assert not blocks(20, 0, call=ABSENT)
    assert not blocks(20, 0, work=int(H2D))
    unlaunched = [*[0] * 20, *[ABSENT] * 20]
    assert blocks(20, 20, call=unlaunched)
