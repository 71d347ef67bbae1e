"""Which CUDA calls hold a thread while the device runs dry, and the reason that each stands for.

A call that only hands work over holds nobody, unless another thread has the driver's lock or
CUDA_LAUNCH_BLOCKING makes every launch wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Codes, Ints, Mask, distinct, one_of
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.order import WITHIN_DEVICE, Operations, Work
from overlapcheck.passes.ledger.rule import Ruling
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import ApiCalls

_HAND_OVERS = (ApiKind.LAUNCH, ApiKind.COPY, ApiKind.MEMSET)
_COPIES = (Work.H2D, Work.D2H, Work.P2P, Work.D2D)
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
    def copied(self) -> Ints:
        """Operations that were made by a copy call."""
        rows = np.flatnonzero((self.ops.call != ABSENT) & one_of(self.ops.work, _COPIES))
        kinds = self.kinds[self.ops.call[rows]]
        return rows[one_of(kinds, (ApiKind.COPY, ApiKind.SYNC_COPY))]

    @cached_property
    def copied_bytes(self) -> Ints:
        """What the call of each copied operation copied in all: one call may make many rows."""
        call = self.ops.call[self.copied]
        # Sums of bytes stay exact in a float up to 9 PB.
        total = np.bincount(call, weights=self.ops.bytes[self.copied], minlength=len(self.calls))
        return total[call].astype(np.int64)

    @cached_property
    def small(self) -> Mask:
        """Copied operations of calls that copied no more than a few KiB."""
        mask: Mask = self.copied_bytes <= self.limits.small_copy_bytes
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


def blocking_launch(made: Calls) -> Ruling:
    """Every hand-over waits until its work is done."""
    if not made.blocking_launches:
        return Ruling(np.zeros(len(made.calls), dtype=np.bool_), Reason.LAUNCH_BLOCKING)
    return Ruling(one_of(made.kinds, _HAND_OVERS), Reason.LAUNCH_BLOCKING)


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


synchronisation = partial(_of_kind, ApiKind.SYNC, Reason.HOST_SYNC)
allocation = partial(_of_kind, ApiKind.ALLOCATION, Reason.ALLOCATION)
loading_code = partial(_of_kind, ApiKind.MODULE_LOAD, Reason.MODULE_LOAD)
graph_launch = partial(_of_kind, ApiKind.GRAPH_LAUNCH, Reason.GRAPH_LAUNCH)


def driver_lock(locks: Locks) -> Ruling:
    """Hand-overs that were kept waiting while another thread was in a long driver call.

    thread A   [ cuModuleLoad ............ ]
    thread B          [ cudaLaunchKernel ... ]       ends together with A's call
    """
    calls, limits = locks.made.calls, locks.made.limits
    length = calls.end_ns - calls.start_ns
    long = length >= limits.long_call_ns
    kept = np.flatnonzero(long & one_of(locks.made.kinds, _HAND_OVERS) & (locks.reason == ABSENT))
    holding = np.flatnonzero(long & one_of(locks.reason, _LOCKING))
    locked = np.zeros(len(calls), dtype=np.bool_)
    for tid in distinct(calls.tid[kept]).tolist():
        mine, others = kept[calls.tid[kept] == tid], holding[calls.tid[holding] != tid]
        busy = Intervals.of(calls.start_ns[others], calls.end_ns[others])
        covered = busy.overlap_with(calls.start_ns[mine], calls.end_ns[mine])
        locked[mine[covered >= limits.lock_cover_share * length[mine]]] = True
    return Ruling(locked, Reason.DRIVER_LOCK)
