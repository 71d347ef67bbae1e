"""Communicators whose collectives ranks begin in different order, and so wait for each other.

rank 0   s20 [a.......]            begins a, then b
s24    [b.....]
rank 1   s24    [b..]              begins b first: in a, rank 0 waits until b is through
s20         [a..]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from overlapcheck.columns import Index, Ints, Mask
from overlapcheck.rendezvous import Meeting
from overlapcheck.thresholds import Thresholds


@dataclass(frozen=True)
class Crossing:
    """Two meetings of the same ranks, in the order of the ranks that they share."""

    one: int
    """Position of a meeting."""
    other: int
    ranks: tuple[int, ...]
    """The shared members, by whatever numbers them."""
    begins_with_one: tuple[bool, ...]
    """Of each: whether it mostly begins the collective of `one` first."""
    pairs: int
    """Collectives of both that were compared, by step and position."""
    crossed: int
    """Pairs that the ranks begin in different order."""
    waiting_ns: tuple[int, ...]
    """Of each rank: exposed waiting in the crossed pairs."""


def crossings(
    meetings: Sequence[Meeting], owners: Sequence[Sequence[int]], limits: Thresholds
) -> tuple[Crossing, ...]:
    """All pairs of meetings whose ranks disagree about the order, costliest first.

    Args:
        meetings: of all ranks.
        owners: the rank that each member of each meeting is.
        limits: how often, and by how much.
    """
    meetings_of: dict[int, list[int]] = {}
    for number, ranks in enumerate(owners):
        for rank in ranks:
            meetings_of.setdefault(rank, []).append(number)
    shared = Counter(
        pair for numbers in meetings_of.values() for pair in combinations(sorted(set(numbers)), 2)
    )
    found = [
        crossing
        for (one, other), ranks in shared.items()
        if ranks > 1 and (crossing := _crossing((one, other), meetings, owners, limits)) is not None
    ]
    return tuple(sorted(found, key=lambda c: (-max(c.waiting_ns), c.one, c.other)))


def _crossing(
    pair: tuple[int, int],
    meetings: Sequence[Meeting],
    owners: Sequence[Sequence[int]],
    limits: Thresholds,
) -> Crossing | None:
    one, other = pair
    ranks = [rank for rank in owners[one] if rank in owners[other]]
    first, second = meetings[one], meetings[other]
    a, b = _paired(first, second)
    if a.size < limits.crossed_least:
        return None
    rows = [owners[one].index(rank) for rank in ranks]
    others = [owners[other].index(rank) for rank in ranks]
    # Both starts are the same rank's: no clock of another matters.
    ahead = second.start_ns[others][:, b] - first.start_ns[rows][:, a]
    crossed: Mask = np.logical_and(
        (ahead > limits.order_apart_ns).any(axis=0),
        (ahead < -limits.order_apart_ns).any(axis=0),
        dtype=np.bool_,
    )
    if crossed.sum() < max(limits.crossed_least, limits.crossed_share * a.size):
        return None
    waiting = (first.exposed_waiting_ns[rows][:, a] + second.exposed_waiting_ns[others][:, b])[
        :, crossed
    ].sum(axis=1)
    return Crossing(
        one=one,
        other=other,
        ranks=tuple(ranks),
        begins_with_one=tuple((np.median(ahead[:, crossed], axis=1) > 0).tolist()),
        pairs=int(a.size),
        crossed=int(crossed.sum()),
        waiting_ns=tuple(waiting.tolist()),
    )


def _paired(one: Meeting, other: Meeting) -> tuple[Index, Index]:
    """Occasions of both with the same step and position in it."""
    _, a, b = np.intersect1d(_places(one), _places(other), return_indices=True)
    stepped = one.step[a] >= 0
    return a[stepped], b[stepped]


def _places(meeting: Meeting) -> Ints:
    """Step and position of each occasion among the meeting's own of that step, as one number."""
    first = np.searchsorted(meeting.step, meeting.step, side="left")
    position = np.arange(meeting.step.size) - first
    places: Ints = (meeting.step << 32) | position
    return places
