"""What launching threads did: which calls occupy them, when they are away, and when ahead."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, ABSENT_TIME
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import Window, WindowSource
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger.hardware_queues import HardwareQueues
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.ledger.host_timeline import (
    HostTimeline,
    Launched,
    ThreadCalls,
    _absences,
    host_timeline,
    launching_threads,
)
from overlapcheck.passes.ledger.issue_bound import issue_bound
from overlapcheck.passes.process import ProcessTables
from overlapcheck.thresholds import USUAL
from overlapcheck.trace_tables import ApiCalls, Overheads

WINDOW = Window(0, 1_000_000, WindowSource.WHOLE_RUN, "")
C, COLL, H2D = int(Work.COMPUTE), int(Work.COMMUNICATION), int(Work.H2D)
Call = tuple[int, int, int, ApiKind]
"""Thread, begin, end and kind."""


def process(*calls: Call, overheads: Overheads | None = None) -> ProcessTables:
    tid, start, end, kinds = zip(*calls, strict=True) if calls else ((), (), (), ())
    tables = SimpleNamespace(
        calls=ApiCalls.filled(len(calls), tid=tid, start_ns=start, end_ns=end),
        call_kind=np.array(kinds, dtype=np.int8),
        overheads=overheads or Overheads.none(),
    )
    return cast(ProcessTables, tables)


def operations(**columns: Any) -> Operations:
    """Two kernels of thread 1, and a copy of thread 2."""
    usual: dict[str, Any] = {
        "start_ns": [100_000, 300_000, 500_000],
        "end_ns": [200_000, 400_000, 600_000],
        "work": [C, C, H2D],
        "call": [0, 1, 2],
        "tid": [1, 1, 2],
    }
    made = usual | columns
    return Operations.filled(len(made["start_ns"]), **made)


def timeline(
    *calls: Call,
    ops: Operations | None = None,
    submit_ns: tuple[int, ...] = (0, 0, 0),
    held: HeldCalls | None = None,
    idle: Intervals | None = None,
    overheads: Overheads | None = None,
) -> HostTimeline:
    launched = Launched(ops or operations(), np.array(submit_ns), idle or Intervals.empty(), WINDOW)
    tables = process(*calls, overheads=overheads)
    return host_timeline(tables, held or HeldCalls.none(), launched, USUAL)


def test_threads_that_launch_kernels_or_collectives_launch() -> None:
    assert launching_threads(operations()).tolist() == [1]
    assert launching_threads(operations(work=[C, H2D, COLL])).tolist() == [1, 2]
    assert launching_threads(operations(work=[H2D, H2D, H2D])).tolist() == []
    assert launching_threads(operations(call=[ABSENT, ABSENT, 2])).tolist() == []


def pairs(found: Intervals) -> list[tuple[int, int]]:
    return list(found)


def test_long_hand_overs_and_held_calls_of_launching_threads_occupy_them() -> None:
    held = HeldCalls.filled(2, tid=[1, 2], start_ns=[10, 20], end_ns=[15, 90])
    launch, other = ApiKind.LAUNCH, ApiKind.OTHER
    found = timeline(
        (1, 100_000, 150_000, launch),
        (1, 200_000, 249_999, launch),
        (1, 300_000, 390_000, other),
        (2, 400_000, 490_000, launch),
        (1, 500_000, 590_000, ApiKind.COPY),
        held=held,
    )
    assert pairs(found.occupied) == [(10, 15), (100_000, 150_000), (500_000, 590_000)]


def test_a_call_of_a_launching_thread_ends_an_absence_even_one_of_no_length() -> None:
    """But not one of another thread."""
    other = ApiKind.OTHER
    busy = timeline(
        (1, 0, 300_000, other), (2, 450_000, 500_000, other), (1, 600_000, 600_001, other)
    )

    assert pairs(busy.away) == [(300_000, 600_000), (600_001, 1_000_000)]


@pytest.mark.parametrize(
    ("kind", "length", "loads"),
    [
        (ApiKind.MODULE_LOAD, 10, True),
        (ApiKind.CODE_QUERY, 50_000, True),
        (ApiKind.CODE_QUERY, 49_999, False),
        (ApiKind.OTHER, 90_000, False),
    ],
)
def test_an_absence_before_code_is_loaded_was_spent_on_it(
    kind: ApiKind, length: int, loads: bool
) -> None:
    launch = ApiKind.LAUNCH
    found = timeline((1, 0, 100, launch), (1, 500_000, 500_000 + length, kind))

    assert pairs(found.preparing) == ([(100, 500_000)] if loads else [])
    of_another = timeline((1, 0, 100, launch), (2, 500_000, 500_000 + length, kind))
    assert pairs(of_another.preparing) == []


def test_kernels_that_were_launched_well_ahead_show_a_host_that_is() -> None:
    assert timeline(submit_ns=(50_000, 250_001, 0)).ahead_ns.tolist() == [100_000]
    assert timeline(submit_ns=(ABSENT_TIME, 250_000, 0)).ahead_ns.tolist() == [300_000]
    work = operations(work=[H2D, COLL, C])
    assert timeline(ops=work, submit_ns=(0, 0, 0)).ahead_ns.tolist() == [500_000]


def test_collectives_are_no_idle_time_and_only_launching_threads_have_overhead() -> None:
    work = operations(work=[C, COLL, H2D])
    idle = Intervals.of([200_000, 400_000], [300_000, 1_000_000]) | Intervals.span(300_000, 400_000)
    overheads = Overheads.filled(3, start_ns=[1, 2, 3], end_ns=[4, 5, 6], tid=[1, 2, 1])
    found = timeline(ops=work, idle=idle, overheads=overheads)

    assert pairs(found.device_idle) == [(200_000, 300_000), (400_000, 1_000_000)]
    assert found.overheads.start_ns.tolist() == [1, 3]
    assert sorted(found.of_thread) == [1, 2]


def test_calls_inside_of_others_end_no_absence() -> None:
    """The outer call lasts to 300; those inside end sooner."""
    start, end = (
        np.array([0, 10_000, 20_000, 500_000]),
        np.array([300_000, 11_000, 21_000, 501_000]),
    )

    assert pairs(_absences(start, end, WINDOW, 100_000)) == [
        (300_000, 500_000),
        (501_000, 1_000_000),
    ]
    none = np.empty(0, dtype=np.int64)
    assert pairs(_absences(none, none, WINDOW, 100_000)) == [(0, 1_000_000)]
    assert pairs(_absences(none, none, WINDOW, 1_000_001)) == []


def test_a_thread_has_only_its_own_calls() -> None:
    made = process(
        (1, 0, 10, ApiKind.OTHER), (2, 20, 90, ApiKind.OTHER), (1, 30, 60, ApiKind.OTHER)
    )
    begin, end = np.array([0]), np.array([100])

    def longest(tid: int) -> list[int]:
        return ThreadCalls(made.calls, made.call_kind, tid).longest_other(begin, end).tolist()

    assert (longest(1), longest(2), longest(3)) == ([2], [1], [ABSENT])
    alone = process((1, 0, 10, ApiKind.OTHER), (1, 30, 60, ApiKind.OTHER))
    assert ThreadCalls(alone.calls, alone.call_kind, 1).longest_other(begin, end).tolist() == [1]


def crowded(streams: int, connections: str = "2", **columns: Any) -> bool:
    """Whether a device with so many streams has fewer queues."""
    usual: dict[str, Any] = {
        "start_ns": [100] * streams,
        "end_ns": [200] * streams,
        "stream": list(range(streams)),
        "work": [C] * streams,
    }
    ops = Operations.filled(streams, **(usual | columns))
    tables = SimpleNamespace(
        calls=ApiCalls.none(),
        call_kind=np.empty(0, dtype=np.int8),
        calls_named=lambda _: np.array([], dtype=np.intp),
    )
    window = Window(100, 200, WindowSource.WHOLE_RUN, "")
    environment = {"CUDA_DEVICE_MAX_CONNECTIONS": connections}
    return HardwareQueues.of(cast(ProcessTables, tables), ops, window, environment).crowded


def test_more_streams_with_work_in_the_window_than_queues_share_them() -> None:
    assert crowded(3)
    assert not crowded(2)
    assert not crowded(3, "3")
    assert not crowded(3, work=[C, C, int(Work.MIGRATION)])
    assert not crowded(3, start_ns=[100, 100, 200], end_ns=[200, 200, 300])
    assert not crowded(3, start_ns=[100, 100, 0], end_ns=[200, 200, 100])
    assert crowded(3, start_ns=[100, 100, 199], end_ns=[200, 101, 300])
    assert not crowded(3, stream=[0, 1, 1])


def bound(
    submit: list[int], began: list[int], *, held: HeldCalls | None = None, **columns: Any
) -> list[tuple[int, int]]:
    """Stretches in which launching was the bound, of kernels of one thread."""
    count = len(submit)
    usual: dict[str, Any] = {
        "start_ns": began,
        "end_ns": began,
        "work": [C] * count,
        "call": list(range(count)),
        "tid": 1,
        "launch_start_ns": 0,
        "launch_end_ns": 0,
    }
    ops = Operations.filled(count, **(usual | columns))
    times = np.array(submit)
    away = Intervals.empty()
    return pairs(issue_bound(ops, times, held or HeldCalls.none(), away, USUAL))


def test_a_stretch_is_launching_where_little_is_left_at_its_end() -> None:
    """Launched from 0 to 90 us; a tenth of the stretch is allowed."""
    assert bound([0, 90_000], [10_000, 100_000]) == [(0, 100_000)]
    assert bound([0, 90_000], [10_000, 100_001]) == []
    assert bound([ABSENT_TIME, ABSENT_TIME], [0, 1]) == []
    assert bound([0, 90_000], [10_000, 100_000], work=[H2D, H2D]) == []
    assert bound([0, 0, 90_000], [5_000, 200_000, 100_000], work=[C, H2D, C]) == [(0, 100_000)]


@pytest.mark.parametrize(("reason", "waits"), [(9, True), (14, False)])
def test_a_wait_of_the_host_begins_a_stretch(reason: int, waits: bool) -> None:
    """From 40 to 50 us, of the launching thread; a graph launch is no wait."""
    held = HeldCalls.filled(1, tid=1, start_ns=40_000, end_ns=50_000, reason=reason)
    submit, began = [0, 30_000, 60_000, 150_000], [10_000, 45_000, 70_000, 155_000]

    since = 60_000 if waits else 0
    assert bound(submit, began, held=held) == [(since, 155_000)]
    other = HeldCalls.filled(1, tid=2, start_ns=40_000, end_ns=50_000, reason=9)
    assert bound(submit, began, held=other) == [(0, 155_000)]


@pytest.mark.parametrize(("length", "full"), [(50_000, True), (49_999, False)])
def test_a_launch_that_waits_for_room_begins_a_stretch(length: int, full: bool) -> None:
    """The third was handed over when it returned, at 80 us."""
    submit, began = [0, 10_000, 80_000, 150_000], [10_000, 45_000, 90_000, 155_000]
    launched = {
        "launch_start_ns": [0, 0, 80_000 - length, 0],
        "launch_end_ns": [0, 0, 80_000, 0],
    }
    found = bound(submit, began, **launched)
    assert found == ([(80_000, 155_000)] if full else [(0, 155_000)])
    assert bound(submit, began, **launched, call=[0, 1, ABSENT, 3]) == [(0, 155_000)]
