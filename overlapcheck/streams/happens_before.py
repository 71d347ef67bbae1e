"""What is proven to have ended before what could start, over any number of waits.

Each stream has a clock: how far every other stream must have come before its next operation may
start. A clock moves where the stream waits; in between it stands, so that its moves are all that is
kept, and the whole is as long as the waits are many.

    s7    A──rec e1        C──rec e2
    s13        wait e1─B ──────wait e2─D       clock of s13 at D: s7 has come to C
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from overlapcheck.columns import ABSENT, ABSENT_TIME, Index, Ints
from overlapcheck.stream_waits import Record, StreamWaits

Clock = npt.NDArray[np.int32]
"""Position of the last operation of each stream that must have ended; ABSENT for none."""


class Link(NamedTuple):
    """How a stream's clock came to move."""

    how: str
    """"event", "null stream" or "host"."""
    call: int
    """Row of the process's call; ABSENT."""
    stream: int
    """Stream whose clock was taken over; ABSENT for all, and for what the host had waited for."""
    position: int
    """How far that stream was."""


@dataclass
class _Moves:
    """Moves of one clock, in order."""

    at: list[int] = field(default_factory=list)
    """Position from which each holds; for a thread, the time."""
    clocks: list[Clock] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def index(self, at: int) -> int:
        return bisect_right(self.at, at) - 1


