"""From each idle piece's end back to its beginning: what filled it, what it waited for.

    s7    q #####·······················##### k       idle piece: end of q to start of k
    s13          [ copy ][ copy ]                     k waited for the second copy
    host            L                                 L: the first copy was launched only here
    parts   |host   |fill  |fill   |latency|

Parts are found backwards: before k lies the latency since its binding predecessor ended, then that
predecessor itself, then what *it* had to wait for, and so on to the beginning of the piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from overlapcheck.columns import (
    ABSENT,
    ABSENT_TIME,
    Bools,
    Column,
    Columns,
    Index,
    Ints,
    Mask,
    Whole,
    blocks,
    joined,
    narrow,
)
from overlapcheck.grouping import sorted_by
from overlapcheck.intervals import Intervals
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger.idle_parts import Part, Parts
from overlapcheck.passes.ledger.side_by_side import side_by_side
from overlapcheck.passes.order.dependencies import Dependencies
from overlapcheck.searches import last_at_or_before, last_before, taken

# So few walks are gone link by link.
_FEW = 16


@dataclass(frozen=True)
class Ground:
    """What is walked over."""

    ops: Operations
    depends: Dependencies
    """Their binding predecessors."""
    submit_ns: Ints
    """When each was handed over."""
    submit_slack_ns: int
    """Host and device clocks agree to about this."""
    start_latency_ns: int
    """What nothing holds starts within this."""

    @cached_property
    def transfer_ends_ns(self) -> Ints:
        """Ends of all operations but kernels, sorted."""
        transfers = (self.ops.work != Work.COMPUTE) & (self.ops.work != Work.MIGRATION)
        return np.sort(self.ops.end_ns[transfers])


def walk(ground: Ground, idle: Intervals) -> Parts:
    """Cut every idle piece of the window into parts."""
    begin, finish, kernel = _whole_gaps(ground.ops, idle)
    current, upper = kernel, finish
    orphan = kernel == ABSENT
    if orphan.any():
        current, upper = kernel.copy(), finish.copy()
        current[orphan], upper[orphan] = _last_fill(ground.ops, begin[orphan], finish[orphan])
    before = np.where(orphan, current, ground.depends.predecessor[current])
    gaps = _Gaps(begin, upper, orphan)

    def walked(block: slice) -> _Emitted:
        emitted = _Emitted(idle)
        piece = np.arange(block.start, block.stop)
        links = _chains(ground, begin, (piece, current[block], before[block]))
        _emit(links, ground, gaps, emitted)
        return emitted

    rows = [row for part in side_by_side(walked, blocks(len(idle))) for row in part.rows]
    if orphan.any():
        piece = np.flatnonzero(orphan)
        unended = _Emitted(idle)
        unended.add(piece, upper[orphan], finish[orphan], Part.OPEN, current[orphan])
        rows += unended.rows
    return _in_order(rows, kernel)


@dataclass(frozen=True)
class _Gaps:
    """The gaps that idle pieces are parts of, one for each piece."""

    begin: Ints
    upper: Ints
    """Where the walk back begins."""
    orphan: Mask
    """No kernel ends it."""


@dataclass(frozen=True)
class _Links(Columns):
    """Steps of the walk: from one operation of a piece to the one it had to wait for."""

    piece: Ints
    current: Ints
    before: Ints
    """ABSENT where the chain ends without one."""
    first: Bools
    """Whether the walk of its piece begins here."""


_Round = tuple[Whole, Whole, Whole]
"""Piece, current and before of some links."""


def _chains(ground: Ground, begin: Ints, start: _Round) -> _Links:
    """All steps of the walks of some pieces."""
    ops, depends = ground.ops, ground.depends
    rounds: list[_Round] = [start]
    while True:
        piece, current, before = rounds[-1]
        onward = np.flatnonzero(
            (before != ABSENT)
            & (ops.end_ns[before] > begin[piece])
            & (ops.start_ns[before] > begin[piece])
            & (ops.work[before] != Work.COMPUTE)
        )
        if onward.size == 0:
            break
        piece, current = piece[onward], before[onward]
        if onward.size <= _FEW:
            rounds.append(_long_chains(ground, begin, piece, current))
            break
        rounds.append((piece, current, depends.predecessor[current]))
    columns = [np.concatenate(column) for column in zip(*rounds, strict=True)]
    first = np.arange(columns[0].size) < start[0].size
    return _Links(columns[0], columns[1], columns[2], first)


def _long_chains(ground: Ground, begin: Ints, piece: Whole, current: Whole) -> _Round:
    """The rest of a few walks, link by link: whole-array steps would cost more than they carry."""
    end, start = ground.ops.end_ns.item, ground.ops.start_ns.item
    predecessor, work = ground.depends.predecessor.item, ground.ops.work.item
    links = []
    for number, row in zip(piece.tolist(), current.tolist(), strict=True):
        floor, before = begin.item(number), row
        while True:
            row, before = before, predecessor(before)
            links.append((number, row, before))
            if before == ABSENT or work(before) == Work.COMPUTE:
                break
            if end(before) <= floor or start(before) <= floor:
                break
    found = np.array(links, dtype=np.int64).T
    return found[0], found[1], found[2]


def _emit(links: _Links, ground: Ground, gaps: _Gaps, emitted: _Emitted) -> None:
    """The parts between each operation and the one that it had to wait for, and that one's own."""
    ops = ground.ops
    piece, current, before = links.piece, links.current, links.before
    floor = gaps.begin[piece]
    upper = np.where(links.first, gaps.upper[piece], np.maximum(ops.start_ns[current], floor))
    has = before != ABSENT
    ended = np.where(has, ops.end_ns[before], floor)
    fills = has & (ended > floor) & (ops.work[before] != Work.COMPUTE)
    ready = np.where(fills, np.minimum(ended, upper), floor)
    upper = _waited_elsewhere(links, ground, gaps, _Waits(ready, upper), emitted)
    late = ground.submit_ns[current] > ready + ground.submit_slack_ns
    waiting = ~(links.first & gaps.orphan[piece])
    handed = np.where(late, _handed_over(ground, current, ready, upper), upper)
    host, latency = waiting & late, waiting & (~late | (handed < upper))
    begun = np.where(late, handed, ready)
    emitted.add(piece[host], ready[host], handed[host], Part.HOST, current[host])
    emitted.add(piece[latency], begun[latency], upper[latency], Part.LATENCY, current[latency])
    began = np.maximum(ops.start_ns[before], floor)
    emitted.add(piece[fills], began[fills], ready[fills], Part.FILL, before[fills])


