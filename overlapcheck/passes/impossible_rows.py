"""Rows of the device that cannot be: damaged numbers, which one bit can make of any time.

launch              L
kernels     [K]                         begins before it was launched

launch      L          [wait for the device]
kernels       [K                         ]   ends after a wait for it returned

launch      L: returned an error
kernels         [K]                     nothing was launched

stream 7    [K1                    ]
stream 7        [K2]  [K3]              K1 runs across whole others of its stream
"""

from __future__ import annotations

import numpy as np

from overlapcheck.capture_problem import CaptureFault, CaptureProblem
from overlapcheck.columns import ABSENT, Index, Ints, Mask
from overlapcheck.grouping import distinct
from overlapcheck.kinds import CopyKind
from overlapcheck.passes.process import ProcessTables
from overlapcheck.passes.streams import by_stream
from overlapcheck.passes.submissions import NEVER, device_wait_returned
from overlapcheck.quantities import count_of, seconds
from overlapcheck.recorder import Content
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace_tables import Copies, Kernels, Memsets


def impossible_rows(
    process: ProcessTables, limits: Thresholds, *, excerpt: bool
) -> CaptureProblem | None:
    """Rows that contradict their call, their context, their stream, the recording or their size.

    Args:
        process: one process.
        limits: how far times and sizes may be off.
        excerpt: whether only a part was read, which tells nothing of where the recording ends.
    """
    found: list[tuple[int, int, str]] = []
    drifted = _clocks_drifted(process, limits)
    for table, noun in (
        (process.kernels, "kernel"),
        (process.copies, "copy"),
        (process.memsets, "memset"),
    ):
        if not len(table):
            continue
        for mask, why in _contradictions(process, table, limits, drifted=drifted, excerpt=excerpt):
            rows = np.flatnonzero(mask)
            if rows.size:
                at = int(table.start_ns[rows[0]])
                found.append((int(rows.size), at, f"{noun} at {seconds(at)} {why}"))
    if not found:
        return None
    count = sum(number for number, _, _ in found)
    return process.problem(
        CaptureFault.IMPOSSIBLE_ROWS,
        f"{count_of(count, 'device row')} that cannot be: {found[0][2]}",
        Content.TRUE_TIMES,
    )


def _contradictions(
    process: ProcessTables,
    table: Kernels | Copies | Memsets,
    limits: Thresholds,
    *,
    drifted: bool,
    excerpt: bool,
) -> list[tuple[Mask, str]]:
    call = _calls_of(process, table)
    found = [] if excerpt else [(_outside(process, table, limits), "lies outside the recording")]
    if len(process.calls):
        if not drifted:
            found.append((_early(process, table, call, limits), "begins before it was launched"))
        failed = (call != ABSENT) & ~process.calls.succeeded[np.maximum(call, 0)]
        found.append((failed, "was launched by a call that failed"))
        found.append(
            (_outlasting(process, table, call, limits), "ends after a wait for it returned")
        )
    if isinstance(table, Copies):
        moved = np.maximum(table.end_ns - table.start_ns, 1) * limits.most_bytes_per_ns
        found.append((table.bytes > moved, "moves more than memory can in its time"))
    found.append((_elsewhere(process, table), "ran on another device than its context"))
    found.append((_enclosing(table, limits), "runs across others of its stream"))
    return found


def _calls_of(process: ProcessTables, table: Kernels | Copies | Memsets) -> Index:
    if isinstance(table, Kernels):
        return process.kernel_call
    return process.launches.rows(table.correlation_id)


def _early(
    process: ProcessTables, table: Kernels | Copies | Memsets, call: Index, limits: Thresholds
) -> Mask:
    launch = process.calls.start_ns[np.maximum(call, 0)]
    mask: Mask = (call != ABSENT) & (table.start_ns < launch - limits.drift_ns)
    return mask


def _clocks_drifted(process: ProcessTables, limits: Thresholds) -> bool:
    """Whether most rows of every kind begin too early: clocks do that, damage moves few."""
    tables = [t for t in (process.kernels, process.copies, process.memsets) if len(t)]
    return bool(len(process.calls)) and all(
        np.count_nonzero(_early(process, table, _calls_of(process, table), limits)) * 2
        >= len(table)
        for table in tables
    )


def _elsewhere(process: ProcessTables, table: Kernels | Copies | Memsets) -> Mask:
    """Rows on another device than the one that the recording says their context is of."""
    mask = np.zeros(len(table), dtype=bool)
    contexts = process.contexts
    for context, device in zip(contexts.context_id, contexts.device_id, strict=True):
        mask |= (table.context_id == context) & (table.device_id != device)
    if isinstance(table, Copies):
        mask &= table.kind != CopyKind.PEER_TO_PEER
    return mask


def _outside(process: ProcessTables, table: Kernels | Copies | Memsets, limits: Thresholds) -> Mask:
    """Rows that lie further from what the host did than that lasted."""
    host = [part for part in (process.calls, process.ranges, process.os_calls) if len(part)]
    if not host:
        return np.zeros(len(table), dtype=bool)
    begin = min(int(part.start_ns[0]) for part in host)
    end = max(int(part.end_ns.max()) for part in host)
    margin = max(end - begin, limits.shortest_recording_ns)
    mask: Mask = (table.end_ns > end + margin) | (table.start_ns < begin - margin)
    return mask


def _outlasting(
    process: ProcessTables, table: Kernels | Copies | Memsets, call: Ints, limits: Thresholds
) -> Mask:
    """Rows that end after a wait for their device returned that began after their launch."""
    mask = np.zeros(len(table), dtype=bool)
    drift_ns = limits.drift_ns
    used = distinct(process.kernels.context_id).size, distinct(process.kernels.device_id).size
    long = np.flatnonzero((table.end_ns - table.start_ns > drift_ns) & (call != ABSENT))
    if used != (1, 1) or long.size == 0:
        return mask
    launched = process.calls.end_ns[call[long]]
    returned = device_wait_returned(process, launched)
    late = table.end_ns[long] > np.minimum(returned, NEVER - drift_ns) + drift_ns
    late &= table.context_id[long] == process.kernels.context_id[0]
    mask[long[late]] = True
    return mask


def _enclosing(table: Kernels | Copies | Memsets, limits: Thresholds) -> Mask:
    """Rows during which several others of their stream begin and end.

    Nodes of a graph are left out: its branches share a stream and run side by side.
    """
    mask = np.zeros(len(table), dtype=bool)
    least = limits.enclosed_least
    if _inside(table.end_ns, limits).size < least:
        return mask
    for rows in by_stream(table).values():
        alone = rows[table.graph_node_id[rows] == ABSENT]
        start, end = table.start_ns[alone], table.end_ns[alone]
        inside = _inside(end, limits)
        if inside.size < least:
            continue
        reach = np.maximum.accumulate(end)
        call = table.correlation_id[alone]
        # The first row that reaches so far is the one that runs across.
        outer = np.searchsorted(reach, reach[inside])
        apart = call[inside] != call[outer]
        times = np.bincount(outer[apart], minlength=start.size)
        mask[alone[times >= least]] = True
    return mask


def _inside(end_ns: Ints, limits: Thresholds) -> Index:
    """Rows, sorted by start, that end while an earlier one still runs."""
    reach = np.maximum.accumulate(end_ns)
    return np.flatnonzero(end_ns[1:] < reach[:-1] - limits.clock_noise_ns) + 1
