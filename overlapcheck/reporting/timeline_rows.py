"""Rows of a device's timeline from the trace's tables: causes, streams, ranges, threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from overlapcheck.clocks import on_device_clock
from overlapcheck.columns import ABSENT, Index, Ints, Mask
from overlapcheck.kinds import UNIFIED_KINDS, CopyKind, MemoryKind, StreamKey
from overlapcheck.measurements import DeviceMeasurements, StreamRole, StreamTimeline
from overlapcheck.quantities import duration, percent
from overlapcheck.reporting.level_of_detail import Part
from overlapcheck.reporting.range_rows import range_rows
from overlapcheck.timeline import EventKind, RowRole, TimelineRow
from overlapcheck.trace import Trace, rows_or_none
from overlapcheck.trace_tables import ApiCalls, Copies, Kernels, Memsets, Ranges

MAX_STREAMS = 16
MAX_THREADS = 6
SAMPLED_KERNELS = 1_000
"""Enough to know which threads launch."""

_OWN_NAMES = 2
"""Names that no string of the trace has get ids from -2 down; -1 is ABSENT."""
_KINDS = {
    CopyKind.HOST_TO_DEVICE: EventKind.H2D,
    CopyKind.DEVICE_TO_HOST: EventKind.D2H,
    CopyKind.PEER_TO_PEER: EventKind.P2P,
    CopyKind.DEVICE_TO_DEVICE: EventKind.D2D,
    CopyKind.HOST_TO_HOST: EventKind.D2D,
    CopyKind.UNKNOWN: EventKind.D2D,
}
_COPY_NAMES = {EventKind.H2D: "h2d copy from", EventKind.D2H: "d2h copy to"}
_MEMORY = {kind: kind.name.lower().replace("_", "-") for kind in MemoryKind}
_GRAPH = "graph launch of unknown content"
_MIGRATION = "unified-memory migration"


class OwnNames:
    """Names of our own beside the trace's strings, by negative ids."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._own: dict[str, int] = {}

    def id_of(self, text: str) -> int:
        """Id of one of our own names."""
        return self._own.setdefault(text, -_OWN_NAMES - len(self._own))

    def texts(self, ids: Sequence[int]) -> list[str]:
        """Texts of ids; "" for ABSENT."""
        own = {number: text for text, number in self._own.items()}
        return [own.get(i, "") if i <= -_OWN_NAMES else self._trace.strings.text(i) for i in ids]


Timed = TypeVar("Timed", Kernels, Copies, Memsets, ApiCalls, Ranges)


class Launch(NamedTuple):
    """A call that launched something."""

    tid: int
    start_ns: int
    end_ns: int
    name_id: int


@dataclass(frozen=True)
class HostCalls:
    """The process's CUDA calls that touch the window, and which launched what is looked for.

    On the device's clock.
    """

    window: ApiCalls
    launches: ApiCalls
    """Launch calls that were asked for."""
    launch_row: Index
    """Row of each among the process's calls, ascending."""
    held_from_ns: int
    """A call this long held its thread, as in the table of blocking calls."""

    def launch(self, row: int) -> Launch | None:
        """One of the launch calls, by its row among the process's calls; None where not kept."""
        at = int(np.searchsorted(self.launch_row, row))
        if row == ABSENT or at == self.launch_row.size or self.launch_row[at] != row:
            return None
        calls = self.launches
        columns = (calls.tid, calls.start_ns, calls.end_ns, calls.name_id)
        return Launch(*(int(column[at]) for column in columns))


@dataclass(frozen=True)
class Drawing:
    """Rows and their parts."""

    rows: list[TimelineRow]
    parts: list[Part]
    stream_rows: dict[StreamKey, int]
    thread_rows: dict[int, int]
    left_out: int


class _Work(NamedTuple):
    """What a process's streams did in the window."""

    kernels: Kernels
    copies: Copies
    memsets: Memsets


def host_calls(
    trace: Trace, device: DeviceMeasurements, launches: Index, held_from_ns: int
) -> HostCalls:
    """One pass over the calls, the longest table of all.

    Args:
        trace: for its calls.
        device: whose process and window.
        launches: rows, among the process's calls, of launches that are wanted, in any order.
        held_from_ns: from which length on a call held its thread.
    """
    calls = on_device_clock(rows_or_none(trace.api_calls, ApiCalls), device.clock_skew_ns)
    wanted = np.unique(launches)
    mine = calls.process == device.process
    of_process = wanted if mine.all() else np.flatnonzero(mine)[wanted]
    return HostCalls(_own(calls, device), calls.rows(of_process), wanted, held_from_ns)


