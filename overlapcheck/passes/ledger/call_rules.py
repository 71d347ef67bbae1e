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
from overlapcheck.order import Operations, Work
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
    small = (ops.work[rows] == Work.D2H) & (ops.bytes[rows] <= made.limits.small_copy_bytes)
    waits = ops.pageable[rows] | (made.kinds[ops.call[rows]] == ApiKind.SYNC_COPY)
    return Ruling(made.which_made(rows[small & waits]), Reason.HOST_SYNC)


def pageable_copy(made: Calls) -> Ruling:
    """A copy of pageable memory is staged in its call."""
    rows = made.copied
    return Ruling(made.which_made(rows[made.ops.pageable[rows]]), Reason.PAGEABLE_COPY)


def _of_kind(kind: ApiKind, reason: Reason, made: Calls) -> Ruling:
    return Ruling(made.kinds == kind, reason)


synchronisation = partial(_of_kind, ApiKind.SYNC, Reason.HOST_SYNC)
allocation = partial(_of_kind, ApiKind.ALLOCATION, Reason.ALLOCATION)
loading_code = partial(_of_kind, ApiKind.MODULE_LOAD, Reason.MODULE_LOAD)
graph_launch = partial(_of_kind, ApiKind.GRAPH_LAUNCH, Reason.GRAPH_LAUNCH)
synchronous_copy = partial(_of_kind, ApiKind.SYNC_COPY, Reason.SYNC_COPY)


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
