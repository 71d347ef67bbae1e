"""Collectives: one row each, and where the devices of one report met in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overlapcheck.collectives import CollectiveKind, Collectives, collective_kind
from overlapcheck.columns import ABSENT, Ints, Mask, constant
from overlapcheck.grouping import groups
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import DeviceMeasurements, StreamTimeline
from overlapcheck.passes.collectives.nccl_messages import Messages, nccl_messages
from overlapcheck.passes.process import DeviceTables, ProcessTables
from overlapcheck.passes.window.window import Steps
from overlapcheck.rendezvous import (
    Meeting,
    Member,
    attendance,
    communicator_of,
    meetings,
    whole_channels,
)
from overlapcheck.searches import last_before, position_of, taken
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Strings
from overlapcheck.trace_tables import ApiCalls, Kernels


@dataclass(frozen=True)
class InWindow:
    """A device's window, and what ran in it."""

    steps: Steps
    """The window, and the step of each kernel."""
    compute: Intervals
    """The device's compute inside the window."""
    streams: Sequence[StreamTimeline]
    """Its streams, to see which also compute."""
    calls: ApiCalls
    """Of its process, at times of its clock."""


def collectives(
    process: ProcessTables, device: DeviceTables, found: InWindow, limits: Thresholds
) -> Collectives:
    """One row per communication kernel that touches the window.

    Args:
        process: whose calls launched them.
        device: the rows of one of its devices.
        found: the device's window, and what ran in it.
        limits: what a compute stream is.
    """
    steps, communication, streams = found.steps, device.communication, found.streams
    mine = device.kernels.rows(communication)
    if len(mine) == 0:
        return Collectives.none()
    step = steps.kernel_step[communication].astype(np.int64)
    streams_of = (mine.context_id, mine.stream_id)
    messages = _messages(process, device.device_id, communication)
    kind = np.where(
        messages.kind == CollectiveKind.OTHER, _kinds(mine.name_id, process.strings), messages.kind
    )
    known = messages.communicator != ABSENT
    channel = (*(np.where(known, ABSENT, key) for key in streams_of), messages.communicator)
    order, since = _in_order(mine, step, *channel)
    before = since if not known.any() else _in_order(mine, step, *streams_of)[1]
    window = steps.window
    start = np.maximum(mine.start_ns, window.start_ns)
    end = np.maximum(np.minimum(mine.end_ns, window.end_ns), start)
    whole = (mine.start_ns >= window.start_ns) & (mine.end_ns <= window.end_ns)
    if window.steps is not None:
        whole &= step >= window.skipped
    rows = Collectives(
        start_ns=mine.start_ns,
        end_ns=mine.end_ns,
        context_id=mine.context_id,
        stream_id=mine.stream_id,
        name_id=mine.name_id,
        kind=kind,
        step=step,
        communicator=messages.communicator,
        order=order,
        since_ns=np.maximum(since, window.start_ns),
        ready_ns=np.maximum(_launched(mine, process, found.calls), _free(mine, before, streams)),
        exposed_ns=end - start - found.compute.overlap_with(start, end),
        last=_last_of_steps(np.where(whole, step, ABSENT)),
        on_compute_stream=_on_compute(mine, found, limits),
        whole=whole,
        bytes=messages.bytes,
        ranks=messages.ranks,
        met=constant(0, len(mine)),
        transfer_ns=constant(ABSENT, len(mine)),
    )
    touches = (mine.start_ns < window.end_ns) & (mine.end_ns > window.start_ns)
    return rows.rows(touches)


def _kinds(name_id: Ints, strings: Strings) -> Ints:
    distinct, inverse = np.unique(name_id, return_inverse=True)
    kinds = [collective_kind(strings.text(i)) for i in distinct.tolist()]
    return np.array(kinds, dtype=np.int64)[inverse]


def _messages(process: ProcessTables, device_id: int, communication: Mask) -> Messages:
    """What each communication kernel of a device carries, ABSENT where that is not known."""
    kernels = np.flatnonzero(process.kernels.device_id == device_id)[communication]
    told = nccl_messages(process)
    unknown = constant(ABSENT, kernels.size)
    other = constant(CollectiveKind.OTHER, kernels.size)
    if len(told) == 0:
        return Messages(kernels, other, unknown, unknown, unknown)
    at = position_of(told.kernel, kernels)
    return Messages(
        kernels,
        taken(told.kind, at, CollectiveKind.OTHER),
        taken(told.bytes, at, ABSENT),
        taken(told.communicator, at, ABSENT),
        taken(told.ranks, at, ABSENT),
    )


