"""CUDA calls that can hold a thread while the device runs dry, each with the reason it stands for.

A call that only hands work over holds nobody, unless another thread has the driver's lock or
CUDA_LAUNCH_BLOCKING makes every launch wait.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import (
    ABSENT,
    Codes,
    Columns,
    Ints,
    Mask,
    Rows,
    distinct,
    narrow,
    one_of,
    ordered,
)
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.order import Operations, Work
from overlapcheck.passes.process import ProcessTables
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import ApiCalls

_REASON_OF_KIND = {
    ApiKind.SYNC: Reason.HOST_SYNC,
    ApiKind.ALLOCATION: Reason.ALLOCATION,
    ApiKind.MODULE_LOAD: Reason.MODULE_LOAD,
    ApiKind.GRAPH_LAUNCH: Reason.GRAPH_LAUNCH,
    ApiKind.SYNC_COPY: Reason.SYNC_COPY,
}
_HAND_OVERS = (ApiKind.LAUNCH, ApiKind.COPY, ApiKind.MEMSET)


@dataclass(frozen=True)
class HeldCalls(Columns):
    """Calls with a reason, sorted by (tid, start), disjoint within a thread."""

    tid: Ints
    start_ns: Ints
    end_ns: Ints
    reason: Codes
    """Reason."""
    call: Rows
    """Row of the call."""

    def of_thread(self, tid: int) -> HeldCalls:
        """The calls of one thread."""
        return self.rows(slice(self.from_row_of(tid), self.from_row_of(tid + 1)))

    def from_row_of(self, tid: int) -> int:
        """Row of the first call of a thread, or where it would be."""
        return int(np.searchsorted(self.tid, tid))


def launches_block(ops: Operations, environment_value: str | None, limits: Thresholds) -> bool:
    """Whether launches wait for their kernels: the debug variable, or its unmistakable pattern."""
    if environment_value is not None and environment_value not in ("", "0"):
        return True
    kernels = (ops.work == Work.COMPUTE) & (ops.call != ABSENT)
    count = int(kernels.sum())
    waited = int((ops.launch_end_ns[kernels] >= ops.end_ns[kernels]).sum())
    least, share = limits.blocking_launches_least, limits.blocking_launches_share
    return count >= least and waited >= share * count


def held_calls(
    process: ProcessTables, ops: Operations, blocking_launches: bool, limits: Thresholds
) -> HeldCalls:
    """All calls that stand for a reason.

    Args:
        process: for its calls.
        ops: the device's operations, which tell what a copy call copied.
        blocking_launches: whether launches wait for their kernels.
        limits: what is small, and what is long.
    """
    calls, kinds = process.calls, process.call_kind
    reason = np.full(len(calls), ABSENT, dtype=np.int8)
    for kind, meaning in _REASON_OF_KIND.items():
        reason[kinds == kind] = meaning
    copied = np.flatnonzero((ops.call != ABSENT) & _is_copy(ops))
    rows = ops.call[copied]
    is_copy_call = one_of(kinds[rows], (ApiKind.COPY, ApiKind.SYNC_COPY))
    small_back = (ops.work[copied] == Work.D2H) & (ops.bytes[copied] <= limits.small_copy_bytes)
    pageable = ops.pageable[copied]
    reason[rows[is_copy_call & pageable]] = Reason.PAGEABLE_COPY
    synchronous = kinds[rows] == ApiKind.SYNC_COPY
    reason[rows[is_copy_call & small_back & (pageable | synchronous)]] = Reason.HOST_SYNC
    if blocking_launches:
        reason[one_of(kinds, _HAND_OVERS)] = Reason.LAUNCH_BLOCKING
    else:
        _mark_driver_locks(process, reason, limits)
    return _disjoint(calls, reason)


def _is_copy(ops: Operations) -> Mask:
    return one_of(ops.work, (Work.H2D, Work.D2H, Work.P2P, Work.D2D))


def _mark_driver_locks(process: ProcessTables, reason: Codes, limits: Thresholds) -> None:
    """Hand-overs that were kept waiting while another thread was in a long driver call.

    thread A   [ cuModuleLoad ............ ]
    thread B          [ cudaLaunchKernel ... ]       ends together with A's call
    """
    calls, kinds = process.calls, process.call_kind
    length = calls.end_ns - calls.start_ns
    suspects = np.flatnonzero(
        one_of(kinds, _HAND_OVERS) & (reason == ABSENT) & (length >= limits.long_call_ns)
    )
    holding = np.flatnonzero(
        (length >= limits.long_call_ns)
        & one_of(
            reason,
            (Reason.ALLOCATION, Reason.MODULE_LOAD, Reason.PAGEABLE_COPY, Reason.GRAPH_LAUNCH),
        )
    )
    for tid in distinct(calls.tid[suspects]).tolist():
        mine = suspects[calls.tid[suspects] == tid]
        others = holding[calls.tid[holding] != tid]
        locked = Intervals.of(calls.start_ns[others], calls.end_ns[others])
        covered = locked.overlap_with(calls.start_ns[mine], calls.end_ns[mine])
        reason[mine[covered >= limits.lock_cover_share * length[mine]]] = Reason.DRIVER_LOCK


def _disjoint(calls: ApiCalls, reason: Codes) -> HeldCalls:
    """Sort by thread and start, and leave out calls inside a call that is held already."""
    rows = np.flatnonzero(reason != ABSENT)
    rows = rows[ordered(calls.tid[rows], calls.start_ns[rows], -calls.end_ns[rows])]
    if rows.size:
        tid, end = calls.tid[rows], calls.end_ns[rows]
        new_thread = np.concatenate(([True], tid[1:] != tid[:-1]))
        reach = _reach_within(end, np.cumsum(new_thread))
        before = np.concatenate(([np.iinfo(np.int64).min], reach[:-1]))
        rows = rows[new_thread | (calls.start_ns[rows] >= before)]
    return HeldCalls(
        tid=calls.tid[rows],
        start_ns=calls.start_ns[rows],
        end_ns=calls.end_ns[rows],
        reason=reason[rows],
        call=narrow(rows),
    )


def _reach_within(end: Ints, group: Ints) -> Ints:
    """Running maximum of end, starting anew with each group (groups ascend)."""
    origin = int(end.min())
    span = int(end.max()) - origin + 1
    return np.maximum.accumulate(end - origin + group * span) - group * span + origin