def draw_rows(
    trace: Trace, device: DeviceMeasurements, host: HostCalls, names: OwnNames
) -> Drawing:
    """All rows, the causes first, then streams, migrations, ranges and threads.

    Args:
        trace: tables and names.
        device: what was measured of it.
        host: its process's calls.
        names: takes the names that the trace has no string for.
    """
    drawing = Drawing([], [], {}, {}, 0)
    _causes(drawing, device)
    # Contexts belong to one device, so a stream tells the device too.
    work = _Work(
        _own(rows_or_none(trace.kernels, Kernels), device),
        _own(rows_or_none(trace.copies, Copies), device),
        _own(rows_or_none(trace.memsets, Memsets), device),
    )
    drawn = device.streams[:MAX_STREAMS]
    order = list(StreamRole)
    for stream in sorted(drawn, key=lambda s: (order.index(s.role), s.stream_id)):
        _stream(drawing, device, stream, work, names)
    _migrations(drawing, trace, device, names)
    _ranges(drawing, trace, device)
    left_out = len(device.streams) - len(drawn) + _threads(drawing, trace, device, host)
    return Drawing(drawing.rows, drawing.parts, drawing.stream_rows, drawing.thread_rows, left_out)


def _causes(drawing: Drawing, device: DeviceMeasurements) -> None:
    ledger = device.ledger
    length = ledger.end_ns - ledger.start_ns
    share = percent(device.recorded_idle_ns / max(device.recorded_ns, 1))
    drawing.rows.append(TimelineRow(RowRole.CAUSES, "no compute", f"{share} of the window"))
    for reason in np.unique(ledger.reason).tolist():
        rows = ledger.reason == reason
        drawing.parts.append(
            Part(
                0,
                EventKind.IDLE + reason,
                ledger.start_ns[rows],
                ledger.end_ns[rows],
                ledger.kernel_name_id[rows],
                np.zeros_like(length[rows]),
            )
        )


def _own(table: Timed, device: DeviceMeasurements) -> Timed:
    """Rows of the process that touch the window; no copy where they are a run of the table."""
    window = device.window
    stop = int(np.searchsorted(table.start_ns, window.end_ns))
    begun = table.end_ns[:stop] > window.start_ns
    first = int(np.argmax(begun)) if stop and begun.any() else stop
    run = table.rows(slice(first, stop))
    return _chosen(run, begun[first:] & (run.process == device.process))


def _chosen(table: Timed, mask: Mask) -> Timed:
    """The rows of a mask, without a copy where that is all."""
    return table if mask.all() else table.rows(mask)


def _stream(
    drawing: Drawing,
    device: DeviceMeasurements,
    stream: StreamTimeline,
    work: _Work,
    names: OwnNames,
) -> None:
    row = len(drawing.rows)
    key = StreamKey(stream.context_id, stream.stream_id)
    drawing.stream_rows[key] = row
    share = percent(stream.busy.total_ns / max(device.window.length_ns, 1))
    contexts = {other.context_id for other in device.streams}
    label = f"s{stream.stream_id}" if len(contexts) == 1 else f"c{key.context_id} s{key.stream_id}"
    drawing.rows.append(TimelineRow(RowRole.STREAM, label, f"{_does(stream)}, busy {share}"))

    def on(table: Kernels | Copies | Memsets) -> Mask:
        mask: Mask = (table.context_id == key.context_id) & (table.stream_id == key.stream_id)
        return mask

    mine = _chosen(work.kernels, on(work.kernels))
    is_comm = _communication(mine, stream)
    graph = names.id_of(_GRAPH)
    for kind, rows in (
        (EventKind.COMPUTE, ~is_comm & ~mine.opaque),
        (EventKind.COMMUNICATION, is_comm),
        (EventKind.OPAQUE, ~is_comm & mine.opaque),
    ):
        if not rows.any():
            continue
        name = np.where(mine.opaque, graph, mine.name_id)[rows]
        zero = np.zeros(name.size, dtype=np.int64)
        _add(drawing, Part(row, kind, mine.start_ns[rows], mine.end_ns[rows], name, zero))
    moved = _chosen(work.copies, on(work.copies))
    for copy_kind, kind in _KINDS.items():
        of_kind = moved.rows(moved.kind == copy_kind)
        name = _copy_names(of_kind, kind, names)
        _add(drawing, Part(row, kind, of_kind.start_ns, of_kind.end_ns, name, of_kind.bytes))
    sets = work.memsets.rows(on(work.memsets))
    name = np.full(len(sets), names.id_of("memset"), dtype=np.int64)
    _add(drawing, Part(row, EventKind.MEMSET, sets.start_ns, sets.end_ns, name, sets.bytes))


