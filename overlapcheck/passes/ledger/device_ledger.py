"""The idle ledger of one device, from the trace's tables: dependencies, walk, reasons."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from overlapcheck.clocks import on_device_clock
from overlapcheck.columns import ABSENT, ABSENT_TIME, Ints, Mask, Rows, is_in, one_of
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.order import Operations, Order, Work
from overlapcheck.passes.clock_skew import clock_skew_ns
from overlapcheck.passes.ledger.hand_over import submit_times
from overlapcheck.passes.ledger.hardware_queues import HardwareQueues
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.ledger.held_calls import held_calls, launches_block
from overlapcheck.passes.ledger.host_timeline import Launched, host_timeline
from overlapcheck.passes.ledger.idle_ledger import idle_ledger
from overlapcheck.passes.ledger.idle_walk import Ground, walk
from overlapcheck.passes.ledger.ledger_input import LedgerInput
from overlapcheck.passes.order.dependencies import OnDevice, dependencies
from overlapcheck.passes.process import ProcessTables
from overlapcheck.passes.window.window import Steps
from overlapcheck.thresholds import Thresholds

LAUNCH_BLOCKING = "CUDA_LAUNCH_BLOCKING"
_HANDED_OVER_BEFORE = (
    Reason.HOST_SYNC,
    Reason.PAGEABLE_COPY,
    Reason.SYNC_COPY,
    Reason.LAUNCH_BLOCKING,
)


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


@dataclass(frozen=True)
class Timed:
    """The operations of a device, and how their times and the host's lie to each other."""

    order: Order
    """Of the process."""
    own: OnDevice
    launches_block: bool
    """Whether launches wait for their kernels."""
    clock_skew_ns: int
    """By how much the device's clock is ahead of the host's at least; negative where behind."""

    @classmethod
    def of(
        cls,
        process: ProcessTables,
        order: Order,
        device_id: int,
        environment: Mapping[str, str],
        limits: Thresholds,
    ) -> Timed:
        """The operations of one device of a process."""
        own = OnDevice.of(order, device_id)
        blocking = launches_block(own.ops, environment.get(LAUNCH_BLOCKING), limits)
        skew_ns = clock_skew_ns(
            order, device_id, process.calls, limits, launches_return=not blocking
        )
        return cls(order, own, blocking, skew_ns)


def device_ledger(
    process: ProcessTables, device: Timed, around: Surroundings, limits: Thresholds
) -> IdleLedger:
    """Give every idle nanosecond of a device a reason.

    Args:
        process: the process's tables.
        device: the device's operations, in their order.
        around: what may explain the idle time.
        limits: the numbers that decide.
    """
    own = device.own
    depends = dependencies(device.order, own, limits)
    if device.clock_skew_ns:
        process, own = _on_device_clock(process, own, device.clock_skew_ns)
    calls, ops = process.calls, own.ops
    held = held_calls(process, ops, device.launches_block, limits)
    submit_ns = submit_times(ops, _returns_when_done(ops, held), limits)
    launched = Launched(ops, submit_ns, around.idle, around.steps.window)
    slack_ns, latency_ns = limits.submit_slack_ns, limits.start_latency_ns
    with ThreadPoolExecutor(1) as beside:
        ground = Ground(ops, depends, submit_ns, slack_ns, latency_ns)
        walking = beside.submit(walk, ground, around.idle)
        host = host_timeline(process, held, launched, limits)
        parts = walking.result()
    given = LedgerInput(
        device=own,
        step=_steps(ops, around.steps),
        depends=depends,
        submit_ns=submit_ns,
        host=host,
        calls=calls,
        os_calls=process.os_calls,
        mpi_calls=process.mpi_calls,
        copies=around.copies,
        one_copy_engine=around.one_copy_engine,
        queues=HardwareQueues.of(process, ops, around.steps.window, around.environment),
        migrations=around.migrations,
        other_processes=around.other_processes,
        window=around.steps.window,
        site_of_call=around.site_of_call,
        limits=limits,
    )
    return idle_ledger(parts, given)


def _on_device_clock(
    process: ProcessTables, own: OnDevice, skew_ns: int
) -> tuple[ProcessTables, OnDevice]:
    """What the host did, at the times that the device's clock showed."""
    ops = own.ops
    known = ops.launch_start_ns != ABSENT_TIME
    moved = replace(
        ops,
        launch_start_ns=ops.launch_start_ns + known * skew_ns,
        launch_end_ns=ops.launch_end_ns + known * skew_ns,
    )
    process = replace(
        process,
        calls=on_device_clock(process.calls, skew_ns),
        os_calls=on_device_clock(process.os_calls, skew_ns),
        mpi_calls=on_device_clock(process.mpi_calls, skew_ns),
        overheads=on_device_clock(process.overheads, skew_ns),
    )
    return process, OnDevice(moved, own.rows)


def _steps(ops: Operations, steps: Steps) -> Rows:
    """Step of each operation; ABSENT for none and for all but kernels."""
    step = np.full(len(ops), ABSENT, dtype=np.int32)
    # Kernels are in the order of their table.
    step[one_of(ops.work, (Work.COMPUTE, Work.COMMUNICATION))] = steps.kernel_step
    return step


def _returns_when_done(ops: Operations, held: HeldCalls) -> Mask:
    """Operations of calls that held their thread, so that it had handed them over before."""
    held_before = held.call[one_of(held.reason, _HANDED_OVER_BEFORE)]
    mask: Mask = is_in(ops.call, held_before) & (ops.call != ABSENT)
    return mask
