"""What each stream did in the window: busy time by kind of work, role, kind of stream."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import Mask
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import Direction, StreamRole, StreamTimeline, Window
from overlapcheck.passes.copy_overlap import DIRECTION_OF
from overlapcheck.passes.process import ProcessTables
from overlapcheck.trace import Copies, Kernels, Memsets, StreamKey, StreamKind


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
        if s >= 0
    }
    null = streams.rows(streams.kind == StreamKind.NULL)
    named |= set(_keys(null))
    described = set(_keys(streams))
    settled = {key.context_id for key in named}
    for table in (process.kernels, process.copies, process.memsets):
        for key in _distinct(table):
            known_context = any(d.context_id == key.context_id for d in described)
            if key.context_id not in settled and known_context and key not in described:
                named.add(key)
    return named


def stream_timelines(
    process: ProcessTables,
    kernels: Kernels,
    communication: Mask,
    copies: Copies,
    memsets: Memsets,
    window: Window,
) -> tuple[StreamTimeline, ...]:
    """Streams of one device that work in the window, busiest first.

    Args:
        process: the process, for stream descriptions.
        kernels: the device's kernels.
        communication: which of them are communication, shape (n,).
        copies: the device's copies, peer copies of other devices included.
        memsets: the device's memsets.
        window: what to clip to.
    """
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
    for key in sorted({*_distinct(kernels), *_distinct(copies), *_distinct(memsets)}):
        kind, priority = described.get(key, (StreamKind.UNKNOWN, None))
        timeline = _timeline(
            key,
            StreamKind.NULL if key in nulls else StreamKind(kind),
            priority,
            kernels,
            communication,
            copies,
            memsets,
            window,
        )
        if timeline is not None:
            found.append(timeline)
    return tuple(sorted(found, key=lambda t: (-t.busy.total_ns, t.context_id, t.stream_id)))


def _timeline(
    key: StreamKey,
    kind: StreamKind,
    priority: int | None,
    kernels: Kernels,
    communication: Mask,
    copies: Copies,
    memsets: Memsets,
    window: Window,
) -> StreamTimeline | None:
    def clip(table: Kernels | Copies | Memsets, mask: Mask) -> Intervals:
        union = Intervals.of(table.start_ns[mask], table.end_ns[mask])
        return union.clip(window.start_ns, window.end_ns)

    on_kernels, on_copies = _on(kernels, key), _on(copies, key)
    compute = clip(kernels, on_kernels & ~communication)
    comm = clip(kernels, on_kernels & communication)
    memset = clip(memsets, _on(memsets, key))
    by_direction: dict[Direction, Intervals] = {}
    for copy_kind, direction in DIRECTION_OF.items():
        busy = clip(copies, on_copies & (copies.kind == copy_kind))
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
        context_id=key.context_id,
        stream_id=key.stream_id,
        role=max(totals, key=lambda role: totals[role]),
        kind=kind.name.lower().replace("_", "-"),
        priority=priority,
        busy=busy,
        compute=compute,
        communication=comm,
        copies=by_direction,
        memset=memset,
        kernels=int((on_kernels & inside).sum()),
    )


def _on(table: Kernels | Copies | Memsets, key: StreamKey) -> Mask:
    mask: Mask = (table.context_id == key.context_id) & (table.stream_id == key.stream_id)
    return mask


def _keys(table: object) -> list[StreamKey]:
    contexts: np.ndarray = getattr(table, "context_id")  # noqa: B009
    streams: np.ndarray = getattr(table, "stream_id")  # noqa: B009
    return [StreamKey(c, s) for c, s in zip(contexts.tolist(), streams.tolist(), strict=True)]


def _distinct(table: Kernels | Copies | Memsets) -> list[StreamKey]:
    if len(table) == 0:
        return []
    # Ids of unified-memory migrations are all zero: they belong to no stream.
    pairs = np.unique(np.stack((table.context_id, table.stream_id), axis=1), axis=0)
    return [StreamKey(int(c), int(s)) for c, s in pairs if int(s) > 0]
