"""Many events made few: neighbours of one kind become blocks outside the parts worth reading.

events   |.a.aa..a|aaa.aaaa|.......a|a.a.....|      a cell between bars is `resolution` long
blocks   |.<3>...1|<  7   >|.......1|<2>.....|      a block keeps count, busy time and bytes
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Ints, Mask
from overlapcheck.intervals import Intervals
from overlapcheck.timeline import TimelineEvents

_DETAIL_SHARE = 2
"""One part in this many of what is drawn may be events kept whole."""
_HALVINGS = 40
_OVERLAPPING = 8


@dataclass(frozen=True)
class Part:
    """Events of one kind in one row, sorted by start; `name` is an id that its maker knows."""

    row: int
    kind: int
    start_ns: Ints
    end_ns: Ints
    name: Ints
    bytes: Ints

    def __len__(self) -> int:
        return int(self.start_ns.size)


def detail(parts: list[Part], wanted: list[tuple[int, int, int]], most: int) -> Intervals:
    """The time in which every event is kept.

    Args:
        parts: everything there is to draw.
        wanted: (start_ns, end_ns, focus_ns), most wanted first; what would be too many events
            is halved towards its focus until it fits.
        most: events that may be drawn in all.
    """
    left = most // _DETAIL_SHARE
    kept = Intervals.empty()
    for start, end, focus in wanted:
        for _ in range(_HALVINGS):
            more = kept | Intervals.span(start, end)
            if (count := _count(parts, more)) <= left:
                kept = more
                break
            if count > 64 * left:
                start, end = focus - (focus - start) // 16, focus + (end - focus) // 16
            start, end = focus - (focus - start) // 2, focus + (end - focus) // 2
            if end <= start:
                break
    return kept


def _count(parts: list[Part], spans: Intervals) -> int:
    """Events that begin in a set of times."""
    return sum(
        int(
            (
                np.searchsorted(part.start_ns, spans.end_ns)
                - np.searchsorted(part.start_ns, spans.start_ns)
            ).sum()
        )
        for part in parts
    )


def reduced(parts: list[Part], kept: Intervals, most: int) -> tuple[TimelineEvents, int]:
    """At most about `most` events and blocks, sorted by row and start, and their resolution.

    Args:
        parts: everything there is to draw.
        kept: time in which every event is kept, see `detail`.
        most: events and blocks in all.

    Returns:
        The events with the names' ids in `name`; the length of a cell, 0 where nothing was merged.
    """
    total = sum(map(len, parts))
    if total <= most:
        return _sorted([_blocks(part, np.arange(len(part))) for part in parts]), 0
    apart = [_within(part, kept) for part in parts]
    span = max(int(p.end_ns.max()) for p in parts if len(p)) - min(
        int(p.start_ns[0]) for p in parts if len(p)
    )
    shift = max(int(span // most).bit_length() - 2, 0)
    while True:
        opens = [_opens(part, alone, shift) for part, alone in zip(parts, apart, strict=True)]
        if sum(int(mask.sum()) for mask in opens) <= most or shift > 62:
            break
        shift += 1
    made = [_blocks(p, np.flatnonzero(mask)) for p, mask in zip(parts, opens, strict=True)]
    return _sorted(made), 1 << shift


def _within(part: Part, kept: Intervals) -> Mask:
    """Which events touch a few pieces of time."""
    mask = np.zeros(len(part), dtype=bool)
    for start, end in kept:
        stop = int(np.searchsorted(part.start_ns, end))
        # Rows hold little that overlaps itself, so what began before a piece is near it.
        first = max(int(np.searchsorted(part.start_ns, start)) - _OVERLAPPING, 0)
        mask[first:stop] |= part.end_ns[first:stop] > start
    return mask


def _opens(part: Part, alone: Mask, shift: int) -> Mask:
    """Which events begin a block: long ones, those kept whole, and the first of each cell."""
    single = alone | (part.end_ns - part.start_ns >= 1 << shift)
    cell = part.start_ns >> shift
    mask = single.copy()
    mask[:1] = True
    mask[1:] |= single[:-1] | (cell[1:] != cell[:-1])
    return mask


def _blocks(part: Part, first: Ints) -> TimelineEvents:
    """One row per run of events that begins at each of `first`."""
    length = part.end_ns - part.start_ns
    if len(part) == 0:
        return TimelineEvents.none()
    count = np.diff(np.append(first, len(part)))
    longest = np.maximum.reduceat(length, first)
    # The first event of each run that is as long as its longest.
    candidate = np.flatnonzero(length == np.repeat(longest, count))
    run = np.repeat(np.arange(first.size), count)[candidate]
    named = candidate[np.concatenate(([True], run[1:] != run[:-1]))]
    return TimelineEvents(
        row=np.full(first.size, part.row, dtype=np.int64),
        start_ns=part.start_ns[first],
        end_ns=np.maximum.reduceat(part.end_ns, first),
        kind=np.full(first.size, part.kind, dtype=np.int64),
        name=part.name[named],
        count=count.astype(np.int64),
        busy_ns=np.add.reduceat(length, first),
        bytes=np.add.reduceat(part.bytes, first),
    )


def _sorted(made: list[TimelineEvents]) -> TimelineEvents:
    columns = (
        np.concatenate([getattr(part, name) for part in made] or [np.empty(0, dtype=np.int64)])
        for name in TimelineEvents.__dataclass_fields__
    )
    events = TimelineEvents(*columns)
    return events.rows(np.lexsort((-events.end_ns, events.start_ns, events.row)))
