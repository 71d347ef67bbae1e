"""Rows of the device that cannot be: damaged numbers, which one bit can make of any time.

launch              L
kernels     [K]                         begins before it was launched

launch      L          [wait for the device]
kernels       [K                         ]   ends after a wait for it returned

stream 7    [K1                    ]
stream 7        [K2]  [K3]              K1 runs across whole others of its stream
"""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import Ints, Mask, distinct
from overlapcheck.measurements import CaptureFault, CaptureProblem
from overlapcheck.passes.process import NO_CALL, ProcessTables
from overlapcheck.passes.streams import by_stream
from overlapcheck.passes.submissions import CLOCK_NOISE_NS, NEVER, device_wait_returned
from overlapcheck.quantities import count_of, seconds
from overlapcheck.trace import Copies, Kernels, Memsets

# How far clocks of host and device may drift apart before a row counts as damaged.
DRIFT_NS = 1_000_000
# Rows of its own stream that one row runs across: one may be a dependent launch that began early.
MIN_ENCLOSED = 2
_SHORTEST_RECORDING_NS = 1_000_000_000


def impossible_rows(process: ProcessTables, *, excerpt: bool = False) -> CaptureProblem | None:
    """Rows whose times contradict their launch, the recording, or their stream.

    Args:
        process: one process.
        excerpt: whether only a part was read, which tells nothing of where the recording ends.
    """
    found: list[tuple[int, int, str]] = []
    for table, noun in (
        (process.kernels, "kernel"),
        (process.copies, "copy"),
        (process.memsets, "memset"),
    ):
        if not len(table):
            continue
        for mask, why in _contradictions(process, table, excerpt=excerpt):
            rows = np.flatnonzero(mask)
            if rows.size:
                at = int(table.start_ns[rows[0]])
                found.append((int(rows.size), at, f"{noun} at {seconds(at)} {why}"))
    if not found:
        return None
    count = sum(number for number, _, _ in found)
    return CaptureProblem(
        CaptureFault.IMPOSSIBLE_ROWS,
        process.pid,
        f"{count_of(count, 'device row')} that cannot be: {found[0][2]}",
        "the file is damaged: copy it or export it again, else record again",
    )


def _contradictions(
    process: ProcessTables, table: Kernels | Copies | Memsets, *, excerpt: bool
) -> list[tuple[Mask, str]]:
    is_kernels = isinstance(table, Kernels)
    call = process.kernel_call if is_kernels else process.launches.rows(table.correlation_id)
    found = [] if excerpt else [(_outside(process, table), "lies outside the recording")]
    if len(process.calls):
        launch = process.calls.start_ns[np.maximum(call, 0)]
        early = (call != NO_CALL) & (table.start_ns < launch - DRIFT_NS)
        # Clocks that drift apart move most rows, damage moves few.
        if np.count_nonzero(early) * 2 < len(table):
            found.append((early, "begins before it was launched"))
        found.append((_outlasting(process, table, call), "ends after a wait for it returned"))
    found.append((_enclosing(table), "runs across others of its stream"))
    return found


def _outside(process: ProcessTables, table: Kernels | Copies | Memsets) -> Mask:
    """Rows that lie further from what the host did than that lasted."""
    host = [part for part in (process.calls, process.ranges, process.os_calls) if len(part)]
    if not host:
        return np.zeros(len(table), dtype=bool)
    begin = min(int(part.start_ns[0]) for part in host)
    end = max(int(part.end_ns.max()) for part in host)
    margin = max(end - begin, _SHORTEST_RECORDING_NS)
    mask: Mask = (table.end_ns > end + margin) | (table.start_ns < begin - margin)
    return mask


def _outlasting(process: ProcessTables, table: Kernels | Copies | Memsets, call: Ints) -> Mask:
    """Rows that end after a wait for their device returned that began after their launch."""
    mask = np.zeros(len(table), dtype=bool)
    used = distinct(process.kernels.context_id).size, distinct(process.kernels.device_id).size
    long = np.flatnonzero((table.end_ns - table.start_ns > DRIFT_NS) & (call != NO_CALL))
    if used != (1, 1) or long.size == 0:
        return mask
    launched = process.calls.end_ns[call[long]]
    returned = device_wait_returned(process, launched)
    late = (returned != NEVER) & (
        table.end_ns[long] > np.minimum(returned, NEVER - DRIFT_NS) + DRIFT_NS
    )
    late &= table.context_id[long] == process.kernels.context_id[0]
    mask[long[late]] = True
    return mask


def _enclosing(table: Kernels | Copies | Memsets) -> Mask:
    """Rows during which several others of their stream begin and end.

    Nodes of a graph are left out: its branches share a stream and run side by side.
    """
    mask = np.zeros(len(table), dtype=bool)
    for rows in by_stream(table).values():
        alone = rows[table.graph_node_id[rows] < 0]
        start, end = table.start_ns[alone], table.end_ns[alone]
        if alone.size <= MIN_ENCLOSED:
            continue
        reach = np.maximum.accumulate(end)
        inside = np.flatnonzero(end[1:] < reach[:-1] - CLOCK_NOISE_NS) + 1
        if inside.size < MIN_ENCLOSED:
            continue
        same_call = table.correlation_id[alone]
        # The first row that reaches so far is the one that runs across.
        outer = np.searchsorted(reach, reach[inside])
        apart = same_call[inside] != same_call[outer]
        times = np.bincount(outer[apart], minlength=start.size)
        mask[alone[times >= MIN_ENCLOSED]] = True
    return mask
