"""A few steps of a device at the resolution of a terminal.

Each cell holds the share of its time in which the row was busy, so short operations do not vanish
and long gaps stay white.
"""

from __future__ import annotations

import numpy as np

from overlapcheck.clocks import on_device_clock
from overlapcheck.columns import ABSENT
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.device_report import Picture, PictureRow
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import DeviceMeasurements, StreamRole, StreamTimeline
from overlapcheck.quantities import bandwidth, percent
from overlapcheck.trace import Trace, rows_or_none
from overlapcheck.trace_tables import ApiCalls

COLUMNS = 40
DRAWN_STEPS = 3
MAX_STREAM_ROWS = 8
MAX_CALLS = 20


def draw(trace: Trace, device: DeviceMeasurements) -> Picture:
    """The typical steps of a device: streams by role, and the thread that was held longest."""
    start, end, first_step = _range(device)
    # In Python's integers: times of damaged rows overflow those of numpy.
    width = end - start
    edges = np.array([start + width * n // COLUMNS for n in range(COLUMNS + 1)], dtype=np.int64)
    rows = []
    for stream in _drawn_streams(device):
        rows += _stream_rows(stream, device, edges)
    rows += _migration_row(device, edges)
    rows += _host_row(trace, device, edges)
    return Picture(start, end, tuple(rows), _ticks(device, start, end, first_step))


def _range(device: DeviceMeasurements) -> tuple[int, int, int]:
    """The steps around the one of median length; all of the window where there are no steps."""
    steps = device.steps
    if len(steps) < DRAWN_STEPS:
        return device.window.start_ns, device.window.end_ns, 0
    # The gap before the first step lies outside the window: prefer whole steps.
    length = steps.step_ns[1:]
    typical = 1 + int(np.argsort(length, kind="stable")[length.size // 2])
    first = min(max(typical - 1, 1), len(steps) - DRAWN_STEPS)
    return int(steps.start_ns[first]), int(steps.end_ns[first + DRAWN_STEPS - 1]), first


def _drawn_streams(device: DeviceMeasurements) -> list[StreamTimeline]:
    order = list(StreamRole)
    chosen = [s for s in device.streams if s.role is not StreamRole.MEMSET][:MAX_STREAM_ROWS]
    return sorted(chosen, key=lambda stream: (order.index(stream.role), stream.stream_id))


def _stream_rows(
    stream: StreamTimeline, device: DeviceMeasurements, edges: np.ndarray
) -> list[PictureRow]:
    label = f"s{stream.stream_id}"
    window_ns = max(device.window.length_ns, 1)
    rows = []
    for role, busy in (
        (StreamRole.COMPUTE, stream.compute),
        (StreamRole.COMMUNICATION, stream.communication),
    ):
        if busy:
            note = f"busy {percent(busy.total_ns / window_ns)}"
            rows.append(PictureRow(label, role.value, "", _cells(busy, edges), note))
    for direction, busy in stream.copies.items():
        # Copies within the device are work of the compute stream, a row only where they are long.
        if direction is Direction.D2D and busy.total_ns < window_ns // 20:
            continue
        note = _copy_note(device.copies[direction])
        rows.append(
            PictureRow(label, StreamRole.COPY.value, direction.value, _cells(busy, edges), note)
        )
    return rows


def _copy_note(copies: CopyOverlap) -> str:
    share = copies.pageable_share
    memory = " pageable" if share > 0.5 else " pinned" if copies.pinned else ""
    return bandwidth(copies.bytes, copies.copy_ns) + memory


def _migration_row(device: DeviceMeasurements, edges: np.ndarray) -> list[PictureRow]:
    busy = device.migrations.busy
    if not busy:
        return []
    note = f"busy {percent(busy.total_ns / max(device.window.length_ns, 1))}"
    return [PictureRow("uvm", StreamRole.COPY.value, "migration", _cells(busy, edges), note)]


def _host_row(trace: Trace, device: DeviceMeasurements, edges: np.ndarray) -> list[PictureRow]:
    """Time that one thread spent inside one call: the pair that fills most of the drawn part."""
    calls = on_device_clock(rows_or_none(trace.api_calls, ApiCalls), device.clock_skew_ns)
    calls = calls.rows(slice(0, int(np.searchsorted(calls.start_ns, edges[-1]))))
    calls = calls.rows((calls.end_ns > edges[0]) & (calls.process == device.process))
    worst, worst_ns = (ABSENT, ABSENT), 0
    inside = Intervals.of(calls.start_ns[:0], calls.end_ns[:0])
    held_most = device.blocking.rows(slice(0, MAX_CALLS))
    pairs = zip(held_most.tid.tolist(), held_most.name_id.tolist(), strict=True)
    for tid, name_id in pairs:
        mine = (calls.tid == tid) & (calls.name_id == name_id)
        held = Intervals.of(calls.start_ns[mine], calls.end_ns[mine]).clip(edges[0], edges[-1])
        if held.total_ns > worst_ns:
            worst, worst_ns, inside = (tid, name_id), held.total_ns, held
    if not worst_ns:
        return []
    thread = trace.thread_names.get((device.process, worst[0]), "") or str(worst[0])
    note = f"inside {percent(worst_ns / max(int(edges[-1] - edges[0]), 1))}"
    return [PictureRow(thread, "host", trace.strings.text(worst[1]), _cells(inside, edges), note)]


def _cells(busy: Intervals, edges: np.ndarray) -> tuple[float, ...]:
    length = np.maximum(np.diff(edges), 1)
    share = busy.overlap_with(edges[:-1], edges[1:]) / length
    return tuple(round(float(value), 3) for value in share)


def _ticks(
    device: DeviceMeasurements, start: int, end: int, first: int
) -> tuple[tuple[int, str], ...]:
    steps = device.steps
    if len(steps) < DRAWN_STEPS:
        return ()
    family = device.window.step_family or "step #"
    noun = family if family.count("#") == 1 else "step #"
    return tuple(
        (
            int((int(steps.start_ns[i]) - start) * COLUMNS // max(end - start, 1)),
            noun.replace("#", str(int(steps.number[i]))),
        )
        for i in range(first, first + DRAWN_STEPS)
    )
