"""Device time of NVTX ranges, and how it is filled.

GPU work (kernels, copies, memsets) belongs to an instance of a range if its launch call started
while the instance was open, whatever thread made the call, for frameworks launch the backward pass
from another thread. The device time of an instance runs from the first start to the last end of its
work (known as GPU projection), cut to the device's window; that of the range is the union
over its instances.

    range        [ forward ]          [ forward ]
    launches       a  b         c       d
    kernels           aaaa      ccccc     dddd
    copies                bbbb
    device time       [------)            [--)            c was launched outside

Instances side by side stay apart however close they are. Those that share work, because one lies
in the other or on another thread, share that work's time, so their union has no hole: they count
as one run of launches, and no launch is looked at twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import translate

import numpy as np

from overlapcheck.columns import Ints, Mask
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.grouping import ordered
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import DeviceMeasurements, Window
from overlapcheck.passes.copy_overlap import copy_overlaps
from overlapcheck.passes.process import ABSENT_TIME, DeviceTables, ProcessTables, launch_start_ns
from overlapcheck.time_use import RangeUse
from overlapcheck.trace_tables import Copies, Ranges


def range_use(
    device: DeviceMeasurements,
    process: ProcessTables,
    tables: DeviceTables,
    patterns: Sequence[str],
) -> tuple[RangeUse, ...]:
    """What the device's time is used for inside the ranges of some names.

    Args:
        device: what was measured of its window.
        process: for its ranges and calls.
        tables: the device's operations.
        patterns: names of ranges, * for any letters; without any, nothing is done.

    Returns:
        One for each pattern, in their order; without time where no range matches, or none
        launched work that runs in the window.
    """
    if not patterns:
        return ()
    work = _launched(process, tables)
    return tuple(_of_pattern(device, process, work, tables.copies, one) for one in patterns)


@dataclass(frozen=True)
class _Work:
    """Operations whose launch call is known, in the order of those calls."""

    launch_ns: Ints
    start_ns: Ints
    end_ns: Ints


def _launched(process: ProcessTables, tables: DeviceTables) -> _Work:
    others = (tables.copies, tables.memsets)
    call = [tables.kernel_call, *(process.launches.rows(table.correlation_id) for table in others)]
    launch = np.concatenate([launch_start_ns(rows, process.calls) for rows in call])
    known = np.flatnonzero(launch != ABSENT_TIME)
    order = known[ordered(launch[known])]
    start = np.concatenate([table.start_ns for table in (tables.kernels, *others)])
    end = np.concatenate([table.end_ns for table in (tables.kernels, *others)])
    return _Work(launch[order], start[order], end[order])


def _of_pattern(
    device: DeviceMeasurements, process: ProcessTables, work: _Work, copies: Copies, pattern: str
) -> RangeUse:
    ranges = process.ranges.rows(_named(process, pattern))
    time, instances = _device_time(work, ranges, device.window)
    # An intersection looks each piece of its left side up: the fewer, the faster.
    compute = time & device.compute
    return RangeUse(
        key=device.key,
        compute=compute,
        opaque=time & device.opaque,
        stalled=time & device.stalled,
        communication=time & device.communication,
        copies=_copies(copies, compute, time, device.window),
        one_copy_engine=device.one_copy_engine,
        pattern=pattern,
        closed=len(ranges),
        instances=instances,
        time=time,
    )


def _named(process: ProcessTables, pattern: str) -> Mask:
    matches = re.compile(translate(pattern)).match
    return process.strings.matching(process.ranges.name_id, lambda name: bool(matches(name)))


def _device_time(work: _Work, ranges: Ranges, window: Window) -> tuple[Intervals, int]:
    """Device time of the ranges, and how many of them have some."""
    inside = (work.start_ns < window.end_ns) & (work.end_ns > window.start_ns)
    before = np.concatenate(([0], np.cumsum(inside)))
    first = np.searchsorted(work.launch_ns, ranges.start_ns)
    last = np.searchsorted(work.launch_ns, ranges.end_ns)
    worked = before[last] > before[first]
    if not worked.any():
        return Intervals.empty(), 0
    # Runs of launches that meet but share none must stay apart: 2 * last - 1 leaves a gap.
    runs = Intervals.of(2 * first[worked], 2 * last[worked] - 1)
    bounds = np.column_stack((runs.start_ns, runs.end_ns + 1)).ravel() // 2
    # The last run may reach the end, which reduceat takes for granted.
    bounds = bounds[:-1] if bounds[-1] == work.launch_ns.size else bounds
    start = np.minimum.reduceat(work.start_ns, bounds)[::2]
    end = np.maximum.reduceat(work.end_ns, bounds)[::2]
    return Intervals.of(start, end).clip(window.start_ns, window.end_ns), int(worked.sum())


def _copies(
    copies: Copies, compute: Intervals, time: Intervals, window: Window
) -> dict[Direction, CopyOverlap]:
    """Copies inside the device time, whoever launched them: what runs there can be hidden there."""
    touching = time.overlap_with(copies.start_ns, copies.end_ns) > 0
    return {
        direction: replace(
            found,
            copy=found.copy & time,
            pageable=found.pageable & time,
            pinned=found.pinned & time,
        )
        for direction, found in copy_overlaps(copies.rows(touching), compute, window).items()
    }
