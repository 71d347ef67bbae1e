"""Edges under construction, and finding operations by stream and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import (
    ABSENT,
    ABSENT_TIME,
    Index,
    Ints,
    Whole,
    chosen,
    compact,
    constant,
    narrow,
)
from overlapcheck.grouping import groups, ordered
from overlapcheck.order import Edges, Operations, Relation
from overlapcheck.searches import last_before


@dataclass(frozen=True)
class Pairs:
    """Operations of which one had to end before the other could start, shape (n,) each."""

    after: Index
    before: Index
    call: Index
    """Row of the call that made the order; ABSENT."""

    @classmethod
    def of(cls, after: Index, before: Index) -> Pairs:
        """Pairs that no call made."""
        return cls(after, before, constant(ABSENT, after.size))

    @classmethod
    def none(cls) -> Pairs:
        """No pairs."""
        nothing = np.empty(0, dtype=np.intp)
        return cls(nothing, nothing, nothing)

    @classmethod
    def joined(cls, parts: Sequence[Pairs]) -> Pairs:
        """All pairs of several."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([cls.none().after, *(part.after for part in parts)]),
            np.concatenate([cls.none().before, *(part.before for part in parts)]),
            np.concatenate([cls.none().call, *(part.call for part in parts)]),
        )

    def on_rows(self, rows: Index | None) -> Pairs:
        """The pairs with other numbers: `rows` has the new number of each row; None keeps them."""
        return self if rows is None else Pairs(rows[self.after], rows[self.before], self.call)


def edges(found: Sequence[tuple[Relation, bool, Pairs]]) -> Edges:
    """One table of edges from pairs with their relation, and whether that is inferred."""
    some = [(relation, inferred, pairs) for relation, inferred, pairs in found if pairs.after.size]
    if not some:
        return Edges.none()
    counts = [pairs.after.size for _, _, pairs in some]
    relations = np.array([relation for relation, _, _ in some], dtype=np.int8)
    proofs = np.array([inferred for _, inferred, _ in some], dtype=np.bool_)
    calls = [narrow(pairs.call) for _, _, pairs in some]
    return Edges(
        before=np.concatenate([narrow(pairs.before) for _, _, pairs in some]),
        after=np.concatenate([narrow(pairs.after) for _, _, pairs in some]),
        relation=compact(np.repeat(relations, counts)),
        inferred=compact(np.repeat(proofs, counts)),
        call=calls[0] if len(calls) == 1 else compact(np.concatenate(calls)),
    )


def keyed(stream: Ints, time_ns: Ints, origin: int) -> Ints:
    """Stream and time in one sortable number: 48 bits of time hold three days."""
    limited = np.clip(time_ns - origin, -1, (1 << 48) - 2) + 1
    return (stream << 48) | limited


def neighbours(stream: Ints) -> Index:
    """The row before each one in its stream; ABSENT for the first.

    stream    7 7 7 13 13 7        three runs: only the last one's first row is not behind the
    before    . 0 1 .  3  2        row before it
    """
    before = np.arange(-1, stream.size - 1)
    opens = np.ones(stream.size, dtype=np.bool_)
    np.not_equal(stream[1:], stream[:-1], out=opens[1:])
    first = np.flatnonzero(opens)
    last = np.append(first[1:], stream.size) - 1
    runs = ordered(stream[first])
    again = np.flatnonzero(stream[first[runs[1:]]] == stream[first[runs[:-1]]])
    before[first] = ABSENT
    before[first[runs[again + 1]]] = last[runs[again]]
    return before


class Launches:
    """Finds operations by their stream, or another small number, and when they were launched."""

    def __init__(self, ops: Operations, number: Ints) -> None:
        self._number = number
        self._known = np.flatnonzero(ops.launch_start_ns != ABSENT_TIME)
        launch = chosen(ops.launch_start_ns, self._known)
        self._origin = int(launch.min()) if launch.size else 0
        keys = keyed(chosen(number, self._known), launch, self._origin)
        self._order = ordered(keys)
        self._keys = keys[self._order]

    def first_from(self, number: Ints, time_ns: Ints) -> Index:
        """Row of the first operation launched at or after each time; ABSENT for none."""
        return self._row(last_before(self._keys, self._key(number, time_ns)) + 1, number)

    def last_before(self, number: Ints, time_ns: Ints) -> Index:
        """Row of the last operation launched before each time; ABSENT for none."""
        return self._row(last_before(self._keys, self._key(number, time_ns)), number)

    def _key(self, number: Ints, time_ns: Ints) -> Ints:
        return keyed(number, time_ns, self._origin)

    def _row(self, at: Index, number: Ints) -> Index:
        if self._known.size == 0 or number.size == 0:
            return np.full(number.shape, ABSENT, dtype=np.intp)
        inside = (at >= 0) & (at < self._known.size)
        rows = self._known[self._order[np.clip(at, 0, self._known.size - 1)]]
        return np.where(inside & (self._number[rows] == number), rows, ABSENT)


class StreamNumbers:
    """Dense stream numbers of operations by (context, stream) ids."""

    def __init__(self, ops: Operations) -> None:
        rows, _ = groups(ops.stream)
        keys = zip(ops.context_id[rows].tolist(), ops.stream_id[rows].tolist(), strict=True)
        pairs = zip(keys, ops.stream[rows].tolist(), strict=True)
        # What runs on no stream, like a migration of unified memory, waits for none.
        self._numbers = {key: number for key, number in pairs if key[1] != ABSENT}

    def of(self, context_id: Whole, stream_id: Whole) -> Ints:
        """Number of each pair of ids; ABSENT where no operation has it."""
        if context_id.size == 0:
            return np.empty(0, dtype=np.int64)
        first, group = groups(context_id, stream_id)
        pairs = zip(context_id[first].tolist(), stream_id[first].tolist(), strict=True)
        return np.array([self._numbers.get(p, ABSENT) for p in pairs], dtype=np.int64)[group]

    def known(self, keys: Sequence[tuple[int, int]]) -> list[int]:
        """Numbers of those pairs of ids that operations have."""
        return [self._numbers[key] for key in keys if key in self._numbers]
