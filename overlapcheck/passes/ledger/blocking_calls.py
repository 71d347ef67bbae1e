"""Host calls that held a thread, and how long the device idled meanwhile.

Making a stream wait (cudaStreamWaitEvent) holds no thread and is over in microseconds, so it never
shows up here; a launch into a full queue does, with no idle time.
"""

from __future__ import annotations

import numpy as np

from overlapcheck.grouping import by_group, groups
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import BlockingCalls, Window
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace_tables import ApiCalls


def blocking_calls(
    calls: ApiCalls, idle: Intervals, window: Window, limits: Thresholds
) -> BlockingCalls:
    """Long calls in the window, per API and thread.

    Args:
        calls: the process's calls on the device's clock, outer before inner.
        idle: the device's idle time.
        window: calls are clipped to it.
        limits: how long is long.

    Returns:
        Costliest in idle time first. Where one call runs inside another of the same thread
        (a runtime call and its driver call) both are listed under their own names.
    """
    long = (
        (calls.end_ns - calls.start_ns >= limits.blocking_call_ns)
        & (calls.start_ns < window.end_ns)
        & (calls.end_ns > window.start_ns)
    )
    mine = calls.rows(long)
    rows = []
    if len(mine):
        first, group = groups(mine.tid, mine.name_id)
        order, bounds = by_group(group, first.size)
        for number, row in enumerate(first.tolist()):
            part = mine.rows(order[bounds[number] : bounds[number + 1]])
            key = (int(mine.tid[row]), int(mine.name_id[row]))
            rows.append((*key, *_costs(part, idle, window)))
    rows.sort(key=lambda row: (-row[4], -row[3], row[0], row[1]))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 7).T
    return BlockingCalls(*columns)


def _costs(part: ApiCalls, idle: Intervals, window: Window) -> tuple[int, int, int, int, int]:
    held = Intervals.of(part.start_ns, part.end_ns).clip(window.start_ns, window.end_ns)
    length = np.minimum(part.end_ns, window.end_ns) - np.maximum(part.start_ns, window.start_ns)
    longest = int(np.argmax(length))
    return (
        len(part),
        held.total_ns,
        (held & idle).total_ns,
        int(length[longest]),
        int(part.start_ns[longest]),
    )
