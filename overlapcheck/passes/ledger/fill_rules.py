"""Why compute had to wait for an operation: rules about what ran, and why it ran so late.

s7    q ####·········#### k
s13         [ copy ]              k waited for the copy: pageable? behind what? issued late?
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from overlapcheck.columns import (
    ABSENT,
    ABSENT_TIME,
    Codes,
    Index,
    Ints,
    Mask,
    Rows,
    distinct,
    last_at_or_before,
    one_of,
    taken,
)
from overlapcheck.intervals import covering
from overlapcheck.ledger import Reason
from overlapcheck.order import LINK_COPIES, WITHIN_DEVICE, Operations, Relation, Work
from overlapcheck.passes.ledger.idle_walk import Part, Parts
from overlapcheck.passes.ledger.ledger_input import DIRECTION_OF_WORK, LedgerInput
from overlapcheck.passes.ledger.rule import Ruling

# Reasons of calls that return when the device is done.
_DEVICE_WAITS = (Reason.HOST_SYNC, Reason.SYNC_COPY, Reason.ALLOCATION, Reason.LAUNCH_BLOCKING)


@dataclass(frozen=True)
class Fills:
    """Parts of idle pieces in which an operation ran that compute waited for, by time."""

    rows: Index
    """Of `parts`."""
    parts: Parts
    host_reason: Codes
    """Of each part in which the host was late, why; ABSENT for others. Shape (parts,)."""
    host_call: Rows
    """The call to blame for it, shape (parts,)."""
    given: LedgerInput

    @property
    def ops(self) -> Operations:
        """The device's operations."""
        return self.given.ops

    @cached_property
    def op(self) -> Rows:
        """Row of the operation that ran."""
        return self.parts.operation[self.rows]

    @cached_property
    def work(self) -> Codes:
        """Its Work."""
        return self.ops.work[self.op]

    @cached_property
    def is_copy(self) -> Mask:
        """It used the link."""
        return one_of(self.work, LINK_COPIES)

    @cached_property
    def began_before(self) -> Mask:
        """It ran already when compute ended."""
        mask: Mask = self.ops.start_ns[self.op] < self.parts.start_ns[self.rows]
        return mask

    @cached_property
    def before(self) -> Rows:
        """What it had to wait for itself; ABSENT."""
        return self.given.depends.predecessor[self.op]

    @cached_property
    def issued_late(self) -> Mask:
        """It was submitted only after what it had to wait for had ended."""
        ended = taken(self.ops.end_ns, self.before, ABSENT_TIME)
        slack_ns = self.given.limits.submit_slack_ns
        mask: Mask = self.given.submit_ns[self.op] > ended + slack_ns
        return mask

    @cached_property
    def host_part(self) -> Ints:
        """The nearest earlier part of the same piece in which the host was late; ABSENT."""
        piece = self.parts.piece
        own = np.where(self.host_reason != ABSENT, np.arange(len(self.parts)), ABSENT)
        latest = np.maximum.accumulate(own)[self.rows]
        same = (latest != ABSENT) & (piece[latest] == piece[self.rows])
        return np.where(same, latest, ABSENT)

    @cached_property
    def follows_host(self) -> Mask:
        """The host was late before it in its piece."""
        mask: Mask = self.is_copy & (self.host_part != ABSENT) & ~self.began_before
        return mask


def collective(fills: Fills) -> Ruling:
    """A collective ran."""
    return Ruling(fills.work == Work.COMMUNICATION, Reason.EXPOSED_COLLECTIVE)


def within_device(fills: Fills) -> Ruling:
    """A copy within the device, or a memset, ran."""
    return Ruling(one_of(fills.work, WITHIN_DEVICE), Reason.DEVICE_COPY)


def small_read_back(fills: Fills) -> Ruling:
    """A read-back of a few bytes serves whoever waits for it, from whatever memory."""
    small = fills.ops.bytes[fills.op] <= fills.given.limits.small_copy_bytes
    return Ruling((fills.work == Work.D2H) & small, Reason.HOST_SYNC, fills.ops.call[fills.op])


def pageable(fills: Fills) -> Ruling:
    """What a copy is outweighs when it came: its memory is pageable."""
    rows = fills.is_copy & fills.ops.pageable[fills.op]
    return Ruling(rows, Reason.PAGEABLE_COPY, fills.ops.call[fills.op])


def synchronous(fills: Fills) -> Ruling:
    """The call of the copy returned only when it was done."""
    call, held = fills.ops.call[fills.op], fills.given.host.held
    rows = np.isin(call, held.call[held.reason == Reason.SYNC_COPY])
    return Ruling(fills.is_copy & rows, Reason.SYNC_COPY, call)


