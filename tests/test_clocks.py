"""A recording whose clocks contradict each other is measured, drawn and judged like one aligned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.checks.allowed import allowances
from overlapcheck.checks.judge import judge
from overlapcheck.clocks import on_device_clock
from overlapcheck.device_report import DeviceReport
from overlapcheck.passes.measure import measure
from overlapcheck.reading import Reading
from overlapcheck.reporting.build import build_report, with_drawings
from overlapcheck.selection import Selection
from overlapcheck.trace import Trace
from overlapcheck.verdict import AllowedCall, Policy
from tests.pictures import picture

WAITED = """
s7   kernel ncclDevKernel_AllReduce |..cc............|
s7   kernel fwd                     |....kkkkkkkk....|
t1   nvtx the loss                  |.ooo............|
t1   cudaLaunchKernel               |ck..............|
t1   cudaStreamSynchronize          |..xxxxxxxxxxxx..|
"""
ALIGNED_US, AHEAD_US = 20.0, 120.0
SKEW_NS = 100_000
"""What the second tells: of both, half of the waits return 20 us before their work ends."""


def recorded(late_us: float) -> Trace:
    """The drawing 30 times; the clock of the device shows a later time than drawn."""
    times = {"c": [20.0, 40.0], "k": [40.0, 120.0]}
    late = {mark: [time + late_us for time in span] for mark, span in times.items()}
    waits = [{"call": "x", "stream": 7}]
    return picture(WAITED, column_us=10, repeat=30, gpu_us=late, waits=waits).trace()


ALIGNED, AHEAD = recorded(ALIGNED_US), recorded(AHEAD_US)


def device_of(trace: Trace) -> Any:
    (device,) = measure(trace, Selection(skip=0)).devices
    return device


def report_of(trace: Trace) -> DeviceReport:
    measured = measure(trace, Selection(skip=0))
    verdict = judge(measured, Policy())
    report = build_report(Path("made.up"), trace, measured, verdict, findings(measured))
    return with_drawings(report, trace, measured, Reading()).devices[0]


def test_the_skew_is_that_of_the_second() -> None:
    assert device_of(ALIGNED).clock_skew_ns == 0
    assert device_of(AHEAD).clock_skew_ns == SKEW_NS


def test_blocking_calls_idle_the_device_as_long() -> None:
    aligned, ahead = device_of(ALIGNED).blocking, device_of(AHEAD).blocking

    assert len(aligned) == 1
    assert ahead.idle_ns.tolist() == aligned.idle_ns.tolist()
    assert ahead.total_ns.tolist() == aligned.total_ns.tolist()
    assert (ahead.longest_start_ns - aligned.longest_start_ns).tolist() == [SKEW_NS]


def test_collectives_are_ready_as_long_before_they_begin() -> None:
    aligned, ahead = device_of(ALIGNED).collectives, device_of(AHEAD).collectives
    waited = aligned.start_ns - aligned.ready_ns

    assert waited.max() > 0
    assert (ahead.start_ns - ahead.ready_ns).tolist() == waited.tolist()


def test_host_and_device_are_drawn_as_they_lie_to_each_other() -> None:
    aligned, ahead = report_of(ALIGNED), report_of(AHEAD)
    moved = [
        [(mark.role, mark.start_ns - shift, mark.end_ns - shift, mark.text) for mark in one.marks]
        for device, shift in ((aligned, 0), (ahead, SKEW_NS))
        for one in device.timeline.instances  # type: ignore[union-attr]
    ]
    half = len(moved) // 2
    assert {mark[0] for marks in moved for mark in marks} >= {"launch", "held"}
    assert moved[half:] == moved[:half]

    events = [device.timeline.events for device in (aligned, ahead)]  # type: ignore[union-attr]
    assert np.array_equal(events[1].kind, events[0].kind)
    assert np.array_equal(events[1].start_ns - SKEW_NS, events[0].start_ns)
    assert [row.cells for row in ahead.picture.rows] == [row.cells for row in aligned.picture.rows]


@pytest.mark.parametrize("trace", [ALIGNED, AHEAD], ids=["aligned", "ahead"])
def test_a_call_is_allowed_by_the_range_that_it_was_made_in(trace: Trace) -> None:
    measured = measure(trace, Selection(skip=0))
    allowed = (AllowedCall("the loss is read", nvtx="the loss"),)
    (found,) = findings(measured)[:1]

    (allowance,) = allowances(measured.devices[0], measured, allowed, found.cause)
    assert allowance.ns >= 0.9 * found.blamed.total_ns


def test_tables_stay_as_they_are_where_clocks_agree() -> None:
    calls = ALIGNED.api_calls

    assert on_device_clock(calls, 0) is calls  # type: ignore[type-var]
