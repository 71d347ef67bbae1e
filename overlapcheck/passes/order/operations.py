"""Every operation of one process in one table, with the call that launched it."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from overlapcheck.columns import (
    ABSENT,
    ABSENT_TIME,
    Codes,
    Ints,
    Mask,
    compact,
    constant,
    is_constant,
    joined,
    narrow,
)
from overlapcheck.grouping import groups, ordered
from overlapcheck.kinds import UNIFIED_KINDS, CopyKind
from overlapcheck.order import Operations, Work
from overlapcheck.passes.process import ProcessTables
from overlapcheck.searches import taken
from overlapcheck.trace_tables import Copies

_Value = TypeVar("_Value", bound=np.generic)

_WORK_OF_COPY = {
    CopyKind.HOST_TO_DEVICE: Work.H2D,
    CopyKind.DEVICE_TO_HOST: Work.D2H,
    CopyKind.PEER_TO_PEER: Work.P2P,
    CopyKind.DEVICE_TO_DEVICE: Work.D2D,
    CopyKind.HOST_TO_HOST: Work.D2D,
    CopyKind.UNKNOWN: Work.D2D,
} | dict.fromkeys(UNIFIED_KINDS, Work.MIGRATION)


def operations(process: ProcessTables, communication: Mask) -> Operations:
    """All operations of a process.

    Args:
        process: its tables.
        communication: which of its kernels are communication, shape (kernels,).
    """
    kernels, memsets, calls = process.kernels, process.memsets, process.calls
    copies = _each_once(process.copies)
    start = _joined(kernels.start_ns, copies.start_ns, memsets.start_ns)
    end = _joined(kernels.end_ns, copies.end_ns, memsets.end_ns)
    order = ordered(start, end)

    def column(*parts: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
        # Put in order one by one: a large trace needs the room.
        (values,) = joined([(part,) for part in parts])
        return values if is_constant(values) else compact(values[order])

    def of_copies(values: Ints) -> Ints:
        if (values == ABSENT).all():
            return constant(ABSENT, order.size)
        return column(constant(ABSENT, len(kernels)), values, no_memset)

    kinds = np.where(communication, Work.COMMUNICATION, Work.COMPUTE).astype(np.int8)
    memset = np.full(len(memsets), Work.MEMSET, dtype=np.int8)
    work = column(kinds, _copy_work(copies), memset)
    context = column(kernels.context_id, copies.context_id, memsets.context_id)
    stream_id = column(kernels.stream_id, copies.stream_id, memsets.stream_id)
    no_kernel, no_copy = constant(0, len(kernels)), constant(ABSENT, len(copies))
    no_memset = constant(ABSENT, len(memsets))
    peer = copies.kind == CopyKind.PEER_TO_PEER
    call = column(
        narrow(process.kernel_call),
        narrow(process.launches.rows(copies.correlation_id)),
        narrow(process.launches.rows(memsets.correlation_id)),
    )
    return Operations(
        start_ns=start[order],
        end_ns=end[order],
        work=work,
        device_id=column(kernels.device_id, copies.device_id, memsets.device_id),
        peer_source_id=of_copies(np.where(peer, copies.source_device_id, ABSENT)),
        peer_destination_id=of_copies(np.where(peer, copies.destination_device_id, ABSENT)),
        stream=compact(_streams(work, context, stream_id)),
        context_id=context,
        stream_id=stream_id,
        name_id=column(kernels.name_id, no_copy, no_memset),
        bytes=column(no_kernel, copies.bytes, memsets.bytes),
        pageable=column(no_kernel == 1, copies.pageable, no_memset == 1),
        call=call,
        launch_start_ns=taken(calls.start_ns, call, ABSENT_TIME),
        launch_end_ns=taken(calls.end_ns, call, ABSENT_TIME),
        tid=compact(taken(calls.tid, call, ABSENT)),
    )


def _each_once(copies: Copies) -> Copies:
    """Copies without the second record that CUPTI has of some peer copies."""
    peers = np.flatnonzero(copies.kind == CopyKind.PEER_TO_PEER)
    if peers.size < 2:
        return copies
    unnamed = (copies.source_device_id == ABSENT) & (copies.destination_device_id == ABSENT)
    # Where the devices are not named, a copy is known by the one that it was recorded on.
    device = np.where(unnamed, copies.device_id, ABSENT)
    keys = (copies.start_ns, copies.end_ns, copies.correlation_id, copies.bytes, device)
    first, _ = groups(*(key[peers] for key in keys))
    repeated = np.zeros(len(copies), dtype=bool)
    repeated[peers] = True
    repeated[peers[first]] = False
    return copies.rows(~repeated) if repeated.any() else copies


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


def _copy_work(copies: Copies) -> Codes:
    work = np.full(len(copies), Work.D2D, dtype=np.int8)
    for kind, meaning in _WORK_OF_COPY.items():
        work[copies.kind == kind] = meaning
    return work
