"""Collectives: one row each, and where the devices of one report met in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overlapcheck.collectives import Collectives, collective_kind
from overlapcheck.columns import Ints, Mask
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import DeviceMeasurements, StreamTimeline
from overlapcheck.passes.process import NO_CALL, ProcessTables
from overlapcheck.passes.steps import NO_STEP
from overlapcheck.passes.window import Steps
from overlapcheck.rendezvous import Meeting, Member, attendance, meetings, on_streams
from overlapcheck.trace import Kernels, Strings

MIN_COMPUTE_SHARE = 0.05
"""A stream with less of the device's compute is no compute stream."""


def collectives(
    kernels: Kernels,
    communication: Mask,
    steps: Steps,
    compute: Intervals,
    streams: Sequence[StreamTimeline],
    strings: Strings,
    process: ProcessTables,
) -> Collectives:
    """One row per communication kernel that touches the window.

    Args:
        kernels: the device's kernels.
        communication: which of them are communication.
        steps: the window, and the step of each kernel.
        compute: the device's compute inside the window.
        streams: its streams, to see which also compute.
        strings: names.
        process: whose calls launched them.
    """
    mine = kernels.rows(communication)
    if len(mine) == 0:
        return Collectives.none()
    step = steps.kernel_step[communication].astype(np.int64)
    order, before = _on_streams(mine, step)
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
        kind=_kinds(mine.name_id, strings),
        step=step,
        order=order,
        since_ns=np.maximum(before, window.start_ns),
        ready_ns=np.maximum(_launched(mine, process), _free(mine, before, streams)),
        exposed_ns=end - start - compute.overlap_with(start, end),
        last=_last_of_steps(np.where(whole, step, NO_STEP)),
        on_compute_stream=_on_compute(mine, compute, streams),
        whole=whole,
    )
    touches = (mine.start_ns < window.end_ns) & (mine.end_ns > window.start_ns)
    return rows.rows(touches)


def _kinds(name_id: Ints, strings: Strings) -> Ints:
    distinct, inverse = np.unique(name_id, return_inverse=True)
    kinds = [collective_kind(strings.text(i)) for i in distinct.tolist()]
    return np.array(kinds, dtype=np.int64)[inverse]


def _on_streams(kernels: Kernels, step: Ints) -> tuple[Ints, Ints]:
    """Position of each on its stream in its step, and the end of the one before it."""
    lowest = np.iinfo(np.int64).min
    position, before = np.zeros_like(step), np.full_like(step, lowest)
    keys = np.stack((kernels.context_id, kernels.stream_id), axis=1)
    _, stream = np.unique(keys, axis=0, return_inverse=True)
    for number in range(int(stream.max()) + 1):
        rows = np.flatnonzero(stream == number)
        before[rows[1:]] = kernels.end_ns[rows[:-1]]
        # Stable: by step, and in each by start.
        ordered = rows[np.argsort(step[rows], kind="stable")]
        first = np.searchsorted(step[ordered], step[ordered], side="left")
        position[ordered] = np.arange(rows.size) - first
    return position, before


def _launched(kernels: Kernels, process: ProcessTables) -> Ints:
    """When the launch of each had returned; its start where the launch is not recorded."""
    call = process.launches.rows(kernels.correlation_id)
    if len(process.calls) == 0:
        return kernels.start_ns
    end = process.calls.end_ns[np.maximum(call, 0)]
    return np.where(call == NO_CALL, kernels.start_ns, np.minimum(end, kernels.start_ns))


def _free(kernels: Kernels, before: Ints, streams: Sequence[StreamTimeline]) -> Ints:
    """When what ran on its stream before each was through."""
    free = before.copy()
    for stream in streams:
        mine = (kernels.context_id == stream.context_id) & (kernels.stream_id == stream.stream_id)
        rows = np.flatnonzero(mine)
        at = np.searchsorted(stream.busy.start_ns, kernels.start_ns[rows], side="left") - 1
        rows, at = rows[at >= 0], at[at >= 0]
        free[rows] = np.maximum(free[rows], stream.busy.end_ns[at])
    return np.minimum(free, kernels.start_ns)


def _last_of_steps(step: Ints) -> Mask:
    """Rows, sorted by start, that nothing of their step follows."""
    last = np.zeros(step.shape, dtype=bool)
    _, from_end = np.unique(step[::-1], return_index=True)
    last[step.size - 1 - from_end] = True
    last &= step != NO_STEP
    return last


def _on_compute(kernels: Kernels, compute: Intervals, streams: Sequence[StreamTimeline]) -> Mask:
    on = np.zeros(len(kernels), dtype=bool)
    for stream in streams:
        if stream.compute and stream.compute.total_ns >= MIN_COMPUTE_SHARE * compute.total_ns:
            on |= (kernels.context_id == stream.context_id) & (
                kernels.stream_id == stream.stream_id
            )
    return on


def device_meetings(devices: Sequence[DeviceMeasurements]) -> tuple[Meeting, ...]:
    """Where the devices of one report met: they share its clock; members number the devices.

    A device with several communication streams can take part in several meetings.
    """
    owners, members = [], []
    for number, device in enumerate(devices):
        exposed = device.communication - device.compute
        for rows in on_streams(device.collectives):
            owners.append(number)
            members.append(Member((), 0, attendance(rows), exposed))
    return tuple(
        replace(meeting, members=tuple(owners[m] for m in meeting.members))
        for meeting in meetings(members)
    )
