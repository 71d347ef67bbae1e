"""Slices on tracks, and the Chrome trace format that they are written in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Slice:
    """One bar."""

    name: str
    start_ns: int
    end_ns: int
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Track:
    """A row of bars that do not overlap."""

    pid: int
    tid: int
    name: str
    category: str
    slices: list[Slice]


def in_lanes(slices: list[Slice], most: int) -> list[list[Slice]]:
    """Bars spread over as few rows as keep them apart; those of a row beyond `most` are dropped.

    Args:
        slices: sorted by start.
        most: rows.
    """
    lanes: list[list[Slice]] = []
    for one in slices:
        for lane in lanes:
            if lane[-1].end_ns <= one.start_ns:
                lane.append(one)
                break
        else:
            if len(lanes) < most:
                lanes.append([one])
    return lanes


def nanoseconds(ns: int) -> str:
    """A time in microseconds, exact to the nanosecond."""
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 1000}.{abs(ns) % 1000:03d}"


def trace_text(about: dict[str, Any], processes: Sequence[str], tracks: Iterable[Track]) -> str:
    """The whole file.

    Args:
        about: facts of the whole.
        processes: names of pids 1, 2 ..., shown in this order.
        tracks: those without slices are left out.
    """
    events = [*_metadata(processes), *(line for track in tracks for line in _lines(track))]
    head, listed = json.dumps(about, ensure_ascii=False), ",\n".join(events)
    return f'{{"displayTimeUnit": "ns", "otherData": {head}, "traceEvents": [\n{listed}\n]}}\n'


def _metadata(processes: Sequence[str]) -> Iterator[str]:
    for number, name in enumerate(processes, 1):
        yield _named(number, 0, "process_name", {"name": name})
        yield _named(number, 0, "process_sort_index", {"sort_index": number})


def _named(pid: int, tid: int, what: str, args: dict[str, Any]) -> str:
    event = {"ph": "M", "pid": pid, "tid": tid, "name": what, "args": args}
    return json.dumps(event, ensure_ascii=False)


def _lines(track: Track) -> Iterator[str]:
    if not track.slices:
        return
    pid, tid = track.pid, track.tid
    yield _named(pid, tid, "thread_name", {"name": track.name})
    yield _named(pid, tid, "thread_sort_index", {"sort_index": tid})
    for one in track.slices:
        name = json.dumps(one.name, ensure_ascii=False)
        args = f', "args": {json.dumps(one.args, ensure_ascii=False)}' if one.args else ""
        yield (
            f'{{"ph": "X", "pid": {pid}, "tid": {tid}, "ts": {nanoseconds(one.start_ns)}, '
            f'"dur": {nanoseconds(one.end_ns - one.start_ns)}, "cat": "{track.category}", '
            f'"name": {name}{args}}}'
        )
