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
from enum import IntEnum

import numpy as np

from overlapcheck.columns import Columns, Index, Ints, Mask
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Work
from overlapcheck.passes.dependencies import NO_OPERATION, Dependencies
from overlapcheck.passes.operations import Operations
from overlapcheck.passes.process import ABSENT_TIME

# Host and device clocks agree to about this.
SUBMIT_SLACK_NS = 1_000


class Part(IntEnum):
    """What a part of an idle piece is."""

    HOST = 0
    """The operation that follows had not been submitted yet."""
    LATENCY = 1
    """It had, and its predecessor was done, but it had not started."""
    FILL = 2
    """An operation that compute waited for was running."""
    OPEN = 3
    """Nothing follows: the end of the trace."""


@dataclass(frozen=True)
class Parts(Columns):
    """Parts of idle pieces, sorted by start, disjoint; together exactly the idle time."""

    start_ns: Ints
    end_ns: Ints
    piece: Ints
    """Number of the idle piece."""
    part: Ints
    """Part."""
    operation: Ints
    """FILL: the operation that ran; else the one that follows. NO_OPERATION for none."""
    kernel: Ints
    """The compute operation that ends the piece; NO_OPERATION for none."""


def submit_times(ops: Operations, returns_when_done: Mask) -> Ints:
    """When each operation was handed to the device, shape (n,); ABSENT_TIME where unknown.

    A launch is handed over near the end of its call. A call that returns only when its operation
    is done (pageable and synchronous copies) handed it over near its start.
    """
    near_end = np.minimum(ops.launch_end_ns, ops.start_ns)
    submit = np.where(returns_when_done, ops.launch_start_ns, near_end)
    return np.where(ops.launch_start_ns == ABSENT_TIME, ABSENT_TIME, submit)


def walk(ops: Operations, depends: Dependencies, submit_ns: Ints, idle: Intervals) -> Parts:
    """Cut every idle piece into parts.

    Args:
        ops: the device's operations.
        depends: their binding predecessors.
        submit_ns: when each was handed over.
        idle: the idle time of the window.
    """
    begin, finish, kernel = _whole_gaps(ops, idle)
    emitted = _Emitted(idle)
    piece = np.arange(len(idle))
    current, upper = kernel.copy(), finish.copy()
    orphan = kernel == NO_OPERATION
    if orphan.any():
        current[orphan], upper[orphan] = _last_fill(ops, begin[orphan], finish[orphan])
        emitted.add(piece[orphan], upper[orphan], finish[orphan], Part.OPEN, current[orphan])
    at_fill = orphan
    while piece.size:
        stop, current, upper = _one_step(
            ops, depends, submit_ns, begin, piece, current, upper, at_fill, emitted
        )
        piece, current, upper = piece[~stop], current[~stop], upper[~stop]
        at_fill = np.zeros(piece.size, dtype=bool)
    return emitted.parts(kernel)


def _one_step(
    ops: Operations,
    depends: Dependencies,
    submit_ns: Ints,
    begin: Ints,
    piece: Index,
    current: Ints,
    upper: Ints,
    at_fill: Mask,
    emitted: _Emitted,
) -> tuple[Mask, Ints, Ints]:
    """One operation further back in every piece that is still open."""
    floor = begin[piece]
    before = np.where(at_fill, current, depends.predecessor[current])
    has = before != NO_OPERATION
    ended = np.where(has, ops.end_ns[before], floor)
    fills = has & (ended > floor) & (ops.work[before] != Work.COMPUTE)
    ready = np.where(fills, np.minimum(ended, upper), floor)
    late = submit_ns[current] > ready + SUBMIT_SLACK_NS
    waiting = ~at_fill
    emitted.add(
        piece[waiting & late],
        ready[waiting & late],
        upper[waiting & late],
        Part.HOST,
        current[waiting & late],
    )
    emitted.add(
        piece[waiting & ~late],
        ready[waiting & ~late],
        upper[waiting & ~late],
        Part.LATENCY,
        current[waiting & ~late],
    )
    began = np.maximum(ops.start_ns[before], floor)
    emitted.add(piece[fills], began[fills], ready[fills], Part.FILL, before[fills])
    stop = ~fills | (ops.start_ns[before] <= floor)
    return stop, before, began


class _Emitted:
    """Collects parts and cuts them to the idle pieces of the window."""

    def __init__(self, idle: Intervals) -> None:
        self._idle = idle
        self._rows: list[tuple[Ints, ...]] = []

    def add(self, piece: Index, start: Ints, end: Ints, part: Part, operation: Ints) -> None:
        start = np.maximum(start, self._idle.start_ns[piece])
        end = np.minimum(end, self._idle.end_ns[piece])
        keep = end > start
        if keep.any():
            kinds = np.full(int(keep.sum()), part, dtype=np.int64)
            self._rows.append((start[keep], end[keep], piece[keep], kinds, operation[keep]))

    def parts(self, kernel: Ints) -> Parts:
        if not self._rows:
            return Parts.none()
        columns = [np.concatenate(column) for column in zip(*self._rows, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        start, end, piece, part, operation = (column[order] for column in columns)
        return Parts(start, end, piece, part, operation, kernel[piece])


def _whole_gaps(ops: Operations, idle: Intervals) -> tuple[Ints, Ints, Ints]:
    """Begin, end and ending kernel of the gaps that idle pieces are parts of.

    A piece at the edge of the window is only a part of its gap, and what explains the gap may lie
    outside.
    """
    compute = np.flatnonzero(ops.work == Work.COMPUTE)
    if compute.size == 0:
        return idle.start_ns, idle.end_ns, np.full(len(idle), NO_OPERATION, dtype=np.int64)
    starts = ops.start_ns[compute]
    reach = np.maximum.accumulate(ops.end_ns[compute])
    after = np.searchsorted(starts, idle.end_ns, side="left")
    earlier = np.searchsorted(starts, idle.start_ns, side="left") - 1
    begin = np.where(earlier >= 0, reach[np.maximum(earlier, 0)], idle.start_ns)
    begin = np.minimum(begin, idle.start_ns)
    follows = after < compute.size
    kernel = compute[np.minimum(after, compute.size - 1)]
    finish = np.where(follows, ops.start_ns[kernel], idle.end_ns)
    return begin, finish, np.where(follows, kernel, NO_OPERATION)


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
