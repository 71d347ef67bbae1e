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
    constant,
    narrow,
)
from overlapcheck.grouping import ordered
from overlapcheck.order import Edges, Operations, Order, Relation
from overlapcheck.searches import taken
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
    """Whether adjacency in time is the only proof of an event wait or of a graph's order."""
    elsewhere: Rows
    """Row, among the process's, of the operation of another device that held it up instead; ABSENT
    for none."""
    since_ns: Ints
    """Where there is one: since when the devices had worked towards it without a break."""
    since_late: Bools
    """Whether that work was itself submitted only then."""


def dependencies(order: Order, device: OnDevice, limits: Thresholds) -> Dependencies:
    """The binding predecessor of every operation of a device, among those of the device.

    Args:
        order: all edges of the process.
        device: its operations.
        limits: by how much device times of neighbours may cross.
    """
    found = _best(_within(order, device), device.ops, limits)
    if device.rows is None:
        nothing = constant(ABSENT, len(device.ops))
        elsewhere, since_ns, late = narrow(nothing), nothing, nothing == 0
    else:
        elsewhere, inferred = _elsewhere(order, device, found, limits)
        other = elsewhere != ABSENT
        found.relation[other], found.inferred[other] = Relation.EVENT, inferred[other]
        since_ns, late = _since(order, elsewhere, limits)
    return Dependencies(
        found.predecessor, found.relation, compact(found.inferred), elsewhere, since_ns, late
    )


def run_begins(ops: Operations, edges: Edges, limits: Thresholds) -> Rows:
    """The operation with which the unbroken run that led to each began; ABSENT on one device.

    gpu0  [ A ][ B ]            [ D ]
    gpu1            [ C ]···[ x ]       B and C lead back to A, D to x
    """
    crossing = ops.device_id[edges.before] != ops.device_id[edges.after]
    if not (crossing & (edges.relation != Relation.HOST)).any():
        return narrow(constant(ABSENT, len(ops)))
    before = _best(edges, ops, limits).predecessor
    own = np.arange(len(ops), dtype=np.int32)
    since = ops.start_ns - taken(ops.end_ns, before, ABSENT_TIME)
    begin = np.where((before != ABSENT) & (since <= limits.start_latency_ns), before, own)
    while True:  # each round doubles how far back it reaches
        further = begin[begin]
        if (further == begin).all():
            return begin.astype(np.int32)
        begin = further


def _best(edges: Edges, ops: Operations, limits: Thresholds) -> _Best:
    """Which of the edges held each operation up."""
    found = _Best(ops, limits.clock_slack_ns)
    for some in _runs(edges):
        relation = Relation(int(some.relation[0]))
        # What the host waited for is no order on the device: it shows in when it submitted.
        if relation is not Relation.HOST:
            told = relation in (Relation.EVENT, Relation.GRAPH) and bool(some.inferred[0])
            found.offer(some, relation, inferred=told)
    return found


def _elsewhere(
    order: Order, device: OnDevice, found: _Best, limits: Thresholds
) -> tuple[Rows, Bools]:
    """The operation of another device that each had to wait for, and whether that is inferred.

    It ended after all that held the operation on its own device, and just before that started; and
    the operation had been handed over by then.
    """
    ops, edges = order.operations, order.edges
    held = np.full(len(device.ops), ABSENT, dtype=np.int32)
    inferred = np.zeros(len(device.ops), dtype=np.bool_)
    number = _numbers(order, device)
    after, before = edges.after, edges.before
    binds = (number[after] != ABSENT) & (number[before] == ABSENT)
    binds &= edges.relation != Relation.HOST
    rows = np.flatnonzero(binds)
    end, start = ops.end_ns[before[rows]], ops.start_ns[after[rows]]
    mine = number[after[rows]]
    own_end = taken(device.ops.end_ns, found.predecessor[mine], ABSENT_TIME)
    binds = (end > own_end) & (end <= start + limits.clock_slack_ns)
    binds &= start - end <= limits.start_latency_ns
    binds &= ops.launch_end_ns[after[rows]] <= end + limits.submit_slack_ns
    rows, mine = rows[binds], mine[binds]
    # The last end per operation: sorted ascending, later assignments win.
    last = ordered(end[binds])
    held[mine[last]] = before[rows[last]]
    inferred[mine[last]] = edges.inferred[rows[last]]
    return held, inferred


def _since(order: Order, elsewhere: Rows, limits: Thresholds) -> tuple[Ints, Bools]:
    """Since when other devices worked towards what each waits for, and whether it came late."""
    ops = order.operations
    begin = taken(order.run_begin, elsewhere, ABSENT)
    start = taken(ops.start_ns, begin, ABSENT_TIME)
    handed_over = taken(ops.launch_end_ns, begin, ABSENT_TIME)
    return start, start - handed_over <= limits.start_latency_ns


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
    number = _numbers(order, device)
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


def _numbers(order: Order, device: OnDevice) -> Rows:
    """The device's number of each operation of the process; ABSENT for those of others."""
    number = np.full(len(order.operations), ABSENT, dtype=np.int32)
    if device.rows is not None:
        number[device.rows] = np.arange(device.rows.size)
    return number


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
