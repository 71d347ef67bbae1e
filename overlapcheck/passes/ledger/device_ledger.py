"""The idle ledger of one device, from the trace's tables: dependencies, walk, reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Codes, Ints, Mask, Rows, one_of, taken
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger
from overlapcheck.order import Operations, Order, Work
from overlapcheck.passes.ledger.held_calls import held_calls, launches_block
from overlapcheck.passes.ledger.host_timeline import Launched, host_timeline
from overlapcheck.passes.ledger.idle_ledger import idle_ledger
from overlapcheck.passes.ledger.idle_walk import submit_times
from overlapcheck.passes.ledger.ledger_input import LedgerInput
from overlapcheck.passes.order.dependencies import OnDevice, dependencies
from overlapcheck.passes.process import DeviceTables, ProcessTables
from overlapcheck.passes.window.window import Steps
from overlapcheck.thresholds import Thresholds

LAUNCH_BLOCKING = "CUDA_LAUNCH_BLOCKING"


@dataclass(frozen=True)
class Surroundings:
    """What else is known of a device's time: all that may explain it."""

    steps: Steps
    """Steps of its kernels, and the window."""
    idle: Intervals
    """Its idle time in the window."""
    copies: dict[Direction, CopyOverlap]
    one_copy_engine: bool
    """Whether copies in and out take turns."""
    migrations: Intervals
    other_processes: Intervals
    """Kernels of other processes on the same GPU."""
    environment: Mapping[str, str]
    """Variables of the program that matter."""
    site_of_call: Ints
    """Where in the program each call was made."""


def device_ledger(
    process: ProcessTables,
    device: DeviceTables,
    order: Order,
    around: Surroundings,
    limits: Thresholds,
) -> IdleLedger:
    """Give every idle nanosecond of a device a reason.

    Args:
        process: the process's tables.
        device: the device's rows.
        order: the operations of the process and the edges between them.
        around: what may explain the idle time.
        limits: the numbers that decide.
    """
    calls, kinds = process.calls, process.call_kind
    own = OnDevice.of(order, device.device_id)
    ops = own.ops
    blocking_launches = launches_block(ops, around.environment.get(LAUNCH_BLOCKING), limits)
    held = held_calls(process, ops, blocking_launches, limits)
    submit_ns = submit_times(ops, _returns_when_done(ops, kinds, blocking_launches))
    launched = Launched(ops, submit_ns, around.idle, around.steps.window)
    given = LedgerInput(
        device=own,
        step=_steps(ops, around.steps),
        depends=dependencies(order, own, limits),
        submit_ns=submit_ns,
        host=host_timeline(process, held, launched, limits),
        calls=calls,
        os_calls=process.os_calls,
        copies=around.copies,
        one_copy_engine=around.one_copy_engine,
        migrations=around.migrations,
        other_processes=around.other_processes,
        window=around.steps.window,
        site_of_call=around.site_of_call,
        limits=limits,
    )
    return idle_ledger(around.idle, given)


def _steps(ops: Operations, steps: Steps) -> Rows:
    """Step of each operation; ABSENT for none and for all but kernels."""
    step = np.full(len(ops), ABSENT, dtype=np.int32)
    # Kernels are in the order of their table.
    step[one_of(ops.work, (Work.COMPUTE, Work.COMMUNICATION))] = steps.kernel_step
    return step


def _returns_when_done(ops: Operations, kinds: Codes, blocking_launches: bool) -> Mask:
    synchronous = taken(kinds, ops.call, ApiKind.OTHER) == ApiKind.SYNC_COPY
    mask: Mask = synchronous | ops.pageable | blocking_launches
    return mask
