"""What each device operation had to wait for on the device.

Of all predecessors an operation has, the one that ended last held it:

    s7    [ kernel A ]········[ kernel B ]      B's stream predecessor is A
    s13               [ copy ]↗                 B waits for an event behind the copy: binding
                 ↑ event behind A               the copy waits for an event behind A
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import (
    Bools,
    Codes,
    Columns,
    Mask,
    Rows,
    compact,
    ordered,
)
from overlapcheck.kinds import StreamKind
from overlapcheck.ledger import Relation, Work
from overlapcheck.passes.edges import (
    ADJACENT_NS,
    CLOCK_SLACK_NS,
    NO_OPERATION,
    Edges,
    dense_streams,
    keyed,
)
from overlapcheck.passes.event_waits import adjacent, event_waits
from overlapcheck.passes.operations import Operations
from overlapcheck.passes.process import ABSENT_TIME, ProcessTables
from overlapcheck.passes.streams import null_streams

# Smaller copies pass through the engine faster than its queue can show.
_ENGINE_MIN_BYTES = 64 * 1024


@dataclass(frozen=True)
class Dependencies(Columns):
    """The binding predecessor of each operation, row for row."""

    predecessor: Rows
    """Row of the operation; NO_OPERATION for none."""
    relation: Codes
    """Relation."""
    inferred: Bools
    """Whether adjacency in time is the only proof of an event wait."""


def dependencies(process: ProcessTables, ops: Operations) -> Dependencies:
    """The binding predecessor of every operation of a device.

    Args:
        process: the process's tables, for waits, records and stream kinds.
        ops: the device's operations.
    """
    found = _Best(ops)
    found.offer(_stream_order(ops), Relation.STREAM)
    exact, unresolved = event_waits(process, ops)
    found.offer(exact, Relation.EVENT)
    found.offer(_null_stream_barriers(process, ops), Relation.NULL_STREAM)
    found.offer(adjacent(ops, unresolved), Relation.EVENT, inferred=True)
    found.offer(_same_engine(ops), Relation.ENGINE)
    return Dependencies(found.predecessor, found.relation, compact(found.inferred))


class _Best:
    """Keeps the candidate that ended last; of equals, the one offered first."""

    def __init__(self, ops: Operations) -> None:
        self._ops = ops
        self.predecessor = np.full(len(ops), NO_OPERATION, dtype=np.int32)
        self.relation = np.full(len(ops), Relation.NONE, dtype=np.int8)
        self.inferred = np.zeros(len(ops), dtype=bool)
        self._end = np.full(len(ops), ABSENT_TIME, dtype=np.int64)

    def offer(self, edges: Edges, relation: Relation, *, inferred: bool = False) -> None:
        ops = self._ops
        after, before = edges.after, edges.before
        possible = ops.end_ns[before] <= ops.start_ns[after] + CLOCK_SLACK_NS
        possible &= before < after  # rows are sorted by start: no chain can run in a circle
        after, before = after[possible], before[possible]
        if not (after[1:] > after[:-1]).all():
            # The last end per operation: sorted ascending, later assignments win.
            order = ordered(ops.end_ns[before])
            after, before = after[order], before[order]
        better = ops.end_ns[before] > self._end[after]
        after, before = after[better], before[better]
        self.predecessor[after] = before
        self._end[after] = ops.end_ns[before]
        self.relation[after] = relation
        self.inferred[after] = inferred


def _stream_order(ops: Operations) -> Edges:
    """In each stream, the operation that ended last before each one started."""
    orderly = _one_after_another(ops)
    if orderly is not None:
        return orderly
    origin = int(ops.start_ns.min()) if len(ops) else 0
    keys = keyed(ops.stream, ops.end_ns, origin)
    by_end = ordered(keys)
    wanted = keyed(ops.stream, ops.start_ns, origin)
    at = np.searchsorted(keys[by_end], wanted, side="right") - 1
    before = by_end[np.maximum(at, 0)]
    # An operation of no length ends where it starts and would find itself.
    itself = before == np.arange(len(ops))
    before = np.where(itself, by_end[np.maximum(at - 1, 0)], before)
    valid = (at >= 0) & (ops.stream[before] == ops.stream) & (before != np.arange(len(ops)))
    valid &= ops.work != Work.MIGRATION
    after = np.flatnonzero(valid)
    return Edges(after, before[after])


def _one_after_another(ops: Operations) -> Edges | None:
    """The neighbours in each stream, where no operation starts before the one before it ended."""
    in_stream = ordered(ops.stream)
    stream, end = ops.stream[in_stream], ops.end_ns[in_stream]
    start = ops.start_ns[in_stream]
    same = stream[1:] == stream[:-1]
    # One of no length could follow itself; migrations belong to no stream.
    if (same & (start[1:] < end[:-1])).any() or (end <= start).any():
        return None
    if (ops.work == Work.MIGRATION).any():
        return None
    behind = np.flatnonzero(same)
    after, before = in_stream[behind + 1], in_stream[behind]
    order = ordered(after)
    return Edges(after[order], before[order])


def _null_stream_barriers(process: ProcessTables, ops: Operations) -> Edges:
    """The null stream waits for all blocking streams, and they for it.

    Streams made with cudaStreamNonBlocking take no part: most side streams of frameworks.
    """
    numbers = dense_streams(ops)
    nulls = [numbers[c, s] for c, s in null_streams(process) if (c, s) in numbers]
    described = zip(
        process.streams.context_id.tolist(),
        process.streams.stream_id.tolist(),
        process.streams.kind.tolist(),
        strict=True,
    )
    blocking = [
        numbers[c, s] for c, s, k in described if k == StreamKind.BLOCKING and (c, s) in numbers
    ]
    in_null = np.isin(ops.stream, nulls)
    in_blocking = np.isin(ops.stream, blocking) & ~in_null
    first, second = _last_before(ops, in_null, in_blocking), _last_before(ops, in_blocking, in_null)
    return Edges(
        np.concatenate((first.after, second.after)), np.concatenate((first.before, second.before))
    )


def _last_before(ops: Operations, waiting: Mask, holding: Mask) -> Edges:
    """For each waiting operation, the holding one launched before it that ended last."""
    if not waiting.any() or not holding.any():
        return Edges(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
    order = ordered(ops.launch_start_ns)
    order = order[ops.launch_start_ns[order] != ABSENT_TIME]
    ends = np.where(holding[order], ops.end_ns[order], ABSENT_TIME)
    latest = np.maximum.accumulate(ends) if ends.size else ends
    fresh = np.flatnonzero((ends == latest) & holding[order])
    positions = np.flatnonzero(waiting[order])
    at = np.searchsorted(fresh, positions, side="left") - 1
    hit = at >= 0
    return Edges(order[positions[hit]], order[fresh[at[hit]]])


def _same_engine(ops: Operations) -> Edges:
    """Copies that began as soon as another one of their direction had ended."""
    after, before = [], []
    for work in (Work.H2D, Work.D2H):
        rows = np.flatnonzero((ops.work == work) & (ops.bytes >= _ENGINE_MIN_BYTES))
        if rows.size < 2:
            continue
        by_end = rows[ordered(ops.end_ns[rows])]
        at = (
            np.searchsorted(ops.end_ns[by_end], ops.start_ns[rows] + CLOCK_SLACK_NS, side="right")
            - 1
        )
        candidate = by_end[np.maximum(at, 0)]
        close = (
            (at >= 0)
            & (candidate != rows)
            & (ops.stream[candidate] != ops.stream[rows])
            & (ops.start_ns[rows] - ops.end_ns[candidate] <= ADJACENT_NS)
        )
        after.append(rows[close])
        before.append(candidate[close])
    if not after:
        return Edges(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
    return Edges(np.concatenate(after), np.concatenate(before))
