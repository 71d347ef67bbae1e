"""Evidence that a collective stood behind kernels that nothing ordered it after.

    s7    [ kernel ][ kernel ][ kernel ]
    s20                                 [ all-reduce ]     its stream was free all the while
    host  kkk c                                            c: launched here, no event waited for

An event wait looks the same on the device, so a collective whose stream waited for an event, proven
or inferred, is never counted.
"""

from __future__ import annotations

import numpy as np

from overlapcheck.causes._base import Context
from overlapcheck.causes._facts_collectives import kinds, tells
from overlapcheck.collectives import Collectives
from overlapcheck.columns import Mask
from overlapcheck.order import Relation, Work
from overlapcheck.quantities import count_of, duration

VARIABLE = "CUDA_DEVICE_MAX_CONNECTIONS"
DEFAULT_CONNECTIONS = 8
"""Hardware queues that a context uses unless the variable says otherwise."""
MIN_HELD_NS = 50_000
"""A launch that takes this long to begin has waited for something."""
ADJACENT_NS = 20_000
"""What a kernel's end released begins within this time."""
BUSY_SHARE = 0.9
"""Of the time it stood: with less compute it was not the compute that it stood behind."""


def behind_compute(context: Context) -> list[str]:
    """Collectives launched early, on a free stream, that began only when kernels had ended."""
    rows = context.device.collectives
    mine = _held(context, rows)
    if not tells(rows, mine):
        return []
    held = rows.start_ns[mine] - rows.ready_ns[mine]
    return [
        f"behind kernels of other streams: {int(mine.sum())} x {kinds(rows, mine)} had been"
        f" launched {duration(float(np.median(held)))} before (median), their stream was free and"
        " waited for no event, but they began only when kernels had ended",
        _why(context),
    ]


def _held(context: Context, rows: Collectives) -> Mask:
    held = rows.start_ns - rows.ready_ns
    compute = context.device.compute
    busy = compute.overlap_with(rows.ready_ns, rows.start_ns)
    at = np.searchsorted(compute.end_ns, rows.start_ns, side="right") - 1
    ended = np.zeros(len(rows), dtype=bool)
    if len(compute):
        since = rows.start_ns - compute.end_ns[np.maximum(at, 0)]
        ended = (at >= 0) & (since <= ADJACENT_NS)
    found: Mask = (
        (held >= MIN_HELD_NS)
        & (busy >= BUSY_SHARE * held)
        & ended
        & ~rows.on_compute_stream
        & ~_ordered(context, rows)
    )
    return found


def _ordered(context: Context, rows: Collectives) -> Mask:
    """Collectives that the ledger knows to have waited for another stream, or does not know."""
    pieces = context.rows
    free = (pieces.work == Work.COMMUNICATION) & np.isin(
        pieces.relation, (Relation.NONE, Relation.STREAM)
    )
    pieces = pieces.rows(free)
    known = np.zeros(len(rows), dtype=bool)
    for stream in np.unique(pieces.work_stream_id).tolist():
        mine = np.flatnonzero(rows.stream_id == stream)
        at = pieces.start_ns[pieces.work_stream_id == stream]
        last = np.searchsorted(rows.start_ns[mine], at, side="right") - 1
        known[mine[last[last >= 0]]] = True
    ordered: Mask = ~known
    return ordered


def _why(context: Context) -> str:
    said = context.measured.environment.get(VARIABLE, "")
    queues = int(said) if said.isdigit() else DEFAULT_CONNECTIONS
    streams = len(context.device.streams)
    crowded = "or kernels that leave no multiprocessor free delay a collective the same way"
    if said.isdigit() and streams > queues:
        return f"{VARIABLE}={said}, and {count_of(streams, 'stream')} had work; {crowded}"
    if streams > queues:
        return f"{streams} streams share the usual {queues} hardware queues; {crowded}"
    return (
        f"{count_of(streams, 'stream')} and {queues} hardware queues: kernels that leave no"
        " multiprocessor free are the likelier reason; a priority for the collectives' stream helps"
    )
