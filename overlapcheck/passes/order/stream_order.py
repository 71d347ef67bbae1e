"""What ran before in the same stream."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT
from overlapcheck.grouping import ordered
from overlapcheck.order import Operations, Work
from overlapcheck.passes.order.candidates import Pairs, keyed, neighbours
from overlapcheck.searches import last_at_or_before


def stream_order(ops: Operations) -> Pairs:
    """In each stream, the operation that ended last before each one started."""
    if len(ops) == 0:
        return Pairs.none()
    orderly = _one_after_another(ops)
    if orderly is not None:
        return orderly
    origin = int(ops.start_ns.min())
    keys = keyed(ops.stream, ops.end_ns, origin)
    by_end = ordered(keys)
    at = last_at_or_before(keys[by_end], keyed(ops.stream, ops.start_ns, origin))
    before = by_end[np.maximum(at, 0)]
    # An operation of no length ends where it starts and would find itself.
    itself = before == np.arange(len(ops))
    before = np.where(itself, by_end[np.maximum(at - 1, 0)], before)
    valid = (at >= 0) & (ops.stream[before] == ops.stream) & (before != np.arange(len(ops)))
    valid &= ops.work != Work.MIGRATION
    after = np.flatnonzero(valid)
    return Pairs.of(after, before[after])


def _one_after_another(ops: Operations) -> Pairs | None:
    """The neighbours in each stream, where no operation starts before the one before it ended."""
    # One of no length could follow itself; migrations belong to no stream.
    if (ops.end_ns <= ops.start_ns).any() or (ops.work == Work.MIGRATION).any():
        return None
    before = neighbours(ops.stream)
    after = np.flatnonzero(before != ABSENT)
    before = before[after]
    if (ops.start_ns[after] < ops.end_ns[before]).any():
        return None
    return Pairs.of(after, before)
