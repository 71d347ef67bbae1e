"""What each operation of a device had to wait for on the device.

Of all predecessors an operation has, the one that ended last held it:

    s7    [ kernel A ]········[ kernel B ]      B's stream predecessor is A
    s13               [ copy ]↗                 B waits for an event behind the copy: binding
                 ↑ event behind A               the copy waits for an event behind A
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from overlapcheck.columns import (
    ABSENT,
    ABSENT_TIME,
    Bools,
    Codes,
    Columns,
    Index,
    Ints,
    Rows,
    compact,
    ordered,
)
from overlapcheck.order import Edges, Operations, Order, Relation
from overlapcheck.thresholds import Thresholds


@dataclass(frozen=True)
class OnDevice:
    """The operations of one device, among those of its process."""

    ops: Operations
    rows: Index | None
    """Row of each among the process's, ascending; None where they are the same."""

    @classmethod
    def of(cls, order: Order, device_id: int) -> OnDevice:
        """The operations that occupy a device."""
        mine = order.operations.on_device(device_id)
        if mine.all():
            return cls(order.operations, None)
        rows = np.flatnonzero(mine)
        return cls(order.operations.rows(rows), rows)

    def in_process(self, rows: Rows) -> Rows:
        """Rows of the device as rows of the process; ABSENT stays."""
        if self.rows is None or self.rows.size == 0:
            return rows
        return np.where(rows == ABSENT, ABSENT, self.rows[rows]).astype(np.int32)


@dataclass(frozen=True)
class Dependencies(Columns):
    """The binding predecessor of each operation, row for row."""

    predecessor: Rows
    """Row of the operation; ABSENT for none."""
    relation: Codes
    """Relation."""
    inferred: Bools
    """Whether adjacency in time is the only proof of an event wait."""


def dependencies(order: Order, device: OnDevice, limits: Thresholds) -> Dependencies:
    """The binding predecessor of every operation of a device, among those of the device.

    Args:
        order: all edges of the process.
        device: its operations.
        limits: by how much device times of neighbours may cross.
    """
    found = _Best(device.ops, limits.clock_slack_ns)
    for edges in _runs(_within(order, device)):
        relation = Relation(int(edges.relation[0]))
        # What the host waited for is no order on the device: it shows in when it submitted.
        if relation is not Relation.HOST:
            proven = relation is not Relation.EVENT or not edges.inferred[0]
            found.offer(edges, relation, inferred=not proven)
    return Dependencies(found.predecessor, found.relation, compact(found.inferred))


def _runs(edges: Edges) -> Iterator[Edges]:
    """The runs of one relation and proof that edges come in."""
    changes = edges.relation[1:] != edges.relation[:-1]
    changes |= edges.inferred[1:] != edges.inferred[:-1]
    bounds = [0, *(np.flatnonzero(changes) + 1).tolist(), len(edges)]
    for first, last in pairwise(bounds):
        if last > first:
            yield edges.rows(slice(first, last))


def _within(order: Order, device: OnDevice) -> Edges:
    """Edges between operations of the device, with its row numbers.

    Where an operation of another device stands between two of the same stream (around a copy from
    device to device), the order of those two remains.
    """
    edges = order.edges
    if device.rows is None or len(edges) == 0:
        return edges
    number = np.full(len(order.operations), ABSENT, dtype=np.int32)
    number[device.rows] = np.arange(device.rows.size)
    last = _last_in_stream(order.operations, number)
    after, before = number[edges.after], number[last[edges.before]]
    inside = (after != ABSENT) & (before != ABSENT) & (after != before)
    return Edges(
        before[inside],
        after[inside],
        edges.relation[inside],
        edges.inferred[inside],
        edges.call[inside],
    )


def _last_in_stream(ops: Operations, number: Rows) -> Ints:
    """Of each operation, the last of its stream up to it that has a number, else itself."""
    in_stream = ordered(ops.stream)
    stream = ops.stream[in_stream]
    position = np.where(number[in_stream] != ABSENT, np.arange(in_stream.size), ABSENT)
    latest = np.maximum.accumulate(position)
    known = (latest != ABSENT) & (stream[np.maximum(latest, 0)] == stream)
    last = np.empty(in_stream.size, dtype=np.int64)
    last[in_stream] = np.where(known, in_stream[np.maximum(latest, 0)], in_stream)
    return last


class _Best:
    """Keeps the candidate that ended last; of equals, the one offered first."""

    def __init__(self, ops: Operations, clock_slack_ns: int) -> None:
        self._ops = ops
        self._slack_ns = clock_slack_ns
        self.predecessor = np.full(len(ops), ABSENT, dtype=np.int32)
        self.relation = np.full(len(ops), Relation.NONE, dtype=np.int8)
        self.inferred = np.zeros(len(ops), dtype=bool)
        self._end = np.full(len(ops), ABSENT_TIME, dtype=np.int64)

    def offer(self, edges: Edges, relation: Relation, *, inferred: bool) -> None:
        ops = self._ops
        after, before = edges.after, edges.before
        possible = ops.end_ns[before] <= ops.start_ns[after] + self._slack_ns
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
