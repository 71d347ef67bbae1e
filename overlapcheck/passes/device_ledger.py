"""The idle ledger of one device, from the trace's tables: dependencies, walk, reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import Codes, Index, Ints, Mask
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger
from overlapcheck.passes.dependencies import dependencies
from overlapcheck.passes.held_calls import held_calls, launches_block
from overlapcheck.passes.host_timeline import host_timeline
from overlapcheck.passes.idle_ledger import idle_ledger
from overlapcheck.passes.idle_walk import submit_times
from overlapcheck.passes.ledger_input import LedgerInput
from overlapcheck.passes.operations import Operations, operations
from overlapcheck.passes.process import NO_CALL, ProcessTables
from overlapcheck.passes.window import Steps
from overlapcheck.trace import Copies, Kernels, Memsets

LAUNCH_BLOCKING = "CUDA_LAUNCH_BLOCKING"


@dataclass(frozen=True)
class DeviceTables:
    """The rows of one device."""

    kernels: Kernels
    kernel_call: Index
    """Row of the call that launched each kernel; NO_CALL."""
    communication: Mask
    copies: Copies
    memsets: Memsets


def device_ledger(
    process: ProcessTables,
    device: DeviceTables,
    steps: Steps,
    idle: Intervals,
    overlaps: dict[Direction, CopyOverlap],
    one_copy_engine: bool,
    migrations: Intervals,
    other_processes: Intervals,
    environment: Mapping[str, str],
    site_of_call: Ints,
) -> IdleLedger:
    """Give every idle nanosecond of a device a reason.

    Args:
        process: the process's tables.
        device: the device's rows.
        steps: steps of its kernels, and the window.
        idle: its idle time in the window.
        overlaps: copies per direction.
        one_copy_engine: whether copies in and out take turns.
        migrations: unified-memory migrations.
        other_processes: kernels of other processes on the same GPU.
        environment: variables of the program that matter.
        site_of_call: where in the program each call was made.
    """
    calls = process.calls
    ops = operations(
        device.kernels,
        device.communication,
        steps.kernel_step,
        device.copies,
        device.memsets,
        calls,
        device.kernel_call,
        process.launches,
    )
    kinds = process.call_kind
    blocking_launches = launches_block(ops, environment.get(LAUNCH_BLOCKING))
    held = held_calls(calls, kinds, ops, blocking_launches)
    submit_ns = submit_times(ops, _returns_when_done(ops, kinds, blocking_launches))
    depends = dependencies(process, ops)
    given = LedgerInput(
        ops=ops,
        depends=depends,
        submit_ns=submit_ns,
        host=host_timeline(
            calls, kinds, held, process.overheads, ops, submit_ns, idle, steps.window
        ),
        calls=calls,
        os_calls=process.os_calls,
        copies=overlaps,
        one_copy_engine=one_copy_engine,
        migrations=migrations,
        other_processes=other_processes,
        window=steps.window,
        site_of_call=site_of_call,
    )
    return idle_ledger(idle, given)


def _returns_when_done(ops: Operations, kinds: Codes, blocking_launches: bool) -> Mask:
    if kinds.size == 0:
        return np.zeros(len(ops), dtype=bool)
    synchronous = (ops.call != NO_CALL) & (kinds[np.maximum(ops.call, 0)] == ApiKind.SYNC_COPY)
    mask: Mask = synchronous | ops.pageable | blocking_launches
    return mask
