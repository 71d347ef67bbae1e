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
from overlapcheck.columns import ABSENT, Mask
from overlapcheck.connections import VARIABLE, Connections
from overlapcheck.order import Relation, Work
from overlapcheck.quantities import count_of, duration
from overlapcheck.searches import last_at_or_before, taken


def behind_compute(context: Context) -> list[str]:
    """Collectives launched early, on a free stream, that began only when kernels had ended."""
    rows = context.device.collectives
    mine = _held(context, rows)
    if not tells(context, mine):
        return []
    held = rows.start_ns[mine] - rows.ready_ns[mine]
    return [
        f"behind kernels of other streams: {int(mine.sum())} x {kinds(rows, mine)} had been"
        f" launched {duration(float(np.median(held)))} before (median), their stream was free and"
        " waited for no event, but they began only when kernels had ended",
        _why(context),
    ]


def _held(context: Context, rows: Collectives) -> Mask:
    limits = context.measured.thresholds
    held = rows.start_ns - rows.ready_ns
    compute = context.device.compute
    busy = compute.overlap_with(rows.ready_ns, rows.start_ns)
    at = last_at_or_before(compute.end_ns, rows.start_ns)
    since = rows.start_ns - taken(compute.end_ns, at, 0)
    ended = (at != ABSENT) & (since <= limits.start_latency_ns)
    found: Mask = (
        (held >= limits.queue_held_ns)
        & (busy >= limits.queue_busy_share * held)
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
        last = last_at_or_before(rows.start_ns[mine], at)
        known[mine[last[last != ABSENT]]] = True
    ordered: Mask = ~known
    return ordered


def _why(context: Context) -> str:
    queues = Connections.of(context.measured.environment)
    streams = len(context.device.streams)
    crowded = "or kernels that leave no multiprocessor free delay a collective the same way"
    if queues.said and streams > queues.count:
        return f"{VARIABLE}={queues.count}, and {count_of(streams, 'stream')} had work; {crowded}"
    if streams > queues.count:
        return f"{streams} streams share the usual {queues.count} hardware queues; {crowded}"
    return (
        f"{count_of(streams, 'stream')} and {queues.count} hardware queues: kernels that leave no"
        " multiprocessor free are the likelier reason; a priority for the collectives' stream helps"
    )
