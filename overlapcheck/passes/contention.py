"""Kernels that a copy or collective slows down: overlap that costs part of what it wins.

The same kernel at the same grid, alone against under a transfer:

    kernel    ####  ####  ######  ######  ####
    copy                  ######  ######             median 4 alone, 6 shared: ratio 1.5
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlapcheck.columns import (
    Floats,
    Index,
    Ints,
    Mask,
    blocks,
    by_group,
    chosen,
    distinct,
    groups,
    is_in,
)
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import Contention, Window
from overlapcheck.trace import Kernels

MIN_SAMPLES = 5
MIN_RATIO = 1.2
# Transfers cannot slow a kernel this much: these launches did different amounts of work.
MAX_RATIO = 4.0
# Covered this much, a kernel counts as shared; covered hardly at all, as alone.
SHARED_FROM = 0.5
ALONE_UP_TO = 0.05


def contention(
    kernels: Kernels,
    communication: Mask,
    copies: Intervals,
    collectives: Intervals,
    window: Window,
) -> Contention:
    """Kernels with enough samples both ways whose medians differ by a fifth or more.

    Args:
        kernels: the device's kernels.
        communication: which of them are communication.
        copies: when copies over the link run.
        collectives: when communication runs.
        window: only kernels wholly inside count.
    """
    inside = (
        ~communication
        & ~kernels.opaque
        & (kernels.start_ns >= window.start_ns)
        & (kernels.end_ns <= window.end_ns)
        & (kernels.end_ns > kernels.start_ns)
    )
    if not inside.any() or not (copies or collectives):
        return Contention.none()
    transfers = (copies, collectives)
    alone = np.zeros(len(kernels), dtype=bool)
    shared = np.zeros(len(kernels), dtype=bool)
    for block in blocks(len(kernels)):
        covered = _covered(kernels.start_ns[block], kernels.end_ns[block], transfers)
        alone[block] = inside[block] & (covered <= ALONE_UP_TO)
        shared[block] = inside[block] & (covered >= SHARED_FROM)
    # Kernels that never run under a transfer have nothing to be compared with.
    met = is_in(kernels.name_id, distinct(kernels.name_id[shared]))
    mine = np.flatnonzero((alone | shared) & met)
    if mine.size < 2 * MIN_SAMPLES:
        return Contention.none()
    # Nodes of a graph that share name and grid still do different work.
    keys = (kernels.name_id, kernels.grid_count, kernels.block_count, kernels.graph_node_id)
    first, group = groups(*(chosen(key, mine) for key in keys))
    enough = np.flatnonzero(
        (np.bincount(group[alone[mine]], minlength=first.size) >= MIN_SAMPLES)
        & (np.bincount(group[shared[mine]], minlength=first.size) >= MIN_SAMPLES)
    )
    if enough.size == 0:
        return Contention.none()
    order, bounds = by_group(group, first.size)
    rows = []
    for number in enough.tolist():
        part = mine[order[bounds[number] : bounds[number + 1]]]
        found = _compare(kernels, part[alone[part]], part[shared[part]], collectives)
        if found is not None:
            row = mine[first[number]]
            rows.append((int(kernels.name_id[row]), int(kernels.grid_count[row]), *found))
    rows.sort(key=lambda row: (-row[6], row[0], row[1]))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 8).T
    names = list(Contention.__dataclass_fields__)[:-1]
    counted = dict(zip(names, columns, strict=False))
    return Contention(**counted, with_collective=columns[7].astype(np.bool_))


def _covered(start_ns: Ints, end_ns: Ints, transfers: Sequence[Intervals]) -> Floats:
    """Share of each kernel under the transfers that cover most of it; 0 for one of no length."""
    length = np.maximum(end_ns - start_ns, 1)
    shares = [busy.overlap_with(start_ns, end_ns) / length for busy in transfers if busy]
    most: Floats = np.maximum.reduce(shares)
    return most


def _compare(
    kernels: Kernels, alone: Index, shared: Index, collectives: Intervals
) -> tuple[int, int, int, int, int, int] | None:
    length = kernels.end_ns[shared] - kernels.start_ns[shared]
    alone_ns = float(np.median(kernels.end_ns[alone] - kernels.start_ns[alone]))
    shared_ns = float(np.median(length))
    if not MIN_RATIO * alone_ns <= shared_ns <= MAX_RATIO * alone_ns:
        return None
    extra = int(np.maximum(length - alone_ns, 0).sum())
    under_collective = collectives.overlap_with(kernels.start_ns[shared], kernels.end_ns[shared])
    by_collective = int(np.median(under_collective / length) >= SHARED_FROM)
    return alone.size, round(alone_ns), shared.size, round(shared_ns), extra, by_collective