def _in_order(kernels: Kernels, step: Ints, *keys: Ints) -> tuple[Ints, Ints]:
    """Position of each, of those with its keys in its step, and the end of the one before it."""
    lowest = np.iinfo(np.int64).min
    position, before = np.zeros_like(step), np.full_like(step, lowest)
    first, group = groups(*keys)
    for number in range(first.size):
        rows = np.flatnonzero(group == number)
        before[rows[1:]] = kernels.end_ns[rows[:-1]]
        # Stable: by step, and in each by start.
        ordered = rows[np.argsort(step[rows], kind="stable")]
        first = np.searchsorted(step[ordered], step[ordered], side="left")
        position[ordered] = np.arange(rows.size) - first
    return position, before


def _launched(kernels: Kernels, process: ProcessTables, calls: ApiCalls) -> Ints:
    """When the launch of each had returned; its start where the launch is not recorded."""
    call = process.launches.rows(kernels.correlation_id)
    if len(calls) == 0:
        return kernels.start_ns
    end = calls.end_ns[np.maximum(call, 0)]
    return np.where(call == ABSENT, kernels.start_ns, np.minimum(end, kernels.start_ns))


def _free(kernels: Kernels, before: Ints, streams: Sequence[StreamTimeline]) -> Ints:
    """When what ran on its stream before each was through."""
    free = before.copy()
    for stream in streams:
        mine = (kernels.context_id == stream.context_id) & (kernels.stream_id == stream.stream_id)
        rows = np.flatnonzero(mine)
        at = last_before(stream.busy.start_ns, kernels.start_ns[rows])
        rows, at = rows[at != ABSENT], at[at != ABSENT]
        free[rows] = np.maximum(free[rows], stream.busy.end_ns[at])
    return np.minimum(free, kernels.start_ns)


def _last_of_steps(step: Ints) -> Mask:
    """Rows, sorted by start, that nothing of their step follows."""
    last = np.zeros(step.shape, dtype=bool)
    _, from_end = np.unique(step[::-1], return_index=True)
    last[step.size - 1 - from_end] = True
    last &= step != ABSENT
    return last


def _on_compute(kernels: Kernels, found: InWindow, limits: Thresholds) -> Mask:
    on = np.zeros(len(kernels), dtype=bool)
    least = limits.compute_stream_share * found.compute.total_ns
    for stream in found.streams:
        if stream.compute and stream.compute.total_ns >= least:
            on |= (kernels.context_id == stream.context_id) & (
                kernels.stream_id == stream.stream_id
            )
    return on


def device_meetings(
    devices: Sequence[DeviceMeasurements], limits: Thresholds
) -> tuple[tuple[DeviceMeasurements, ...], tuple[Meeting, ...]]:
    """Where the devices of one report met: they share its clock; members number the devices.

    A device with several communicators can take part in several meetings.

    Returns:
        The devices, their collectives now with the ranks that met in them, and the meetings.
    """
    owners, members, channels = [], [], []
    for number, device in enumerate(devices):
        exposed = device.communication - device.compute
        for rows in whole_channels(device.collectives):
            mine = device.collectives.rows(rows)
            owners.append(number)
            channels.append(rows)
            members.append(Member((), 0, attendance(mine), exposed, *communicator_of(mine)))
    found = meetings(members, limits)
    met = [np.zeros(len(device.collectives), dtype=np.int64) for device in devices]
    transfer = [np.full_like(counts, ABSENT) for counts in met]
    for meeting in found:
        for member, row in zip(meeting.members, meeting.row, strict=True):
            rows = channels[member][row]
            met[owners[member]][rows] = len(meeting.members)
            transfer[owners[member]][rows] = meeting.operation_ns
    compared = (
        replace(d, collectives=replace(d.collectives, met=met[i], transfer_ns=transfer[i]))
        for i, d in enumerate(devices)
    )
    numbered = (replace(m, members=tuple(owners[i] for i in m.members)) for m in found)
    return tuple(compared) if found else tuple(devices), tuple(numbered)
