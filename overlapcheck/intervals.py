"""Sets of time: sorted, disjoint, half-open pieces of int64 nanoseconds, and their algebra.

Every overlap number of overlapcheck is a union taken first and intersected after, so nothing is
counted twice however many operations run at once.

    a        ####..####..
    b        ..####..####
    a | b    ############      union
    a & b    ..##..##..##      intersection
    a - b    ##..##..##..      difference
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from overlapcheck.columns import blocks
from overlapcheck.searches import places

Ns = npt.NDArray[np.int64]
"""Array of nanoseconds, shape (n,)."""

_NONE: Final[Ns] = np.empty(0, dtype=np.int64)


def _frozen(values: Ns) -> Ns:
    values.flags.writeable = False
    return values


@dataclass(frozen=True, eq=False, slots=True)
class Intervals:
    """A canonical set of times: pieces sorted, non-empty, neither overlapping nor touching.

    Build one with `of` (any pairs) or `empty`; the constructor trusts its arguments.
    """

    start_ns: Ns
    """First nanosecond of each piece, shape (n,), strictly increasing."""
    end_ns: Ns
    """First nanosecond after each piece, shape (n,), strictly increasing."""

    @classmethod
    def of(cls, start_ns: npt.ArrayLike, end_ns: npt.ArrayLike) -> Intervals:
        """The union of any intervals, in any order.

        Args:
            start_ns: shape (n,), ns.
            end_ns: shape (n,), ns; pieces with end <= start are empty and vanish.
        """
        start = np.asarray(start_ns, dtype=np.int64)
        end = np.asarray(end_ns, dtype=np.int64)
        keep = end > start
        if not keep.all():
            start, end = start[keep], end[keep]
        if start.size == 0:
            return cls.empty()
        if start.size > 1 and (start[1:] < start[:-1]).any():
            order = np.argsort(start, kind="stable")
            start, end = start[order], end[order]
        reach = np.maximum.accumulate(end)
        opens = np.empty(start.size, dtype=bool)
        opens[0] = True
        np.greater(start[1:], reach[:-1], out=opens[1:])
        first = np.flatnonzero(opens)
        last = np.append(first[1:], start.size) - 1
        return cls(_frozen(start[first]), _frozen(reach[last]))

    @classmethod
    def pairs(cls, pairs: Iterable[tuple[int, int]]) -> Intervals:
        """The union of (start_ns, end_ns) pairs."""
        both = np.array(list(pairs), dtype=np.int64).reshape(-1, 2)
        return cls.of(both[:, 0], both[:, 1])

    @classmethod
    def empty(cls) -> Intervals:
        """No time at all."""
        return cls(_NONE, _NONE)

    @classmethod
    def span(cls, start_ns: int, end_ns: int) -> Intervals:
        """One piece, or none where end <= start."""
        return cls.of([start_ns], [end_ns])

    @classmethod
    def once_and_twice(cls, parts: Sequence[Intervals]) -> tuple[Intervals, Intervals]:
        """The time in any of several sets, and the time in two or more of them."""
        start = np.concatenate([_NONE, *(part.start_ns for part in parts)])
        end = np.concatenate([_NONE, *(part.end_ns for part in parts)])
        times = np.concatenate((start, end))
        step = np.repeat((1, -1), start.size)
        order = np.lexsort((step, times))
        depth = np.cumsum(step[order])
        opens = order[(depth == 2) & (step[order] == 1)]
        closes = order[(depth == 1) & (step[order] == -1)]
        return cls.of(start, end), cls.of(times[opens], times[closes])

    def __len__(self) -> int:
        return int(self.start_ns.size)

    def __bool__(self) -> bool:
        return self.start_ns.size > 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self.start_ns.tolist(), self.end_ns.tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Intervals):
            return NotImplemented
        return np.array_equal(self.start_ns, other.start_ns) and np.array_equal(
            self.end_ns, other.end_ns
        )

    __hash__ = None  # type: ignore[assignment]  # arrays do not hash

    def __repr__(self) -> str:
        shown = ", ".join(f"[{a}, {b})" for a, b in list(self)[:4])
        return f"Intervals({shown}{', ...' if len(self) > 4 else ''}: {self.total_ns} ns)"

    @property
    def total_ns(self) -> int:
        """Length of all pieces together, ns."""
        return int((self.end_ns - self.start_ns).sum())

    @property
    def length_ns(self) -> Ns:
        """Length of each piece, shape (n,), ns."""
        return self.end_ns - self.start_ns

    def __or__(self, other: Intervals) -> Intervals:
        """Time in either."""
        if not self or not other:
            return self or other
        return Intervals.of(
            np.concatenate((self.start_ns, other.start_ns)),
            np.concatenate((self.end_ns, other.end_ns)),
        )

    def __and__(self, other: Intervals) -> Intervals:
        """Time in both."""
        if not self or not other:
            return Intervals.empty()
        # Each piece of self meets a contiguous run of other's pieces.
        first = np.searchsorted(other.end_ns, self.start_ns, side="right")
        last = np.searchsorted(other.start_ns, self.end_ns, side="left")
        count = np.maximum(last - first, 0)
        mine = np.repeat(np.arange(self.start_ns.size), count)
        offset = np.arange(mine.size) - np.repeat(np.cumsum(count) - count, count)
        theirs = np.repeat(first, count) + offset
        start = np.maximum(self.start_ns[mine], other.start_ns[theirs])
        end = np.minimum(self.end_ns[mine], other.end_ns[theirs])
        # Already canonical: each input separates its own pieces by at least 1 ns.
        return Intervals(_frozen(start), _frozen(end))

    def __sub__(self, other: Intervals) -> Intervals:
        """Time in self but not in other."""
        if not self or not other:
            return self
        return self & other.complement(int(self.start_ns[0]), int(self.end_ns[-1]))

    def complement(self, start_ns: int, end_ns: int) -> Intervals:
        """The time of [start_ns, end_ns) that no piece covers: the gaps, edges included."""
        inside = self.clip(start_ns, end_ns)
        start = np.concatenate(([start_ns], inside.end_ns))
        end = np.concatenate((inside.start_ns, [end_ns]))
        # Pieces never touch, so only the first and the last gap can be empty.
        some = slice(int(end[0] <= start[0]), start.size - int(end[-1] <= start[-1]))
        return Intervals(_frozen(start[some]), _frozen(end[some]))

    def clip(self, start_ns: int, end_ns: int) -> Intervals:
        """The part inside [start_ns, end_ns)."""
        if end_ns <= start_ns:
            return Intervals.empty()
        first = int(np.searchsorted(self.end_ns, start_ns, side="right"))
        last = int(np.searchsorted(self.start_ns, end_ns, side="left"))
        if first >= last:
            return Intervals.empty()
        return Intervals(
            _frozen(np.maximum(self.start_ns[first:last], start_ns)),
            _frozen(np.minimum(self.end_ns[first:last], end_ns)),
        )

    def covered_before(self, at_ns: npt.ArrayLike) -> Ns:
        """How much of the set lies before each time.

        Args:
            at_ns: times, shape (k,), ns, any order.

        Returns:
            shape (k,), ns. `covered_before(b) - covered_before(a)` is the overlap with [a, b).
        """
        at = np.asarray(at_ns, dtype=np.int64)
        return self._covered(at, np.concatenate(([0], np.cumsum(self.length_ns))))

    def _covered(self, at: Ns, whole: Ns) -> Ns:
        """See `covered_before`; `whole` is the time that the pieces before each one cover."""
        if not self:
            return np.zeros(at.shape, dtype=np.int64)
        index = places(self.start_ns, at, side="right")
        before = np.maximum(index - 1, 0)
        start = self.start_ns[before]
        partial = np.minimum(at, self.end_ns[before]) - start
        result: Ns = np.where(index > 0, whole[before] + partial, 0)
        return result

    def overlap_with(self, start_ns: npt.ArrayLike, end_ns: npt.ArrayLike) -> Ns:
        """How much of each interval the set covers.

        Args:
            start_ns: shape (k,), ns.
            end_ns: shape (k,), ns; end <= start gives 0.

        Returns:
            shape (k,), ns, between 0 and the interval's length.
        """
        start, end = np.asarray(start_ns, dtype=np.int64), np.asarray(end_ns, dtype=np.int64)
        whole = np.concatenate(([0], np.cumsum(self.length_ns)))
        covered = np.empty(start.shape, dtype=np.int64)
        for block in blocks(start.size):
            begin, finish = start[block], end[block]
            # Times mostly ascend: then few pieces are near those of one block.
            first = max(int(np.searchsorted(self.end_ns, begin.min(), side="right")) - 1, 0)
            near = slice(first, int(np.searchsorted(self.start_ns, finish.max())))
            pieces = Intervals(self.start_ns[near], self.end_ns[near])
            before = pieces._covered(begin, whole[near])
            np.maximum(pieces._covered(finish, whole[near]) - before, 0, out=covered[block])
        return covered
