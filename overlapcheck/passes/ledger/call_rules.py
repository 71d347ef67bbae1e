"""Which CUDA calls hold a thread while the device runs dry, and the reason that each stands for.

A call that only hands work over holds nobody, unless another thread has the driver's lock or
CUDA_LAUNCH_BLOCKING makes every launch wait.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from overlapcheck.api_kinds import HAND_OVERS, ApiKind
from overlapcheck.columns import ABSENT, Codes, Index, Ints, Mask, one_of
from overlapcheck.grouping import distinct, first_rows, ordered
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.order import WITHIN_DEVICE, Operations, Work
from overlapcheck.passes.ledger.rule import Ruling
from overlapcheck.searches import last_at_or_before
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Strings
from overlapcheck.trace_tables import ApiCalls, OsCalls

_COPIES = (Work.H2D, Work.D2H, Work.P2P, Work.D2D)
_WAITS_FOR_A_LOCK = re.compile(r"pthread_(mutex|rwlock|spin)_\w*lock\w*|futex\w*")
# What holds the driver's lock for long.
_LOCKING = (Reason.ALLOCATION, Reason.MODULE_LOAD, Reason.PAGEABLE_COPY, Reason.GRAPH_LAUNCH)


@dataclass(frozen=True)
class Calls:
    """The calls of a process, and what they copied on one device."""

    calls: ApiCalls
    kinds: Codes
    """ApiKind of each call."""
    ops: Operations
    blocking_launches: bool
    limits: Thresholds

    @cached_property
    def length_ns(self) -> Ints:
        """Length of each call."""
        return self.calls.end_ns - self.calls.start_ns

    @cached_property
    def long(self) -> Mask:
        """Calls longer than any that only hands work over."""
        mask: Mask = self.length_ns >= self.limits.long_call_ns
        return mask

    @cached_property
    def copied(self) -> Ints:
        """Operations that were made by a copy call."""
        rows = np.flatnonzero((self.ops.call != ABSENT) & one_of(self.ops.work, _COPIES))
        kinds = self.kinds[self.ops.call[rows]]
        return rows[one_of(kinds, (ApiKind.COPY, ApiKind.SYNC_COPY))]

    @cached_property
    def small(self) -> Mask:
        """Copied operations of calls that copied no more than a few KiB."""
        call = self.ops.call[self.copied]
        # One call may make many rows. Sums of bytes stay exact in a float up to 9 PB.
        total = np.bincount(call, weights=self.ops.bytes[self.copied], minlength=len(self.calls))
        mask: Mask = total[call] <= self.limits.small_copy_bytes
        return mask

    @cached_property
    def staged(self) -> Mask:
        """Copied operations that went through the command buffer: few bytes to the device."""
        mask: Mask = self.small & (self.ops.work[self.copied] == Work.H2D)
        return mask

    @cached_property
    def synchronous(self) -> Mask:
        """Copied operations of a call that waits for them by its name."""
        mask: Mask = self.kinds[self.ops.call[self.copied]] == ApiKind.SYNC_COPY
        return mask

    @cached_property
    def outlasted(self) -> Mask:
        """Copied operations that had ended when their call returned.

        A call that only hands over a short copy may happen to return after it, so the call must be
        longer than nearly all hand-overs: by far, or mostly filled by the copy.
        """
        rows, ops, limits = self.copied, self.ops, self.limits
        called = ops.launch_end_ns[rows] - ops.launch_start_ns[rows]
        filled = 2 * (ops.end_ns[rows] - ops.start_ns[rows]) >= called
        held = (called >= limits.long_call_ns) | (filled & (called >= limits.blocking_call_ns))
        mask: Mask = held & (ops.launch_end_ns[rows] >= ops.end_ns[rows] - limits.submit_slack_ns)
        return mask

    def which_made(self, operations: Ints) -> Mask:
        """The calls that made some operations."""
        mask = np.zeros(len(self.calls), dtype=np.bool_)
        mask[self.ops.call[operations]] = True
        return mask


@dataclass(frozen=True)
class Locks:
    """The same, with the reasons so far."""

    made: Calls
    reason: Codes
    """ABSENT for calls that only hand work over."""
    os_calls: OsCalls
    strings: Strings

    def kept_waiting(self, least_ns: int) -> Index:
        """Calls that only hand work over, and took so long."""
        made = self.made
        kept = (made.length_ns >= least_ns) & one_of(made.kinds, HAND_OVERS)
        return np.flatnonzero(kept & (self.reason == ABSENT))

    def are(self, rows: Index) -> Mask:
        """These calls."""
        mask = np.zeros(len(self.made.calls), dtype=np.bool_)
        mask[rows] = True
        return mask


def blocking_launch(made: Calls) -> Ruling:
    """Every hand-over waits until its work is done."""
    if not made.blocking_launches:
        return Ruling(np.zeros(len(made.calls), dtype=np.bool_), Reason.LAUNCH_BLOCKING)
    return Ruling(one_of(made.kinds, HAND_OVERS), Reason.LAUNCH_BLOCKING)


def small_read_back(made: Calls) -> Ruling:
    """A read-back of a few bytes that returns when it is done is a synchronisation."""
    rows, ops = made.copied, made.ops
    small = (ops.work[rows] == Work.D2H) & made.small
    waits = ops.pageable[rows] | made.synchronous | made.outlasted
    return Ruling(made.which_made(rows[small & waits]), Reason.HOST_SYNC)


def pageable_copy(made: Calls) -> Ruling:
    """A copy of pageable memory is staged in its call."""
    rows = made.copied
    pageable = made.ops.pageable[rows] & ~made.staged
    return Ruling(made.which_made(rows[pageable]), Reason.PAGEABLE_COPY)


def synchronous_copy(made: Calls) -> Ruling:
    """It waits by its name, or returned only when its copy was done, whatever its name.

    A memset or a copy within the device does not wait by its name: it has to outlast its work.
    """
    ops, rows = made.ops, made.kinds == ApiKind.SYNC_COPY
    within = np.flatnonzero((ops.call != ABSENT) & one_of(ops.work, WITHIN_DEVICE))
    within = within[rows[ops.call[within]]]
    slack_ns = made.limits.submit_slack_ns
    went_on = within[ops.launch_end_ns[within] < ops.end_ns[within] - slack_ns]
    rows &= ~made.which_made(went_on)
    return Ruling(rows | made.which_made(made.copied[made.outlasted]), Reason.SYNC_COPY)


def _of_kind(kind: ApiKind, reason: Reason, made: Calls) -> Ruling:
    return Ruling(made.kinds == kind, reason)


def loading_code(made: Calls) -> Ruling:
    """It loads code by its name, or took so long that it must have."""
    asked_for_long = (made.kinds == ApiKind.CODE_QUERY) & made.long
    return Ruling((made.kinds == ApiKind.MODULE_LOAD) | asked_for_long, Reason.MODULE_LOAD)


def other_call(made: Calls) -> Ruling:
    """A long call that puts no work into a queue."""
    return Ruling(made.long & ~one_of(made.kinds, HAND_OVERS), Reason.CUDA_CALL)


synchronisation = partial(_of_kind, ApiKind.SYNC, Reason.HOST_SYNC)
allocation = partial(_of_kind, ApiKind.ALLOCATION, Reason.ALLOCATION)
building_a_graph = partial(_of_kind, ApiKind.GRAPH_BUILD, Reason.GRAPH_LAUNCH)
graph_launch = partial(_of_kind, ApiKind.GRAPH_LAUNCH, Reason.GRAPH_LAUNCH)


def driver_lock(locks: Locks) -> Ruling:
    """Hand-overs that were kept waiting while another thread was in a long driver call.

    thread A   [ cuModuleLoad ............ ]
    thread B          [ cudaLaunchKernel ... ]       ends together with A's call
    """
    calls, limits = locks.made.calls, locks.made.limits
    kept = locks.kept_waiting(limits.long_call_ns)
    holding = np.flatnonzero(locks.made.long & one_of(locks.reason, _LOCKING))
    locked = [kept[:0]]
    for tid in distinct(calls.tid[kept]).tolist():
        mine, others = kept[calls.tid[kept] == tid], holding[calls.tid[holding] != tid]
        busy = Intervals.of(calls.start_ns[others], calls.end_ns[others])
        locked.append(mine[_mostly_in(busy, mine, locks.made)])
    return Ruling(locks.are(np.concatenate(locked)), Reason.DRIVER_LOCK)


def in_a_mutex(locks: Locks) -> Ruling:
    """Long hand-overs that waited for a lock of the process, as the OS calls inside show."""
    calls, os_calls = locks.made.calls, locks.os_calls
    kept = locks.kept_waiting(locks.made.limits.long_call_ns)
    if kept.size == 0:
        return Ruling(locks.are(kept), Reason.DRIVER_LOCK)
    of_locks = locks.strings.matching(
        os_calls.name_id, lambda name: _WAITS_FOR_A_LOCK.fullmatch(name) is not None
    )
    locked = [kept[:0]]
    for tid in distinct(calls.tid[kept]).tolist():
        mine, inside = kept[calls.tid[kept] == tid], of_locks & (os_calls.tid == tid)
        waiting = Intervals.of(os_calls.start_ns[inside], os_calls.end_ns[inside])
        locked.append(mine[_mostly_in(waiting, mine, locks.made)])
    return Ruling(locks.are(np.concatenate(locked)), Reason.DRIVER_LOCK)


def _mostly_in(time: Intervals, rows: Index, made: Calls) -> Mask:
    covered = time.overlap_with(made.calls.start_ns[rows], made.calls.end_ns[rows])
    mask: Mask = covered >= made.limits.lock_cover_share * made.length_ns[rows]
    return mask


def ends_with_another(locks: Locks) -> Ruling:
    """Hand-overs of milliseconds that end when a call of another thread does, begun before them.

    thread A   [ cudaEventRecord .......... ]
    thread B          [ cudaLaunchKernel .... ]
    """
    calls, limits = locks.made.calls, locks.made.limits
    kept = locks.kept_waiting(limits.stuck_call_ns)
    if kept.size == 0:
        return Ruling(locks.are(kept), Reason.DRIVER_LOCK)
    holding = np.flatnonzero(locks.made.long)
    holding = holding[ordered(calls.end_ns[holding])]
    locked = [kept[:0]]
    for tid in distinct(calls.tid[kept]).tolist():
        mine, others = kept[calls.tid[kept] == tid], holding[calls.tid[holding] != tid]
        if others.size == 0:
            continue
        at = last_at_or_before(calls.end_ns[others], calls.end_ns[mine] + limits.submit_slack_ns)
        other = others[at]
        together = at != ABSENT
        together &= calls.end_ns[mine] - calls.end_ns[other] <= limits.drain_slack_ns
        locked.append(mine[together & (calls.start_ns[other] <= calls.start_ns[mine])])
    return Ruling(locks.are(np.concatenate(locked)), Reason.DRIVER_LOCK)


def first_launch(locks: Locks) -> Ruling:
    """The first launch of a kernel, where it took long: the code was loaded inside."""
    made = locks.made
    kept = locks.kept_waiting(made.limits.lazy_load_ns)
    kept = kept[made.kinds[kept] == ApiKind.LAUNCH]
    if kept.size == 0:
        return Ruling(locks.are(kept), Reason.MODULE_LOAD)
    ops = made.ops
    launched = np.flatnonzero((ops.call != ABSENT) & (ops.name_id != ABSENT))
    launched = launched[ordered(ops.name_id[launched], ops.launch_start_ns[launched])]
    first = ops.call[launched[first_rows(ops.name_id[launched])]]
    return Ruling(locks.are(kept[np.isin(kept, first)]), Reason.MODULE_LOAD)


def stuck(locks: Locks) -> Ruling:
    """A hand-over of milliseconds that nothing recorded explains."""
    return Ruling(locks.are(locks.kept_waiting(locks.made.limits.stuck_call_ns)), Reason.CUDA_CALL)
