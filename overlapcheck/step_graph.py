r"""Steady steps as a graph that can be replayed: host calls, device operations, and what waits.

    thread   [ call 7 ]gap[ call 8 .......... ]          a call starts a gap after the one before
                 \ launch          / wait                 and ends with what it waits for
    stream    [ copy ]-- stream --[ kernel ]             an operation starts when all links let it

Every moment is a node. An operation of row i starts at node 2i and ends at 2i + 1; the host events
follow in the same way. A node's time is the latest of its links' times, plus a residual that keeps
the recorded times exactly when nothing is changed. Times are ns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from overlapcheck.codes import Code
from overlapcheck.columns import ABSENT, Bools, Codes, Columns, Index, Ints, Mask, Rows, Whole

OF_SYSTEM = -1
"""Kind of a host event that is a call of the operating system."""
ORIGIN = ABSENT
"""Node of what comes from outside: its lag is a time of the recording."""


class Why(Code):
    """What a link stands for."""

    LAUNCH = 0
    """An operation starts after it was handed over."""
    STREAM = 1
    EVENT = 2
    NULL_STREAM = 3
    ENGINE = 4
    GRAPH = 6
    """1 to 6 are those of `order.Relation`."""
    WAIT = 7
    """A call returns when an operation has ended."""
    QUEUE = 8
    """A launch waits for room in a full queue."""
    HAND_OFF = 9
    """A thread goes on when another has done its part."""
    OUTSIDE = 10
    """What comes from outside the process comes when it came."""
    READY = 11
    """Added by a repair: the consumer waits for the producer."""
    REUSE = 12
    """Added by a repair: a buffer is free when its consumer is done."""
    LENGTH = 13
    """An operation takes its time, a call its own."""
    GAP = 14
    """A thread does something else between two calls."""


@dataclass(frozen=True)
class GraphOperations(Columns):
    """Device operations, sorted by start."""

    row: Rows
    """Row among `Order.operations`."""
    start_ns: Ints
    end_ns: Ints
    length_ns: Ints
    """Time that it takes once it has started; what repairs change."""
    work: Codes
    """`order.Work`."""
    stream: Ints
    bytes: Ints
    pageable: Bools
    step: Rows
    """Step by its place on the device, counted from 0; ABSENT before and behind."""
    event: Rows
    """Host event that handed it over; ABSENT where not recorded."""
    blocks: Ints
    """Thread blocks of a kernel; 0 for others."""
    waited_ns: Ints
    """Part of its length in which it did not work: a kernel while pages of unified memory came, a
    collective until the last of the ranks came that it is known to have met; 0 for others."""


@dataclass(frozen=True)
class HostEvents(Columns):
    """Outermost CUDA calls and calls of the operating system, sorted by start."""

    tid: Ints
    start_ns: Ints
    end_ns: Ints
    kind: Codes
    """ApiKind; OF_SYSTEM for calls of the operating system."""
    name_id: Ints
    own_ns: Ints
    """Time that it takes without what it waits for."""
    previous: Rows
    """The event before on the same thread; ABSENT for the first."""
    gap_ns: Ints
    """From the end of that one to its start, without what the thread waits for."""
    frees: Bools
    """It frees device memory, which waits for the device."""


@dataclass(frozen=True)
class Links(Columns):
    """What nodes wait for, beside the lengths and gaps that operations and events have."""

    before: Rows
    """Node; ORIGIN."""
    after: Rows
    """Node."""
    lag_ns: Ints
    """Shortest time from one to the other."""
    why: Codes
    """Why."""

    @classmethod
    def between(cls, before: Whole, after: Whole, lag_ns: Whole | int, why: Why) -> Self:
        """Links of one sort."""
        size = before.size
        return cls(
            before.astype(np.int32),
            after.astype(np.int32),
            np.broadcast_to(lag_ns, (size,)).astype(np.int64),
            np.full(size, why, dtype=np.int8),
        )

    @classmethod
    def joined(cls, parts: Sequence[Links]) -> Links:
        """All links of several tables."""
        some = [part for part in parts if len(part)]
        if not some:
            return cls.none()
        names = ("before", "after", "lag_ns", "why")
        return cls(*(np.concatenate([getattr(part, name) for part in some]) for name in names))

    def of(self, *sorts: Why) -> Mask:
        """Which links are of some sorts."""
        return np.isin(self.why, sorts)


@dataclass(frozen=True)
class StepGraph:
    """The steady steps of one device, with the host threads that feed it."""

    operations: GraphOperations
    events: HostEvents
    links: Links
    residual_ns: Ints
    """By node: time that nothing in the graph explains."""
    origin_ns: int
    """Nodes up to here stay where they were recorded."""
    steps: int
    """Steps that operations are counted in; the first of them is there to get going."""
    recorded_steps: int
    """Steps of the whole window: more than `steps` where only the last are replayed."""
    multiprocessors: int | None = None
    """Of the device, where recorded."""
    link_bytes_per_ns: float = 55.0
    """What the link to the host moves from pinned memory, where no copy here tells."""

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return 2 * (len(self.operations) + len(self.events))

    @property
    def recorded_ns(self) -> Ints:
        """Recorded time of each node."""
        ops, events = self.operations, self.events
        times = np.empty(self.nodes, dtype=np.int64)
        half = 2 * len(ops)
        times[0:half:2], times[1:half:2] = ops.start_ns, ops.end_ns
        times[half::2], times[half + 1 :: 2] = events.start_ns, events.end_ns
        return times

    @staticmethod
    def start_of(operation: Whole) -> Index:
        """Node at which operations start."""
        return 2 * operation.astype(np.intp)

    @staticmethod
    def end_of(operation: Whole) -> Index:
        """Node at which operations end."""
        return 2 * operation.astype(np.intp) + 1

    def call_start(self, event: Whole) -> Index:
        """Node at which host events start."""
        return 2 * (event.astype(np.intp) + len(self.operations))

    def call_end(self, event: Whole) -> Index:
        """Node at which host events end."""
        return self.call_start(event) + 1

    def with_lengths(self, operation: Index, length_ns: Whole) -> StepGraph:
        """The graph with other lengths of some operations."""
        changed = self.operations.length_ns.copy()
        changed[operation] = length_ns
        return replace(self, operations=replace(self.operations, length_ns=changed))

    def with_own_time(self, event: Index, own_ns: Whole) -> StepGraph:
        """The graph with other own times of some host events."""
        changed = self.events.own_ns.copy()
        changed[event] = own_ns
        return replace(self, events=replace(self.events, own_ns=changed))

    def with_gaps(self, event: Index, gap_ns: Whole) -> StepGraph:
        """The graph with other gaps before some host events."""
        changed = self.events.gap_ns.copy()
        changed[event] = gap_ns
        return replace(self, events=replace(self.events, gap_ns=changed))

    def without_links(self, which: Mask) -> StepGraph:
        """The graph without some links; nothing unexplained is left where one has gone."""
        kept = replace(self, links=self.links.rows(~which))
        return kept.without_residual(self.links.after[which])

    def without_residual(self, node: Whole) -> StepGraph:
        """The graph with nothing unexplained at some nodes."""
        residual = self.residual_ns.copy()
        residual[node] = 0
        return replace(self, residual_ns=residual)

    def with_lags_below(self, which: Mask, lag_ns: int) -> StepGraph:
        """The graph with lags of some links cut to a length."""
        lag = self.links.lag_ns.copy()
        lag[which] = np.minimum(lag[which], lag_ns)
        return replace(self, links=replace(self.links, lag_ns=lag))

    def with_links(self, *more: Links) -> StepGraph:
        """The graph with more links."""
        return replace(self, links=Links.joined([self.links, *more]))