class HappensBefore:
    """Answers whether one operation must have ended before another could start.

    Args:
        waits: of the process.
        host: whether what the host waited for counts, too.
    """

    def __init__(self, waits: StreamWaits, *, host: bool = True) -> None:
        self._waits, self._host = waits, host
        self._ops = waits.operations
        count = len(waits.streams)
        self._streams = count
        own = self._ops.stream[waits.order]
        bounds = np.searchsorted(own, np.arange(count + 1))
        launch = self._ops.launch_start_ns[waits.order]
        self._launches = [launch[bounds[s] : bounds[s + 1]] for s in range(count)]
        self._bounds = bounds
        self._now = np.full((count, count), ABSENT, dtype=np.int32)
        self._moves = [_Moves() for _ in range(count)]
        self._at_record: dict[int, Clock] = {}
        self._threads: dict[int, _Moves] = {}
        for event in sorted(self._events()):
            self._take(*event)

    def before(self, first: int, second: int) -> bool:
        """Whether operation `first` is proven to have ended before `second` could start."""
        stream, position = self._place(first)
        other, at = self._place(second)
        if position == ABSENT or at == ABSENT:
            return False
        if stream == other:
            return position < at
        moves = self._moves[other]
        index = moves.index(at)
        return index >= 0 and bool(moves.clocks[index][stream] >= position)

    def chain(self, first: int, second: int) -> list[Link] | None:
        """The waits that lead from one operation to the other; None where none do."""
        if not self.before(first, second):
            return None
        stream, position = self._place(first)
        other, at = self._place(second)
        links: list[Link] = []
        while other != stream:
            moves = self._moves[other]
            low, high = 0, moves.index(at)
            while low < high:
                middle = (low + high) // 2
                if moves.clocks[middle][stream] >= position:
                    high = middle
                else:
                    low = middle + 1
            link = self._resolved(moves.links[low], stream, position)
            links.append(link)
            if link.stream == ABSENT or link.stream == other:
                break
            other, at = link.stream, link.position
        return links[::-1]

    def latest_ends(self) -> Ints:
        """When the last operation ended that each had to come after; ABSENT_TIME for none.

        Only of other streams. A test asks it whether proven order contradicts time.
        """
        ops = self._ops
        ends = [
            np.maximum.accumulate(ops.end_ns[self._rows(s)]) if self._launches[s].size else
            np.empty(0, dtype=np.int64) for s in range(self._streams)
        ]  # fmt: skip
        latest = np.full(len(ops), ABSENT_TIME, dtype=np.int64)
        for stream in range(self._streams):
            rows, moves = self._rows(stream), self._moves[stream]
            if rows.size == 0 or not moves.at:
                continue
            of_move = np.full(len(moves.at), ABSENT_TIME, dtype=np.int64)
            for number, clock in enumerate(moves.clocks):
                for other in np.flatnonzero(clock != ABSENT).tolist():
                    if other != stream:
                        of_move[number] = max(of_move[number], int(ends[other][clock[other]]))
            move = np.searchsorted(moves.at, np.arange(rows.size), side="right") - 1
            held = move >= 0
            latest[rows[held]] = of_move[move[held]]
        return latest

    def _rows(self, stream: int) -> Index:
        return self._waits.order[self._bounds[stream] : self._bounds[stream + 1]]

    def _place(self, row: int) -> tuple[int, int]:
        return int(self._ops.stream[row]), int(self._waits.position[row])

    def _resolved(self, link: Link, stream: int, position: int) -> Link:
        """A move by the host told by the call that made it, where that waited for one stream."""
        if link.how != "host" or link.stream != ABSENT:
            return link
        moves = self._threads[link.position]
        index = next(i for i, clock in enumerate(moves.clocks) if clock[stream] >= position)
        return moves.links[index]

    def _events(self) -> list[tuple[int, int, int]]:
        """Time, kind and row of all that moves clocks; at one time records come first."""
        waits, joins, records = self._waits.waits, self._waits.joins, self._waits.records
        direct = np.flatnonzero(
            (waits.through == ABSENT) & (waits.record == Record.KNOWN) & (waits.stream != ABSENT)
        )
        wanted = set(waits.record_row[direct].tolist())
        events = [(int(waits.time_ns[row]), 2, row) for row in direct.tolist()]
        barriers = self._waits.barriers
        launched = self._ops.launch_start_ns[barriers.after]
        events += [(int(t), 3, row) for row, t in enumerate(launched.tolist())]
        if self._host:
            wanted |= set(joins.record_row.tolist())
            events += [(int(t), 1, row) for row, t in enumerate(joins.end_ns.tolist())]
            events += self._first_behind_joins()
        wanted.discard(ABSENT)
        events += [
            (int(records.time_ns[row]), 0, row)
            for row in wanted
            if records.time_ns[row] != ABSENT_TIME and records.stream[row] != ABSENT
        ]
        return events

    def _first_behind_joins(self) -> list[tuple[int, int, int]]:
        """The first operation that a thread gives each stream after each of its waits."""
        joins, ops = self._waits.joins, self._ops
        rows = self._waits.order
        found: list[tuple[int, int, int]] = []
        for tid in np.unique(joins.tid).tolist():
            ends = np.sort(joins.end_ns[joins.tid == tid])
            mine = rows[ops.tid[rows] == tid]
            launch = ops.launch_start_ns[mine]
            since = np.searchsorted(ends, launch, side="right")
            order = np.lexsort((launch, since, ops.stream[mine]))
            mine, launch, since = mine[order], launch[order], since[order]
            stream = ops.stream[mine]
            first = np.ones(mine.size, dtype=np.bool_)
            first[1:] = (stream[1:] != stream[:-1]) | (since[1:] != since[:-1])
            first &= since > 0
            found += [
                (t, 4, r) for t, r in zip(launch[first].tolist(), mine[first].tolist(), strict=True)
            ]
        return found

    def _take(self, time_ns: int, kind: int, row: int) -> None:
        waits, ops = self._waits, self._ops
        if kind == 0:
            self._at_record[row] = self._snapshot(int(waits.records.stream[row]), time_ns)
        elif kind == 1:
            self._join(row, time_ns)
        elif kind == 2:
            stream = int(waits.waits.stream[row])
            record = int(waits.waits.record_row[row])
            clock = self._at_record.get(record)
            if clock is not None:
                source = int(waits.records.stream[record])
                link = Link("event", int(waits.waits.call[row]), source, int(clock[source]))
                self._move(stream, self._given(stream, time_ns), clock, link)
        elif kind == 3:
            before, after = int(waits.barriers.before[row]), int(waits.barriers.after[row])
            source, position = self._place(before)
            clock = self._clock_at(source, position)
            link = Link("null stream", ABSENT, source, position)
            self._move(int(ops.stream[after]), int(waits.position[after]), clock, link)
        else:
            thread = self._threads.get(int(ops.tid[row]))
            if thread is not None and thread.clocks:
                link = Link("host", ABSENT, ABSENT, int(ops.tid[row]))
                place = self._place(row)
                self._move(place[0], place[1], thread.clocks[-1], link)

    def _join(self, row: int, time_ns: int) -> None:
        joins = self._waits.joins
        stream, record = int(joins.stream[row]), int(joins.record_row[row])
        begin = int(joins.start_ns[row])
        if joins.of_event[row]:
            clock = self._at_record.get(record)
        elif joins.copy[row]:
            clock = self._clock_at(stream, int(self._waits.position[joins.before[row]]))
        elif stream != ABSENT:
            clock = self._snapshot(stream, begin)
        elif joins.whole[row]:
            clock = self._now.max(axis=0) if self._streams else None
            given = [self._given(s, begin) - 1 for s in range(self._streams)]
            clock = None if clock is None else np.maximum(clock, np.array(given, dtype=np.int32))
        else:
            clock = None
        if clock is None:
            return
        thread = self._threads.setdefault(int(joins.tid[row]), _Moves())
        before = thread.clocks[-1] if thread.clocks else clock
        thread.at.append(time_ns)
        thread.clocks.append(np.maximum(before, clock))
        position = int(clock[stream]) if stream != ABSENT else ABSENT
        thread.links.append(Link("host", int(joins.call[row]), stream, position))

    def _given(self, stream: int, time_ns: int) -> int:
        """How many operations a stream had been given before a time."""
        return int(np.searchsorted(self._launches[stream], time_ns))

    def _snapshot(self, stream: int, time_ns: int) -> Clock:
        return self._with_own(stream, self._given(stream, time_ns) - 1, self._now[stream])

    def _clock_at(self, stream: int, position: int) -> Clock:
        moves = self._moves[stream]
        index = moves.index(position)
        clock = moves.clocks[index] if index >= 0 else np.full_like(self._now[stream], ABSENT)
        return self._with_own(stream, position, clock)

    def _with_own(self, stream: int, position: int, clock: Clock) -> Clock:
        own = clock.copy()
        own[stream] = max(int(own[stream]), position)
        return own

    def _move(self, stream: int, position: int, clock: Clock, link: Link) -> None:
        new = np.maximum(self._now[stream], clock)
        new[stream] = self._now[stream][stream]
        if (new == self._now[stream]).all():
            return
        self._now[stream] = new
        moves = self._moves[stream]
        moves.at.append(position)
        moves.clocks.append(new.copy())
        moves.links.append(link)
