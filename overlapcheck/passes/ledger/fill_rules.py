"""Why compute had to wait for an operation: rules about what ran, and why it ran so late.

s7    q ####·········#### k
s13         [ copy ]              k waited for the copy: pageable? behind what? issued late?
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from overlapcheck.columns import ABSENT, ABSENT_TIME, Codes, Index, Ints, Mask, Rows, one_of
from overlapcheck.grouping import distinct, ordered
from overlapcheck.ledger import Reason
from overlapcheck.order import LINK_COPIES, WITHIN_DEVICE, Operations, Relation, Work
from overlapcheck.passes.ledger.hardware_queues import stood_behind
from overlapcheck.passes.ledger.idle_parts import Part, Parts
from overlapcheck.passes.ledger.ledger_input import DIRECTION_OF_WORK, LedgerInput
from overlapcheck.passes.ledger.rule import Ruling
from overlapcheck.searches import covering, last_at_or_before, last_before, taken

_OF_RELATION = np.full(len(Relation), Reason.UNEXPLAINED, dtype=np.int8)
_OF_RELATION[Relation.STREAM] = Reason.SAME_STREAM
_OF_RELATION[Relation.EVENT] = Reason.EVENT_WAIT
_OF_RELATION[Relation.GRAPH] = Reason.EVENT_WAIT
_OF_RELATION[Relation.NULL_STREAM] = Reason.DEFAULT_STREAM
# Reasons of calls that return when the device is done.
DEVICE_WAITS = (Reason.HOST_SYNC, Reason.SYNC_COPY, Reason.ALLOCATION, Reason.LAUNCH_BLOCKING)


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
    def bound(self) -> Mask:
        """It began as soon as that had ended."""
        ended = taken(self.ops.end_ns, self.before, ABSENT_TIME)
        mask: Mask = self.ops.start_ns[self.op] - ended <= self.given.limits.start_latency_ns
        mask &= self.before != ABSENT
        return mask

    @cached_property
    def issued_late(self) -> Mask:
        """It was submitted only after what it had to wait for had ended."""
        ended = taken(self.ops.end_ns, self.before, ABSENT_TIME)
        slack_ns = self.given.limits.submit_slack_ns
        mask: Mask = self.given.submit_ns[self.op] > ended + slack_ns
        return mask

    @cached_property
    def small(self) -> Mask:
        """Its call copied no more than a few KiB in all."""
        call, ops = self.ops.call[self.op], self.ops
        known = np.flatnonzero(ops.call != ABSENT)
        total = np.bincount(ops.call[known], weights=ops.bytes[known], minlength=1)
        bytes_ = np.where(call == ABSENT, ops.bytes[self.op], total[np.maximum(call, 0)])
        mask: Mask = self.is_copy & (bytes_ <= self.given.limits.small_copy_bytes)
        return mask

    @cached_property
    def awaited(self) -> Mask:
        """The host waited for it in a call, and submitted what follows only then."""
        held, limits = self.given.host.held, self.given.limits
        waits = held.rows(one_of(held.reason, DEVICE_WAITS))
        end_ns = self.ops.end_ns[self.op]
        mask = np.zeros(self.op.size, dtype=np.bool_)
        for thread in distinct(waits.tid).tolist():
            calls = waits.of_thread(thread)
            at = covering(calls.start_ns, calls.end_ns, end_ns - limits.clock_slack_ns)
            returned = taken(calls.end_ns, at, 0)
            mask |= (at != ABSENT) & (returned <= end_ns + limits.drain_slack_ns)
        next_ = self.parts.kernel[self.rows]
        submitted_ns = taken(self.given.submit_ns, next_, ABSENT_TIME)
        mask &= (next_ == ABSENT) | (submitted_ns >= end_ns - limits.clock_slack_ns)
        return mask

    @cached_property
    def host_part(self) -> Ints:
        """The nearest earlier part of the same piece in which the host was late; ABSENT."""
        piece = self.parts.piece
        own = np.where(self.host_reason != ABSENT, np.arange(len(self.parts)), ABSENT)
        latest = np.maximum.accumulate(own)[self.rows]
        return np.where(piece[latest] == piece[self.rows], latest, ABSENT)

    @cached_property
    def last_compute_ns(self) -> Ints:
        """End of the last compute operation before it in its stream; ABSENT_TIME for none."""
        ops = self.ops
        in_stream = ordered(ops.stream)
        compute = np.flatnonzero(ops.work[in_stream] == Work.COMPUTE)
        position = np.empty(in_stream.size, dtype=np.intp)
        position[in_stream] = np.arange(in_stream.size)
        at = last_before(compute, position[self.op])
        row = taken(in_stream, taken(compute, at, ABSENT), ABSENT)
        same = (row != ABSENT) & (ops.stream[row] == ops.stream[self.op])
        return np.where(same, ops.end_ns[row], ABSENT_TIME)

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
    """A read-back of a few bytes serves the host that waits for it, from whatever memory."""
    rows = (fills.work == Work.D2H) & fills.small & fills.awaited
    return Ruling(rows, Reason.HOST_SYNC, fills.ops.call[fills.op])


def pageable(fills: Fills) -> Ruling:
    """What a copy is outweighs when it came: its memory is pageable, and more than is staged."""
    staged = fills.small & (fills.work == Work.H2D)
    rows = fills.is_copy & fills.ops.pageable[fills.op] & ~staged
    return Ruling(rows, Reason.PAGEABLE_COPY, fills.ops.call[fills.op])


def synchronous(fills: Fills) -> Ruling:
    """The call of the copy returned only when it was done."""
    call, held = fills.ops.call[fills.op], fills.given.host.held
    rows = np.isin(call, held.call[held.reason == Reason.SYNC_COPY])
    return Ruling(fills.is_copy & rows, Reason.SYNC_COPY, call)


def in_the_compute_stream(fills: Fills) -> Ruling:
    """It stands between two kernels of its stream, whoever waits for it or issued it late.

    s7    ####[ copy ]    ####           without the wait the copy would stand there all the same
    host      [ sync ] [L]
    """
    ops, parts, rows = fills.ops, fills.parts, fills.rows
    kernel, piece = parts.kernel[rows], parts.piece[rows]
    first = np.searchsorted(parts.piece, piece)
    since_ns = parts.start_ns[first] - fills.given.limits.start_latency_ns
    stream = ops.stream[fills.op]
    stands = fills.is_copy & (taken(ops.stream, kernel, ABSENT) == stream)
    stands &= fills.last_compute_ns >= since_ns
    return Ruling(stands & ~fills.began_before, Reason.SAME_STREAM)


def waited_for_by_host(fills: Fills) -> Ruling:
    """Nothing on the device waited for it, but the host, before it launched what follows.

    device    ####[ d2h ]      ####
    thread        [ sync ]  [L]          what follows was launched only after the sync
    """
    parts, rows, held = fills.parts, fills.rows, fills.given.host.held
    following = np.minimum(rows + 1, len(parts) - 1)
    awaited = fills.is_copy & (parts.part[following] == Part.HOST)
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
    return Ruling(one_of(reason, DEVICE_WAITS), reason, taken(held.call, row, ABSENT))


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
        close = issue[mine] - taken(calls.end_ns, at, 0) <= limits.drain_slack_ns
        # Behind a graph launch, as behind no call at all, the thread was not held.
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


def behind_another_device(fills: Fills) -> Ruling:
    """It had waited for work of another device of the process."""
    elsewhere = fills.given.depends.elsewhere[fills.op]
    return Ruling(fills.is_copy & (elsewhere != ABSENT), Reason.EVENT_WAIT)


def _ordered(relation: Relation, reason: Reason, fills: Fills) -> Ruling:
    """It began as soon as what it had to wait for had ended: long after, that held nothing up."""
    rows = fills.is_copy & fills.bound & (fills.given.depends.relation[fills.op] == relation)
    return Ruling(rows, reason)


behind_its_stream = partial(_ordered, Relation.STREAM, Reason.SAME_STREAM)
behind_an_event = partial(_ordered, Relation.EVENT, Reason.EVENT_WAIT)
behind_its_graph = partial(_ordered, Relation.GRAPH, Reason.EVENT_WAIT)
behind_the_null_stream = partial(_ordered, Relation.NULL_STREAM, Reason.DEFAULT_STREAM)
behind_its_engine = partial(_ordered, Relation.ENGINE, Reason.COPY_ENGINE)


def before_all_compute(fills: Fills) -> Ruling:
    """Nothing was computed before it: what counts is by which order compute waited for it."""
    given, ops, parts, rows = fills.given, fills.ops, fills.parts, fills.rows
    computed = np.flatnonzero(ops.work == Work.COMPUTE)
    first_ns = ops.start_ns[computed[0]] if computed.size else ABSENT_TIME
    following = np.minimum(rows + 1, len(parts) - 1)
    inside = (following > rows) & (parts.piece[following] == parts.piece[rows])
    waiting = np.where(inside, parts.operation[following], parts.kernel[rows])
    relation = taken(given.depends.relation, waiting, Relation.NONE)
    relation[taken(given.depends.predecessor, waiting, ABSENT) != fills.op] = Relation.NONE
    reason = _OF_RELATION[relation]
    early = fills.is_copy & (ops.end_ns[fills.op] <= first_ns)
    return Ruling(early & (reason != Reason.UNEXPLAINED), reason)


def behind_unrelated_work(fills: Fills) -> Ruling:
    """Nothing known held it, and it began when an unrelated kernel had ended."""
    given, free = fills.given, np.flatnonzero(fills.is_copy & ~fills.bound)
    behind = stood_behind(fills.op[free], given.ops, given.depends, given.queues, given.limits)
    shown = np.zeros(fills.op.size, dtype=np.bool_)
    ended = taken(given.ops.end_ns, behind, ABSENT_TIME)
    handed_over = given.submit_ns[fills.op[free]] <= ended + given.limits.submit_slack_ns
    shown[free] = handed_over & (taken(given.ops.work, behind, Work.NONE) == Work.COMPUTE)
    return Ruling(shown, Reason.HARDWARE_QUEUE)
