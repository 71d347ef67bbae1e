"""Every operation of one device in one table, with the call that launched it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from overlapcheck.columns import (
    ABSENT,
    Bools,
    Codes,
    Columns,
    Index,
    Ints,
    Mask,
    Rows,
    compact,
    constant,
    groups,
    narrow,
    ordered,
)
from overlapcheck.kinds import UNIFIED_KINDS, CopyKind
from overlapcheck.ledger import Work
from overlapcheck.passes.process import ABSENT_TIME, NO_CALL, CallIndex
from overlapcheck.trace import ApiCalls, Copies, Kernels, Memsets

_Value = TypeVar("_Value", bound=np.generic)

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
    work: Codes
    """Work."""
    stream: Ints
    """Dense number of the (context, stream)."""
    context_id: Ints
    stream_id: Ints
    name_id: Ints
    """Kernel name; ABSENT for copies and memsets."""
    bytes: Ints
    pageable: Bools
    step: Rows
    """Step of a kernel; -1 for none and for copies."""
    call: Rows
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
    kernel_call: Index,
    launches: CallIndex,
) -> Operations:
    """All operations of a device.

    Args:
        kernels: the device's kernels, collectives and graph blocks.
        communication: which of them are communication.
        kernel_step: step of each.
        copies: the device's copies.
        memsets: the device's memsets.
        calls: the process's CUDA calls.
        kernel_call: row of the call that launched each kernel.
        launches: finds the others' by correlation id.
    """
    start = _joined(kernels.start_ns, copies.start_ns, memsets.start_ns)
    end = _joined(kernels.end_ns, copies.end_ns, memsets.end_ns)
    order = ordered(start, end)

    def column(*parts: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
        # Put in order one by one: a large trace needs the room.
        return compact(_joined(*parts)[order])

    kinds = np.where(communication, Work.COMMUNICATION, Work.COMPUTE).astype(np.int8)
    memset = np.full(len(memsets), Work.MEMSET, dtype=np.int8)
    work = column(kinds, _copy_work(copies), memset)
    context = column(kernels.context_id, copies.context_id, memsets.context_id)
    stream_id = column(kernels.stream_id, copies.stream_id, memsets.stream_id)
    no_kernel, no_copy = constant(0, len(kernels)), constant(ABSENT, len(copies))
    no_memset = constant(ABSENT, len(memsets))
    call = column(
        narrow(kernel_call),
        narrow(launches.rows(copies.correlation_id)),
        narrow(launches.rows(memsets.correlation_id)),
    )
    return Operations(
        start_ns=start[order],
        end_ns=end[order],
        work=work,
        stream=compact(_streams(work, context, stream_id)),
        context_id=context,
        stream_id=stream_id,
        name_id=column(kernels.name_id, no_copy, no_memset),
        bytes=column(no_kernel, copies.bytes, memsets.bytes),
        pageable=column(no_kernel, copies.pageable.astype(np.int64), no_memset) == 1,
        step=column(narrow(kernel_step), narrow(no_copy), narrow(no_memset)),
        call=call,
        launch_start_ns=_of_call(calls.start_ns, call, ABSENT_TIME),
        launch_end_ns=_of_call(calls.end_ns, call, ABSENT_TIME),
        tid=compact(_of_call(calls.tid, call, ABSENT)),
    )


def _streams(work: Codes, context: Ints, stream_id: Ints) -> Ints:
    """Dense stream numbers, in the order of the ids."""
    of_driver = work == Work.MIGRATION
    if not of_driver.any():
        return groups(context, stream_id)[1]
    # Migrations carry zeroes for ids: a stream of their own, which nothing else waits in.
    own = np.where(of_driver, 0, 1)
    return groups(own, context * own, stream_id * own)[1]


def _joined(*parts: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
    return np.concatenate(parts)


def _of_call(column: Ints, call: Rows, otherwise: int) -> Ints:
    if column.size == 0:
        return np.full(call.shape, otherwise, dtype=np.int64)
    return np.where(call == NO_CALL, otherwise, column[np.maximum(call, 0)])


def _copy_work(copies: Copies) -> Codes:
    work = np.full(len(copies), Work.D2D, dtype=np.int8)
    for kind, meaning in _WORK_OF_COPY.items():
        work[copies.kind == kind] = meaning
    return work