def waited_for_by_host(fills: Fills) -> Ruling:
    """Nothing on the device waited for it, but the host, before it launched what follows.

    device    ####[ d2h ]      ####
    thread        [ sync ]  [L]          what follows was launched only after the sync
    """
    parts, rows, held = fills.parts, fills.rows, fills.given.host.held
    following = np.minimum(rows + 1, len(parts) - 1)
    awaited = fills.is_copy & (following > rows) & (parts.part[following] == Part.HOST)
    awaited &= parts.piece[following] == parts.piece[rows]
    mine = np.flatnonzero(awaited)
    tid = fills.ops.tid[parts.operation[following[mine]]]
    middle = (parts.start_ns[rows[mine]] + parts.end_ns[rows[mine]]) // 2
    row = np.full(rows.size, ABSENT, dtype=np.int64)
    for thread in distinct(tid).tolist():
        first, calls = held.from_row_of(thread), held.of_thread(thread)
        own = tid == thread
        at = covering(calls.start_ns, calls.end_ns, middle[own])
        row[mine[own]] = np.where(at == ABSENT, ABSENT, first + at)
    reason = taken(held.reason, row, Reason.UNEXPLAINED)
    return Ruling(one_of(reason, _DEVICE_WAITS), reason, taken(held.call, row, ABSENT))


def issued_after_a_wait(fills: Fills) -> Ruling:
    """It ran on from under compute, for it was issued late: right after a call that held the host.

    device    ####[ h2d   ]####
    thread    [ sync ][C]                the copy was issued only after the sync
    """
    ops, held, limits = fills.ops, fills.given.host.held, fills.given.limits
    issue = ops.launch_start_ns[fills.op]
    row = np.full(issue.size, ABSENT, dtype=np.int64)
    late = fills.is_copy & fills.began_before & fills.issued_late
    for thread in distinct(ops.tid[fills.op[late]]).tolist():
        calls = held.of_thread(thread)
        mine = np.flatnonzero(late & (ops.tid[fills.op] == thread))
        at = last_at_or_before(calls.end_ns, issue[mine])
        close = (at != ABSENT) & (issue[mine] - taken(calls.end_ns, at, 0) <= limits.drain_slack_ns)
        close &= taken(calls.reason, at, Reason.GRAPH_LAUNCH) != Reason.GRAPH_LAUNCH
        row[mine[close]] = held.from_row_of(thread) + at[close]
    reason = taken(held.reason, row, Reason.UNEXPLAINED)
    return Ruling(row != ABSENT, reason, taken(held.call, row, ABSENT))


def after_late_host(fills: Fills) -> Ruling:
    """It, or what it queued behind, was issued too late by the host."""
    reason, call = fills.host_reason[fills.host_part], fills.host_call[fills.host_part]
    return Ruling(fills.follows_host, reason, call)


def _outlasts_compute(fills: Fills, *, bound: bool) -> Mask:
    """Copies that ran on from under compute though nothing but copies held them up."""
    behind_copy = one_of(taken(fills.ops.work, fills.before, Work.NONE), LINK_COPIES)
    free = behind_copy | fills.issued_late | (fills.before == ABSENT)
    mask: Mask = fills.is_copy & fills.began_before & free
    for work, direction in DIRECTION_OF_WORK.items():
        copies = fills.given.copies.get(direction)
        too_much = copies is not None and copies.copy_ns >= copies.compute_ns
        if too_much is not bound:
            mask &= fills.work != work
    return mask


def too_much_data(fills: Fills) -> Ruling:
    """It outlasts compute, and its direction copies longer than the device computes."""
    return Ruling(_outlasts_compute(fills, bound=True), Reason.COPY_BOUND)


def issued_too_late(fills: Fills) -> Ruling:
    """It outlasts compute that would have been long enough."""
    return Ruling(_outlasts_compute(fills, bound=False), Reason.LATE_ISSUE)


def _ordered(relation: Relation, reason: Reason, fills: Fills) -> Ruling:
    return Ruling(fills.is_copy & (fills.given.depends.relation[fills.op] == relation), reason)


behind_its_stream = partial(_ordered, Relation.STREAM, Reason.SAME_STREAM)
behind_an_event = partial(_ordered, Relation.EVENT, Reason.EVENT_WAIT)
behind_the_null_stream = partial(_ordered, Relation.NULL_STREAM, Reason.DEFAULT_STREAM)
behind_its_engine = partial(_ordered, Relation.ENGINE, Reason.COPY_ENGINE)
