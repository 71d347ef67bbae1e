"""Lines of evidence about a whole device, beyond the blamed ledger rows."""

from __future__ import annotations

from overlapcheck.causes._base import Context
from overlapcheck.copies import JUDGED_DIRECTIONS
from overlapcheck.kinds import DeviceKey
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.quantities import bandwidth, count_of, duration, percent, size


def link_use(context: Context) -> list[str]:
    """How full and how fast each direction of the link was."""
    device = context.device
    window_ns = max(device.length_ns, 1)
    share = context.measured.thresholds.link_use_share
    lines = []
    if device.one_copy_engine and 2 * device.link_bound_ns >= window_ns:
        lines.append(
            "the device has one copy engine: copies in and out take turns on it, and fill"
            f" {percent(device.link_bound_ns / window_ns)} of the window"
        )
    for direction in JUDGED_DIRECTIONS:
        copies = device.copies.get(direction)
        # What is busy little of the time is not the bound.
        if copies is None or copies.copy_ns < share * window_ns:
            continue
        lines.append(
            f"{direction} copies run in {percent(copies.copy_ns / window_ns)} of the window:"
            f" {size(copies.bytes)} at {bandwidth(copies.bytes, copies.copy_ns)}"
        )
    return lines


def ceilings(context: Context) -> list[str]:
    """How much of the copies could hide at all."""
    return [
        f"compute runs in {percent(context.device.compute_ns / context.device.length_ns)} of"
        f" it: {percent(copies.overlap)} of the {direction} copy time is hidden, at most"
        f" {percent(copies.ceiling)} can be"
        for direction, copies in context.device.copies.items()
        if direction in JUDGED_DIRECTIONS and (copies.ceiling or 1.0) < 1.0
    ]


def migrations(context: Context) -> list[str]:
    """Unified-memory migrations in the window."""
    return told_migrations(context.device)


def told_migrations(device: DeviceMeasurements) -> list[str]:
    """The same of a device, where no ledger row is blamed."""
    moved = device.migrations
    if not moved.count:
        return []
    return [
        f"{count_of(moved.count, 'migration')} of unified memory, {size(moved.bytes)},"
        f" {duration(moved.busy.total_ns)} together"
    ]


def communication_use(context: Context) -> list[str]:
    """How much of all communication is hidden under compute."""
    device = context.device
    total = device.communication.total_ns
    if not total:
        return []
    return [
        f"{percent(device.communication_hidden_ns / total)} of {duration(total)} of communication"
        " run under compute"
    ]


def streams_in_use(context: Context) -> list[str]:
    """How many streams had work in the window."""
    return [f"{count_of(len(context.device.streams), 'stream')} had work in the window"]


def other_processes(context: Context) -> list[str]:
    """Processes of the same report that run on the same GPU, whatever number they give it."""
    sharing = context.device.shares_gpu_with
    return [
        f"{other.process_name or 'a process'} (pid {other.key.pid}) also runs kernels"
        f" on {_same_gpu(other.key, context.device.key)}"
        for other in context.measured.devices
        if other.key in sharing
    ]


def _same_gpu(other: DeviceKey, own: DeviceKey) -> str:
    if other.device_id == own.device_id:
        return f"device {other.device_id}"
    return f"this GPU, its device {other.device_id}"


def nothing_found(context: Context) -> list[str]:
    """What was looked at in vain, and what could not be looked at."""
    unseen = [
        one.what
        for one in context.measured.not_known
        if one.process == context.device.process and one.causes
    ]
    return [
        *unseen,
        "no call, copy, event wait, collective or other process in the trace accounts for it",
    ]
