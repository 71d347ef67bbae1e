"""Orders that hold within one device: its null stream, and its copy engines."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT_TIME, Mask
from overlapcheck.grouping import ordered
from overlapcheck.kinds import StreamKind
from overlapcheck.order import Operations, Work
from overlapcheck.passes.order.candidates import Pairs, StreamNumbers
from overlapcheck.passes.process import ProcessTables
from overlapcheck.passes.streams import null_streams
from overlapcheck.searches import last_at_or_before, last_before
from overlapcheck.thresholds import Thresholds


def null_stream_barriers(process: ProcessTables, ops: Operations, numbers: StreamNumbers) -> Pairs:
    """The null stream waits for all blocking streams, and they for it.

    Streams made with cudaStreamNonBlocking take no part: most side streams of frameworks.
    """
    nulls = numbers.known(sorted(null_streams(process)))
    described = zip(
        process.streams.context_id.tolist(),
        process.streams.stream_id.tolist(),
        process.streams.kind.tolist(),
        strict=True,
    )
    blocking = numbers.known([(c, s) for c, s, kind in described if kind == StreamKind.BLOCKING])
    if not nulls or not blocking:
        return Pairs.none()
    in_null = np.isin(ops.stream, nulls)
    in_blocking = np.isin(ops.stream, blocking) & ~in_null
    both = [_last_before(ops, in_null, in_blocking), _last_before(ops, in_blocking, in_null)]
    return Pairs.joined(both)


def _last_before(ops: Operations, waiting: Mask, holding: Mask) -> Pairs:
    """For each waiting operation, the holding one launched before it that ended last."""
    if not waiting.any() or not holding.any():
        return Pairs.none()
    order = ordered(ops.launch_start_ns)
    order = order[ops.launch_start_ns[order] != ABSENT_TIME]
    ends = np.where(holding[order], ops.end_ns[order], ABSENT_TIME)
    latest = np.maximum.accumulate(ends) if ends.size else ends
    fresh = np.flatnonzero((ends == latest) & holding[order])
    positions = np.flatnonzero(waiting[order])
    at = last_before(fresh, positions)
    hit = at >= 0
    return Pairs.of(order[positions[hit]], order[fresh[at[hit]]])


def same_engine(ops: Operations, limits: Thresholds) -> Pairs:
    """Copies that began as soon as another one of their direction had ended."""
    found = []
    for work in (Work.H2D, Work.D2H):
        rows = np.flatnonzero((ops.work == work) & (ops.bytes >= limits.engine_min_bytes))
        if rows.size < 2:
            continue
        by_end = rows[ordered(ops.end_ns[rows])]
        at = last_at_or_before(ops.end_ns[by_end], ops.start_ns[rows] + limits.clock_slack_ns)
        candidate = by_end[np.maximum(at, 0)]
        close = (
            (at >= 0)
            & (candidate != rows)
            & (ops.stream[candidate] != ops.stream[rows])
            & (ops.start_ns[rows] - ops.end_ns[candidate] <= limits.start_latency_ns)
        )
        found.append(Pairs.of(rows[close], candidate[close]))
    return Pairs.joined(found)
