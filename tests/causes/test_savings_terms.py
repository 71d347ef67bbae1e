"""What bounds the saving of a repair: each resource, each device of the job, each kind of piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from overlapcheck.causes._savings import Savings

from overlapcheck.causes._job import others_of_job
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements, StepTimes
from overlapcheck.rendezvous import Meeting
from tests.pictures import picture

WINDOW_NS = 100_000
MEASURED = picture("s7 kernel k |a.b.|\nt1 cudaLaunchKernel |ab..|").measure()
NONE = Intervals.empty()


def device(process: int = 0, number: int = 0, **fields: Any) -> DeviceMeasurements:
    """A device that does nothing in a window of 100 us without steps, but for what is given."""
    (drawn,) = MEASURED.devices
    window = replace(drawn.window, start_ns=0, end_ns=WINDOW_NS, steps=None)
    empty = {"compute": NONE, "stalled": NONE, "communication": NONE, "taken": NONE, "copies": {}}
    tables = {"steps": StepTimes.none(), "ledger": IdleLedger.none()}
    key = DeviceKey(1000, number)
    return replace(drawn, key=key, process=process, window=window, **empty | tables | fields)


def most_of(*devices: DeviceMeasurements) -> int:
    """The most that anything can save on the first of some devices."""
    savings = Savings(devices[0], replace(MEASURED, devices=devices))
    return savings.at_most(Intervals.span(0, 10 * WINDOW_NS), "contention", placed=False)


def copies(direction: Direction, pinned_ns: int, copy_ns: int) -> dict[Direction, CopyOverlap]:
    busy, pinned = Intervals.span(0, copy_ns), Intervals.span(0, pinned_ns)
    return {direction: CopyOverlap(direction, 1, 1, 0, busy, NONE, NONE, pinned, 0)}


def test_no_order_is_shorter_than_the_busiest_resource() -> None:
    busy = Intervals.span(10_000, 70_000)

    assert most_of(device()) == 100_000
    assert most_of(device(compute=busy)) == 40_000
    assert most_of(device(communication=busy)) == 40_000
    assert most_of(device(copies=copies(Direction.H2D, 60_000, 60_000))) == 40_000
    assert most_of(device(compute=Intervals.span(0, WINDOW_NS))) == 0


def test_kernels_that_wait_for_pages_bound_nothing() -> None:
    busy, stalled = Intervals.span(10_000, 70_000), Intervals.span(60_000, 70_000)

    assert most_of(device(compute=busy, stalled=stalled)) == 50_000


def test_copies_that_trail_behind_or_are_slow_by_themselves_bound_nothing() -> None:
    assert most_of(device(copies=copies(Direction.D2H, 60_000, 60_000))) == 100_000
    assert most_of(device(copies=copies(Direction.H2D, 5_000, 60_000))) == 95_000


def test_another_device_of_the_job_bounds_it_by_what_it_computes_meanwhile() -> None:
    """Of 150 us the window has 60; 10 of these wait for pages, as do 20 beyond it."""
    other = device(compute=Intervals.span(40_000, 190_000), stalled=Intervals.span(90_000, 120_000))

    assert most_of(device(), other) == 50_000
    assert most_of(device(compute=Intervals.span(0, 70_000)), other) == 30_000


def saves(cause: str, blamed: Intervals, reasons: Sequence[Reason] = ()) -> int:
    """Where the ledger holds a piece of 10 us for each reason, from 50 us on."""
    start = 50_000 + 10_000 * np.arange(len(reasons))
    ledger = IdleLedger.filled(
        len(reasons), start_ns=start, end_ns=start + 10_000, reason=[int(one) for one in reasons]
    )
    one = device(ledger=ledger)
    return Savings(one, replace(MEASURED, devices=(one,))).at_most(blamed, cause)


GO = [
    *(Reason.HOST_SYNC, Reason.HOST_STARVED, Reason.LAUNCH_BOUND, Reason.LAUNCH_LATENCY),
    *(Reason.GRAPH_LAUNCH, Reason.LATE_ISSUE, Reason.COPY_BOUND, Reason.DEVICE_COPY),
]
BLAMED = Intervals.span(0, 7_000)


@pytest.mark.parametrize("reason", Reason)
def test_only_what_nothing_else_holds_goes_with_a_repair(reason: Reason) -> None:
    assert saves("uvm-migration", BLAMED, [reason]) == (17_000 if reason in GO else 7_000)


@pytest.mark.parametrize("reason", GO)
def test_what_goes_with_any_repair_is_counted_once_for_its_own(reason: Reason) -> None:
    piece = Intervals.span(50_000, 60_000)

    assert saves(reason.cause, piece, [reason, Reason.SAME_STREAM, Reason.HOST_SYNC]) == 20_000


@pytest.mark.parametrize("reason", [Reason.PAGEABLE_COPY, Reason.SYNC_COPY])
def test_a_second_stream_takes_all_copies_of_the_stream_with_it(reason: Reason) -> None:
    assert saves("same-stream", BLAMED, [reason, Reason.ALLOCATION]) == 17_000
    assert saves("event-wait", BLAMED, [reason, Reason.ALLOCATION]) == 7_000


def per_step(*cost: int) -> int:
    """Of 10 us each; before each lies so much idle time, and so much more before the first."""
    start = 10_000 * np.arange(len(cost))
    steps = StepTimes.filled(len(cost), start_ns=start, end_ns=start + 10_000)
    one = device(steps=steps)
    savings = Savings(one, replace(MEASURED, devices=(one,)))
    return savings.at_most(Intervals.of(start, start + np.array(cost)), "event-wait")


@pytest.mark.parametrize(
    ("cost", "most"),
    [
        ([3_000], 3_000),
        ([3_000, 2_000], 8_000),  # the gap before the first step is as long as the longest
        ([3_000, 3_000, 3_000], 12_000),
        ([0] * 6 + [1_000, 9_000], 19_000),
        ([0] * 6 + [4_000, 4_000], 32_000),  # all may be like the quarter that has most
    ],
)
def test_as_many_steps_may_have_more_of_it(cost: list[int], most: int) -> None:
    assert per_step(*cost) == most


def test_as_many_steps_may_have_more_of_what_can_be_won() -> None:
    """Kernels wait 3 us for pages in each of three steps; or the device is idle as long, in one."""
    start = 10_000 * np.arange(3)
    steps = StepTimes.filled(3, start_ns=start, end_ns=start + 10_000)
    stalled = Intervals.of(start + 5_000, start + 8_000)
    every = Intervals.span(0, WINDOW_NS)

    assert most_of(device(steps=steps, compute=every, stalled=stalled)) == 9_000 + 3_000
    rest = every - stalled
    assert most_of(device(steps=steps, compute=rest)) == 9_000 + 3_000
    taken = Intervals.span(5_000, 8_000) | Intervals.span(25_000, 28_000)
    assert most_of(device(steps=steps, compute=rest, taken=taken)) == 3_000 + 6_000


def met(*members: int) -> Meeting:
    return cast(Meeting, SimpleNamespace(members=members))


@pytest.mark.parametrize(("own", "others"), [(0, [1, 2]), (1, [0]), (2, [0, 3]), (3, [2]), (4, [])])
def test_a_job_is_a_process_and_whom_it_meets(own: int, others: list[int]) -> None:
    """Devices 0 and 1 are one process's; 0 meets 2, and 2 meets 3."""
    processes = (0, 0, 1, 2, 3)
    devices = tuple(device(process, number) for number, process in enumerate(processes))
    measured: Measurements = replace(
        MEASURED, devices=devices, meetings=(met(0, 2), met(2, 3), met(0, 2))
    )
    found = others_of_job(devices[own], measured)

    assert [one.key.device_id for one in found] == others
