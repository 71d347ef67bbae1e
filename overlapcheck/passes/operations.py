"""Every operation of one device in one table, with the call that launched it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Bools, Columns, Ints, Mask
from overlapcheck.ledger import Work
from overlapcheck.passes.process import ABSENT_TIME, NO_CALL, CallIndex
from overlapcheck.trace import (
    UNIFIED_KINDS,
    ApiCalls,
    Copies,
    CopyKind,
    Kernels,
    Memsets,
)

_WORK_OF_COPY = {
    CopyKind.HOST_TO_DEVICE: Work.H2D,
    CopyKind.DEVICE_TO_HOST: Work.D2H,
    CopyKind.PEER_TO_PEER: Work.P2P,
    CopyKind.DEVICE_TO_DEVICE: Work.D2D,
    CopyKind.HOST_TO_HOST: Work.D2D,
    CopyKind.UNKNOWN: Work.D2D,
} | dict.fromkeys(UNIFIED_KINDS, Work.MIGRATION)


@dataclass(frozen=True)
class Operations(Columns):
    """Device operations, sorted by (start_ns, end_ns)."""

    start_ns: Ints
    end_ns: Ints
    work: Ints
    """Work."""
    stream: Ints
    """Dense number of the (context, stream)."""
    context_id: Ints
    stream_id: Ints
    name_id: Ints
    """Kernel name; ABSENT for copies and memsets."""
    bytes: Ints
    pageable: Bools
    step: Ints
    """Step of a kernel; -1 for none and for copies."""
    call: Ints
    """Row of the launch call; NO_CALL where not recorded."""
    launch_start_ns: Ints
    """ABSENT_TIME where not recorded."""
    launch_end_ns: Ints
    tid: Ints


def operations(
    kernels: Kernels,
    communication: Mask,
    kernel_step: Ints,
    copies: Copies,
    memsets: Memsets,
    calls: ApiCalls,
) -> Operations:
    """All operations of a device.

    Args:
        kernels: the device's kernels, collectives and graph blocks.
        communication: which of them are communication.
        kernel_step: step of each.
        copies: the device's copies.
        memsets: the device's memsets.
        calls: the process's CUDA calls.
    """
    work = np.concatenate(
        (
            np.where(communication, Work.COMMUNICATION, Work.COMPUTE),
            _copy_work(copies),
            np.full(len(memsets), Work.MEMSET, dtype=np.int64),
        )
    ).astype(np.int64)
    context = _joined(kernels.context_id, copies.context_id, memsets.context_id)
    stream_id = _joined(kernels.stream_id, copies.stream_id, memsets.stream_id)
    # Migrations carry zeroes for ids: a stream of their own, which nothing else waits in.
    key = np.where(work == Work.MIGRATION, -1, context * (1 << 32) + stream_id)
    correlation = _joined(kernels.correlation_id, copies.correlation_id, memsets.correlation_id)
    call = CallIndex(calls).rows(correlation).astype(np.int64)
    none = np.full(len(copies) + len(memsets), ABSENT, dtype=np.int64)
    table = Operations(
        start_ns=_joined(kernels.start_ns, copies.start_ns, memsets.start_ns),
        end_ns=_joined(kernels.end_ns, copies.end_ns, memsets.end_ns),
        work=work,
        stream=np.unique(key, return_inverse=True)[1].astype(np.int64),
        context_id=context,
        stream_id=stream_id,
        name_id=_joined(kernels.name_id, none),
        bytes=_joined(np.zeros(len(kernels), dtype=np.int64), copies.bytes, memsets.bytes),
        pageable=np.concatenate(
            (
                np.zeros(len(kernels), dtype=bool),
                copies.pageable,
                np.zeros(len(memsets), dtype=bool),
            )
        ),
        step=_joined(kernel_step.astype(np.int64), none),
        call=call,
        launch_start_ns=_of_call(calls.start_ns, call, ABSENT_TIME),
        launch_end_ns=_of_call(calls.end_ns, call, ABSENT_TIME),
        tid=_of_call(calls.tid, call, ABSENT),
    )
    return table.rows(np.lexsort((table.end_ns, table.start_ns)))


def _joined(*parts: Ints) -> Ints:
    return np.concatenate(parts)


def _of_call(column: Ints, call: Ints, otherwise: int) -> Ints:
    if column.size == 0:
        return np.full(call.shape, otherwise, dtype=np.int64)
    return np.where(call == NO_CALL, otherwise, column[np.maximum(call, 0)])


def _copy_work(copies: Copies) -> Ints:
    work = np.full(len(copies), Work.D2D, dtype=np.int64)
    for kind, meaning in _WORK_OF_COPY.items():
        work[copies.kind == kind] = meaning
    return work
