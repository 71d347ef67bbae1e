"""A typical step of a replay, to be drawn."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, Index
from overlapcheck.grouping import distinct
from overlapcheck.order import Work
from overlapcheck.step_graph import Why
from overlapcheck.step_picture import Piece, StepPicture, StepRow
from overlapcheck.timeline import EventKind
from overlapcheck.whatif.replay import Replayed

MAX_ROWS, MAX_THREADS = 6, 2
MAX_PIECES = 500
"""Of a row: shorter distances are closed."""
_KINDS = {
    Work.COMPUTE: EventKind.COMPUTE,
    Work.COMMUNICATION: EventKind.COMMUNICATION,
    Work.H2D: EventKind.H2D,
    Work.D2H: EventKind.D2H,
    Work.P2P: EventKind.P2P,
    Work.D2D: EventKind.D2D,
    Work.MEMSET: EventKind.MEMSET,
    Work.MIGRATION: EventKind.MIGRATION,
}
_LINKS = {
    EventKind.H2D: "host to device",
    EventKind.D2H: "device to host",
    EventKind.P2P: "device to device",
}


def step_picture(replayed: Replayed, step_ns: int) -> StepPicture:
    """The last step of a replay that is about as long as it should be.

    Args:
        replayed: some steps.
        step_ns: length of a typical one.
    """
    ends, times = replayed.step_ends_ns, replayed.step_times_ns
    # Of equally typical steps the last one, but for the very last, behind which nothing follows.
    off = np.abs(times - step_ns)[:-1] if times.size > 1 else np.abs(times - step_ns)
    number = ends.size - times.size + int(np.flatnonzero(off == off.min())[-1])
    begin, end = int(ends[number - 1]), int(ends[number])
    return StepPicture(
        end - begin, (*_streams(replayed, begin, end), *_threads(replayed, begin, end))
    )


def _streams(replayed: Replayed, begin: int, end: int) -> list[StepRow]:
    """What each stream runs, and apart from it what each direction of the link moves."""
    ops, time = replayed.graph.operations, replayed.time_ns
    half = 2 * len(ops)
    start = np.clip(time[0:half:2], begin, end) - begin
    stop = np.clip(time[1:half:2], begin, end) - begin
    inside = np.flatnonzero(stop > start)
    rows: dict[str, list[Piece]] = {}
    for op in inside.tolist():
        kind = _KINDS[Work(int(ops.work[op]))]
        label = _LINKS.get(kind) or f"stream {int(ops.stream[op]) + 1}"
        rows.setdefault(label, []).append((int(start[op]), int(stop[op]), kind))
    busiest = sorted(rows, key=lambda label: -sum(b - a for a, b, _ in rows[label]))
    return [StepRow(label, _joined(rows[label], end - begin)) for label in busiest[:MAX_ROWS]]


def _threads(replayed: Replayed, begin: int, end: int) -> list[StepRow]:
    """Calls of the threads that launch: those that wait, and all others."""
    graph, time = replayed.graph, replayed.time_ns
    events, half = graph.events, 2 * len(graph.operations)
    start, stop = time[half::2], time[half + 1 :: 2]
    launching = distinct(events.tid[graph.operations.event[graph.operations.event != ABSENT]])
    held = np.isin(
        graph.call_end(np.arange(len(events))), graph.links.after[graph.links.of(Why.WAIT)]
    )
    rows = []
    for number, tid in enumerate(launching.tolist()[:MAX_THREADS], 1):
        mine: Index = np.flatnonzero((events.tid == tid) & (stop > begin) & (start < end))
        pieces = [
            (
                max(int(start[event]), begin) - begin,
                min(int(stop[event]), end) - begin,
                EventKind.HELD if held[event] else EventKind.CALL,
            )
            for event in mine.tolist()
        ]
        rows.append(StepRow(f"thread {number}", _joined(pieces, end - begin)))
    return rows


def _joined(pieces: list[Piece], length: int) -> tuple[Piece, ...]:
    """Pieces of one kind that are closer than can be seen become one."""
    closest = length // MAX_PIECES
    joined: list[Piece] = []
    for start, end, kind in sorted(pieces):
        if joined and joined[-1][2] == kind and start - joined[-1][1] <= closest:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]), kind)
        else:
            joined.append((start, end, kind))
    return tuple(joined)
