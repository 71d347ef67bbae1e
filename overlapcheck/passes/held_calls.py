"""CUDA calls that can hold a thread while the device runs dry, each with the reason it stands for.

A call that only hands work over holds nobody, unless another thread has the driver's lock or
CUDA_LAUNCH_BLOCKING makes every launch wait.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import Codes, Columns, Ints, Mask, Rows, distinct, narrow, one_of, ordered
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason, Work
from overlapcheck.passes.operations import Operations
from overlapcheck.passes.process import NO_CALL
from overlapcheck.trace import ApiCalls

SMALL_COPY_BYTES = 64 * 1024
"""Up to here a read-back is a synchronisation, and pinning its buffer wins nothing."""
LONG_CALL_NS = 50_000
"""A hand-over this long was kept waiting."""
MIN_LAUNCHES = 20
BLOCKING_SHARE = 0.9

_REASON_OF_KIND = {
    ApiKind.SYNC: Reason.HOST_SYNC,
    ApiKind.ALLOCATION: Reason.ALLOCATION,
    ApiKind.MODULE_LOAD: Reason.MODULE_LOAD,
    ApiKind.GRAPH_LAUNCH: Reason.GRAPH_LAUNCH,
    ApiKind.SYNC_COPY: Reason.SYNC_COPY,
}
_HAND_OVERS = (ApiKind.LAUNCH, ApiKind.COPY, ApiKind.MEMSET)
NOT_HELD = -1


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
        return self.rows(slice(*np.searchsorted(self.tid, (tid, tid + 1)).tolist()))


def launches_block(ops: Operations, environment_value: str | None) -> bool:
    """Whether launches wait for their kernels: the debug variable, or its unmistakable pattern."""
    if environment_value is not None and environment_value not in ("", "0"):
        return True
    kernels = (ops.work == Work.COMPUTE) & (ops.call != NO_CALL)
    count = int(kernels.sum())
    waited = int((ops.launch_end_ns[kernels] >= ops.end_ns[kernels]).sum())
    return count >= MIN_LAUNCHES and waited >= BLOCKING_SHARE * count


def held_calls(
    calls: ApiCalls, kinds: Codes, ops: Operations, blocking_launches: bool
) -> HeldCalls:
    """All calls that stand for a reason.

    Args:
        calls: the process's calls.
        kinds: ApiKind of each.
        ops: the device's operations, which tell what a copy call copied.
        blocking_launches: whether launches wait for their kernels.
    """
    reason = np.full(len(calls), NOT_HELD, dtype=np.int8)
    for kind, meaning in _REASON_OF_KIND.items():
        reason[kinds == kind] = meaning
    copied = np.flatnonzero((ops.call != NO_CALL) & _is_copy(ops))
    rows = ops.call[copied]
    is_copy_call = one_of(kinds[rows], (ApiKind.COPY, ApiKind.SYNC_COPY))
    small_back = (ops.work[copied] == Work.D2H) & (ops.bytes[copied] <= SMALL_COPY_BYTES)
    pageable = ops.pageable[copied]
    reason[rows[is_copy_call & pageable]] = Reason.PAGEABLE_COPY
    synchronous = kinds[rows] == ApiKind.SYNC_COPY
    reason[rows[is_copy_call & small_back & (pageable | synchronous)]] = Reason.HOST_SYNC
    if blocking_launches:
        reason[one_of(kinds, _HAND_OVERS)] = Reason.LAUNCH_BLOCKING
    else:
        _mark_driver_locks(calls, kinds, reason)
    return _disjoint(calls, reason)


def _is_copy(ops: Operations) -> Mask:
    return one_of(ops.work, (Work.H2D, Work.D2H, Work.P2P, Work.D2D))


def _mark_driver_locks(calls: ApiCalls, kinds: Codes, reason: Codes) -> None:
    """Hand-overs that were kept waiting while another thread was in a long driver call.

    thread A   [ cuModuleLoad ............ ]
    thread B          [ cudaLaunchKernel ... ]       ends together with A's call
    """
    length = calls.end_ns - calls.start_ns
    suspects = np.flatnonzero(
        one_of(kinds, _HAND_OVERS) & (reason == NOT_HELD) & (length >= LONG_CALL_NS)
    )
    holding = np.flatnonzero(
        (length >= LONG_CALL_NS)
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
        reason[mine[2 * covered >= length[mine]]] = Reason.DRIVER_LOCK


def _disjoint(calls: ApiCalls, reason: Codes) -> HeldCalls:
    """Sort by thread and start, and leave out calls inside a call that is held already."""
    rows = np.flatnonzero(reason != NOT_HELD)
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