def _handed_over(ground: Ground, current: Ints, ready: Ints, upper: Ints) -> Ints:
    """When the host was done with operations that were late: what it does then delays nothing.

    Where one starts soon after the hand-over, all the time before is the host's. So it is where a
    transfer ends just before it starts: that may be what it waited for, though no row proves it,
    and the host was late with that.
    """
    handed = np.clip(ground.ops.launch_end_ns[current], ready, upper)
    rows = np.flatnonzero(upper - handed > ground.start_latency_ns)
    ended = last_at_or_before(ground.transfer_ends_ns, upper[rows])
    end = taken(ground.transfer_ends_ns, ended, ABSENT_TIME)
    behind = (end > handed[rows]) & (end > upper[rows] - ground.start_latency_ns)
    done = upper.copy()
    done[rows[~behind]] = handed[rows[~behind]]
    return done


class _Waits(NamedTuple):
    """What lies between each operation and the one that it had to wait for."""

    ready: Ints
    """When that one had ended."""
    upper: Ints
    """Up to where nothing else is known."""


def _waited_elsewhere(
    links: _Links, ground: Ground, gaps: _Gaps, waits: _Waits, emitted: _Emitted
) -> Ints:
    """The waits for other devices, and where all other waits end: there these have none left."""
    depends, piece, current = ground.depends, links.piece, links.current
    other = depends.elsewhere[current] != ABSENT
    rows = np.flatnonzero(other & ~(links.first & gaps.orphan[piece]))
    if rows.size == 0:
        return waits.upper
    piece, current, begin, end = piece[rows], current[rows], waits.ready[rows], waits.upper[rows]
    since = np.clip(depends.since_ns[current], begin, np.maximum(begin, end))
    late = depends.since_late[current]
    for part, chosen in ((Part.HOST, late), (Part.LATENCY, ~late)):
        emitted.add(piece[chosen], begin[chosen], since[chosen], part, current[chosen])
    emitted.add(piece, since, end, Part.ELSEWHERE, current)
    left = waits.upper.copy()
    left[rows] = begin
    return left


class _Emitted:
    """Collects parts and cuts them to the idle pieces of the window."""

    def __init__(self, idle: Intervals) -> None:
        self._idle = idle
        self.rows: list[tuple[Column, ...]] = []

    def add(self, piece: Index, start: Ints, end: Ints, part: Part, operation: Ints) -> None:
        start = np.maximum(start, self._idle.start_ns[piece])
        end = np.minimum(end, self._idle.end_ns[piece])
        keep = end > start
        if keep.any():
            kinds = np.broadcast_to(np.int8(part), int(keep.sum()))
            rows = (narrow(piece[keep]), kinds, narrow(operation[keep]))
            self.rows.append((start[keep], end[keep], *rows))


def _in_order(rows: list[tuple[Column, ...]], kernel: Ints) -> Parts:
    if not rows:
        return Parts.none()
    start, end, piece, part, operation = joined(rows)
    found = Parts(start, end, piece, part, operation, narrow(kernel[piece]))
    return sorted_by(found, found.start_ns)


def _whole_gaps(ops: Operations, idle: Intervals) -> tuple[Ints, Ints, Ints]:
    """Begin, end and ending kernel of the gaps that idle pieces are parts of.

    A piece at the edge of the window is only a part of its gap, and what explains the gap may lie
    outside.
    """
    compute = np.flatnonzero(ops.work == Work.COMPUTE)
    if compute.size == 0:
        return idle.start_ns, idle.end_ns, np.full(len(idle), ABSENT, dtype=np.int64)
    starts = ops.start_ns[compute]
    reach = np.maximum.accumulate(ops.end_ns[compute])
    after = last_before(starts, idle.end_ns) + 1
    earlier = last_before(starts, idle.start_ns)
    begin = np.where(earlier == ABSENT, idle.start_ns, reach[earlier])
    begin = np.minimum(begin, idle.start_ns)
    follows = after < compute.size
    kernel = compute[np.minimum(after, compute.size - 1)]
    finish = np.where(follows, ops.start_ns[kernel], idle.end_ns)
    return begin, finish, np.where(follows, kernel, ABSENT)


def _last_fill(ops: Operations, begin: Ints, finish: Ints) -> tuple[Ints, Ints]:
    """For gaps that no kernel ends: the operation that ran last in each, and its end there."""
    current = np.zeros(begin.size, dtype=np.int64)
    upper = begin.copy()
    for i in range(begin.size):  # at most one gap per window has no kernel after it
        inside = (ops.work != Work.COMPUTE) & (ops.work != Work.MIGRATION)
        inside &= (ops.end_ns > begin[i]) & (ops.start_ns < finish[i])
        rows = np.flatnonzero(inside)
        if rows.size:
            current[i] = rows[np.argmax(ops.end_ns[rows])]
            upper[i] = min(int(ops.end_ns[current[i]]), int(finish[i]))
    return current, upper
