"""Rows of a timeline, its streams and threads, as tracks; of bars that overlap, several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from overlapcheck.ledger import Reason
from overlapcheck.quantities import bandwidth
from overlapcheck.renderers._perfetto_slices import Slice, Track, in_lanes
from overlapcheck.renderers._plain_text import plain
from overlapcheck.timeline import EventKind, RowRole, Timeline

_MAX_LANES = 64
"""Tracks that one row may need where its events overlap."""


def row_tracks(
    pid: int, first_tid: int, timeline: Timeline, *, from_ns: int = 0, causes: bool = False
) -> Iterator[Track]:
    """The steps, and below them the rows.

    Args:
        pid: process of the tracks.
        first_tid: thread of the steps; the rows have those after it.
        timeline: what to draw.
        from_ns: time of it that is 0 in the file.
        causes: whether to draw idle time by cause, which has no other track.
    """
    yield Track(pid, first_tid, "steps", "step", _steps(timeline, from_ns))
    for row, slices in enumerate(_rows(timeline, from_ns)):
        about = timeline.rows[row]
        if about.role is RowRole.CAUSES and not causes:
            continue
        kind = "host" if about.role in (RowRole.THREAD, RowRole.RANGES) else "device"
        note = f" ({about.note})" if about.note else ""
        title = plain(f"{about.label}{note}", 120)
        for lane, part in enumerate(in_lanes(slices, _MAX_LANES)):
            tid = first_tid + 1 + row * _MAX_LANES + lane
            yield Track(pid, tid, title if lane == 0 else f"{title}, beside it", kind, part)


def _steps(timeline: Timeline, from_ns: int) -> list[Slice]:
    steps = timeline.steps
    return [
        Slice(
            plain(timeline.step_name.replace("#", str(number)), 120), start - from_ns, end - from_ns
        )
        for number, start, end in zip(
            steps.number.tolist(), steps.start_ns.tolist(), steps.end_ns.tolist(), strict=True
        )
    ]


def _rows(timeline: Timeline, from_ns: int) -> list[list[Slice]]:
    """The events of each row, by start."""
    rows: list[list[Slice]] = [[] for _ in timeline.rows]
    events = timeline.events
    columns = (events.row, events.start_ns, events.end_ns, events.kind, events.name, events.count)
    more = (events.busy_ns, events.bytes)
    table = zip(*(column.tolist() for column in (*columns, *more)), strict=True)
    names = [plain(name, 200) for name in timeline.names]
    for row, start, end, kind, name, count, busy, moved in table:
        if kind < EventKind.IDLE:
            called, args = names[name] or "(no name)", _args(kind, count, busy, moved)
        elif timeline.rows[row].role is RowRole.CAUSES:
            called, args = Reason(kind - EventKind.IDLE).cause, _merged(count, busy)
        else:
            continue
        rows[row].append(Slice(called, start - from_ns, end - from_ns, args))
    return rows


def _args(kind: int, count: int, busy_ns: int, moved: int) -> dict[str, Any]:
    args: dict[str, Any] = {"kind": EventKind(kind).name.lower(), **_merged(count, busy_ns)}
    if moved:
        args |= {"bytes": moved, "speed": bandwidth(moved, busy_ns)}
    return args


def _merged(count: int, busy_ns: int) -> dict[str, Any]:
    return {"merged": count, "busy_ns": busy_ns} if count > 1 else {}
