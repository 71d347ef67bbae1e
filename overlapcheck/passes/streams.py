"""What each stream did in the window: busy time by kind of work, role, kind of stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Column, Index, Ints, Mask
from overlapcheck.copies import Direction
from overlapcheck.grouping import by_group, groups
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import StreamKey, StreamKind
from overlapcheck.measurements import StreamRole, StreamTimeline, Window
from overlapcheck.passes.copy_overlap import DIRECTION_OF
from overlapcheck.passes.process import DeviceTables, ProcessTables
from overlapcheck.trace_tables import Copies, Kernels, Memsets


def null_streams(process: ProcessTables) -> set[StreamKey]:
    """The legacy null streams of a process.

    Named by the export where it names them; else a stream that works without being described
    although its context's other streams are. Never by number: 7 is a habit of the driver, and on
    a second device an ordinary stream.
    """
    contexts, streams = process.contexts, process.streams
    named = {
        StreamKey(c, s)
        for c, s in zip(contexts.context_id.tolist(), contexts.null_stream_id.tolist(), strict=True)
        if s != ABSENT
    }
    null = streams.rows(streams.kind == StreamKind.NULL)
    named |= set(_keys(null))
    described = set(_keys(streams))
    settled = {key.context_id for key in named}
    known_contexts = {key.context_id for key in described}
    for table in (process.kernels, process.copies, process.memsets):
        for key in by_stream(table):
            known_context = key.context_id in known_contexts
            if key.context_id not in settled and known_context and key not in described:
                named.add(key)
    return named


def stream_timelines(
    process: ProcessTables, device: DeviceTables, compute: Intervals, window: Window
) -> tuple[StreamTimeline, ...]:
    """Streams of one device that work in the window, busiest first.

    Args:
        process: the process, for stream descriptions.
        device: the device's rows, peer copies of other devices included.
        compute: when the device computes.
        window: what to clip to.
    """
    kernels, copies, memsets = device.kernels, device.copies, device.memsets
    nulls = null_streams(process)
    described = {
        StreamKey(c, s): (kind, priority)
        for c, s, kind, priority in zip(
            process.streams.context_id.tolist(),
            process.streams.stream_id.tolist(),
            process.streams.kind.tolist(),
            process.streams.priority.tolist(),
            strict=True,
        )
    }
    found = []
    on_kernels, on_copies, on_memsets = by_stream(kernels), by_stream(copies), by_stream(memsets)
    nothing = np.empty(0, dtype=np.intp)
    for key in sorted({*on_kernels, *on_copies, *on_memsets}):
        rows = on_kernels.get(key, nothing)
        kind, priority = described.get(key, (StreamKind.UNKNOWN, None))
        timeline = _timeline(
            _Described(key, StreamKind.NULL if key in nulls else StreamKind(kind), priority),
            _Rows(
                _Spans.of(kernels, rows, device.communication),
                _Spans.of(copies, on_copies.get(key, nothing), copies.kind),
                _Spans.of(memsets, on_memsets.get(key, nothing), memsets.bytes),
            ),
            compute if rows.size == len(kernels) else None,
            window,
        )
        if timeline is not None:
            found.append(timeline)
    return tuple(sorted(found, key=lambda t: (-t.busy.total_ns, t.context_id, t.stream_id)))


@dataclass(frozen=True)
class _Spans:
    """When some operations of one stream ran; 200 streams of all columns would take their time."""

    start_ns: Ints
    end_ns: Ints
    kind: Column
    """What tells them apart."""

    @classmethod
    def of(cls, table: Kernels | Copies | Memsets, rows: Index, kind: Column) -> _Spans:
        """The rows of a stream; nothing is copied where they are the whole table."""
        if rows.size == len(table):
            return cls(table.start_ns, table.end_ns, kind)
        return cls(table.start_ns[rows], table.end_ns[rows], kind[rows])

    def clipped(self, mask: Mask, window: Window) -> Intervals:
        """The time in the window of some of them."""
        if not mask.any():
            return Intervals.empty()
        start, end = self.start_ns, self.end_ns
        if not mask.all():
            start, end = start[mask], end[mask]
        return Intervals.of(start, end).clip(window.start_ns, window.end_ns)


@dataclass(frozen=True)
class _Described:
    """What is known of a stream without its work."""

    key: StreamKey
    kind: StreamKind
    priority: int | None


@dataclass(frozen=True)
class _Rows:
    """The work of a stream."""

    kernels: _Spans
    copies: _Spans
    memsets: _Spans


def _timeline(
    stream: _Described, rows: _Rows, compute: Intervals | None, window: Window
) -> StreamTimeline | None:
    kernels, copies, memsets = rows.kernels, rows.copies, rows.memsets
    if compute is None:
        compute = kernels.clipped(~kernels.kind, window)
    comm = kernels.clipped(kernels.kind, window)
    memset = memsets.clipped(np.ones(memsets.start_ns.size, dtype=bool), window)
    by_direction: dict[Direction, Intervals] = {}
    for copy_kind, direction in DIRECTION_OF.items():
        busy = copies.clipped(copies.kind == copy_kind, window)
        if busy:
            by_direction[direction] = busy
    copied = sum(busy.total_ns for busy in by_direction.values())
    busy = compute | comm | memset
    for part in by_direction.values():
        busy |= part
    if not busy:
        return None
    totals = {
        StreamRole.COMPUTE: compute.total_ns,
        StreamRole.COMMUNICATION: comm.total_ns,
        StreamRole.COPY: copied,
        StreamRole.MEMSET: memset.total_ns,
    }
    inside = (kernels.start_ns < window.end_ns) & (kernels.end_ns > window.start_ns)
    return StreamTimeline(
        context_id=stream.key.context_id,
        stream_id=stream.key.stream_id,
        role=max(totals, key=lambda role: totals[role]),
        kind=stream.kind.name.lower().replace("_", "-"),
        priority=stream.priority,
        busy=busy,
        compute=compute,
        communication=comm,
        copies=by_direction,
        memset=memset,
        kernels=int(inside.sum()),
    )


def _keys(table: object) -> list[StreamKey]:
    contexts: np.ndarray = getattr(table, "context_id")  # noqa: B009
    streams: np.ndarray = getattr(table, "stream_id")  # noqa: B009
    return [StreamKey(c, s) for c, s in zip(contexts.tolist(), streams.tolist(), strict=True)]


def by_stream(table: Kernels | Copies | Memsets) -> dict[StreamKey, Index]:
    """Rows of each stream, in order; streams in the order of their ids."""
    if len(table) == 0:
        return {}
    first, group = groups(table.context_id, table.stream_id)
    order, bounds = by_group(group, first.size)
    # Migrations of unified memory belong to none.
    return {
        StreamKey(int(table.context_id[row]), int(table.stream_id[row])): order[
            bounds[i] : bounds[i + 1]
        ]
        for i, row in enumerate(first.tolist())
        if table.stream_id[row] != ABSENT
    }