def _does(stream: StreamTimeline) -> str:
    if stream.role is StreamRole.COPY:
        return " ".join(direction.value for direction in stream.copies)
    return {StreamRole.COMMUNICATION: "collectives"}.get(stream.role, stream.role.value)


def _communication(kernels: Kernels, stream: StreamTimeline) -> Mask:
    """Which kernels of a stream are communication, told by when the stream communicates."""
    if not stream.communication or not stream.compute:
        return np.full(len(kernels), bool(stream.communication), dtype=bool)
    talks = stream.communication.overlap_with(kernels.start_ns, kernels.end_ns)
    works = stream.compute.overlap_with(kernels.start_ns, kernels.end_ns)
    mask: Mask = talks > works
    return mask


def _copy_names(copies: Copies, kind: EventKind, names: OwnNames) -> Ints:
    ids = np.full(len(copies), names.id_of(f"{kind.name.lower()} copy"), dtype=np.int64)
    if kind not in _COPY_NAMES:
        return ids
    host_side = copies.source if kind is EventKind.H2D else copies.destination
    for memory in np.unique(host_side).tolist():
        text = f"{_COPY_NAMES[kind]} {_MEMORY.get(memory, 'unknown')} memory"
        ids[host_side == memory] = names.id_of(text)
    return ids


def _migrations(
    drawing: Drawing, trace: Trace, device: DeviceMeasurements, names: OwnNames
) -> None:
    if not device.migrations.count:
        return
    copies = _own(rows_or_none(trace.copies, Copies), device)
    migrated = np.isin(copies.kind, UNIFIED_KINDS)
    mine = copies.rows(migrated & (copies.device_id == device.key.device_id))
    name = np.full(len(mine), names.id_of(_MIGRATION), dtype=np.int64)
    row = len(drawing.rows)
    note = f"busy {duration(device.migrations.busy.total_ns)}"
    drawing.rows.append(TimelineRow(RowRole.MIGRATIONS, "uvm", note))
    _add(drawing, Part(row, EventKind.MIGRATION, mine.start_ns, mine.end_ns, name, mine.bytes))


def _ranges(drawing: Drawing, trace: Trace, device: DeviceMeasurements) -> None:
    ranges = on_device_clock(rows_or_none(trace.ranges, Ranges), device.clock_skew_ns)
    labels = {
        tid: name
        for (process, tid), name in trace.thread_names.items()
        if process == device.process
    }
    window_ns = device.window.length_ns
    made = range_rows(_own(ranges, device), labels, len(drawing.rows), window_ns)
    drawing.rows.extend(made.rows)
    for part in made.parts:
        _add(drawing, part)


def _threads(drawing: Drawing, trace: Trace, device: DeviceMeasurements, host: HostCalls) -> int:
    """Threads that launch or are held, those longest in calls first; how many were left out."""
    calls = host.window
    ids = [*np.unique(host.launches.tid).tolist(), *device.blocking.tid.tolist()]
    spent = {}
    for tid in dict.fromkeys(ids):
        if tid != ABSENT:
            own = calls.tid == tid
            spent[tid] = (int((calls.end_ns[own] - calls.start_ns[own]).sum()), own)
    ranked = sorted(spent, key=lambda tid: (-spent[tid][0], tid))
    for tid in ranked[:MAX_THREADS]:
        mine = _outermost(_chosen(calls, spent[tid][1]))
        held = mine.end_ns - mine.start_ns >= host.held_from_ns
        row = len(drawing.rows)
        drawing.thread_rows[tid] = row
        label = trace.thread_names.get((device.process, tid), "") or f"thread {tid}"
        held_ns = int((mine.end_ns - mine.start_ns)[held].sum())
        share = percent(min(held_ns / max(device.window.length_ns, 1), 1.0))
        drawing.rows.append(TimelineRow(RowRole.THREAD, label, f"tid {tid}, held {share}", tid))
        for kind, rows in ((EventKind.HELD, held), (EventKind.CALL, ~held)):
            start, end, name = mine.start_ns[rows], mine.end_ns[rows], mine.name_id[rows]
            _add(drawing, Part(row, kind, start, end, name, np.zeros_like(start)))
    return len(ranked) - len(ranked[:MAX_THREADS])


def _outermost(calls: ApiCalls) -> ApiCalls:
    """Calls of one thread that are inside no other."""
    if len(calls) < 2:
        return calls
    reach = np.maximum.accumulate(calls.end_ns)
    outer = np.ones(len(calls), dtype=bool)
    outer[1:] = calls.start_ns[1:] >= reach[:-1]
    return _chosen(calls, outer)


def _add(drawing: Drawing, part: Part) -> None:
    if len(part):
        drawing.parts.append(part)
