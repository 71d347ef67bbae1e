"""Kernels that a copy or collective slows down: overlap that costs part of what it wins.

The same kernel at the same grid, alone against under a transfer:

    kernel    ####  ####  ######  ######  ####
    copy                  ######  ######             median 4 alone, 6 shared: ratio 1.5
"""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import Ints, Mask, by_group, chosen, groups
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
    mine = np.flatnonzero(inside)
    if mine.size < 2 * MIN_SAMPLES:
        return Contention.none()
    start, end = chosen(kernels.start_ns, mine), chosen(kernels.end_ns, mine)
    length = end - start
    under_collective = collectives.overlap_with(start, end) / length
    covered = np.maximum(copies.overlap_with(start, end) / length, under_collective)
    if not (covered >= SHARED_FROM).any():
        return Contention.none()
    # Nodes of a graph that share name and grid still do different work.
    keys = (kernels.name_id, kernels.grid_count, kernels.block_count, kernels.graph_node_id)
    first, group = groups(*(chosen(key, mine) for key in keys))
    alone = np.bincount(group[covered <= ALONE_UP_TO], minlength=first.size)
    shared = np.bincount(group[covered >= SHARED_FROM], minlength=first.size)
    enough = np.flatnonzero((alone >= MIN_SAMPLES) & (shared >= MIN_SAMPLES))
    if enough.size == 0:
        return Contention.none()
    order, bounds = by_group(group, first.size)
    rows = []
    for number in enough.tolist():
        part = order[bounds[number] : bounds[number + 1]]
        found = _compare(length[part], covered[part], under_collective[part])
        if found is not None:
            row = mine[first[number]]
            rows.append((int(kernels.name_id[row]), int(kernels.grid_count[row]), *found))
    rows.sort(key=lambda row: (-row[6], row[0], row[1]))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 8).T
    names = list(Contention.__dataclass_fields__)[:-1]
    counted = dict(zip(names, columns, strict=False))
    return Contention(**counted, with_collective=columns[7].astype(np.bool_))


def _compare(
    length: Ints, covered: np.ndarray, under_collective: np.ndarray
) -> tuple[int, int, int, int, int, int] | None:
    alone, shared = covered <= ALONE_UP_TO, covered >= SHARED_FROM
    alone_ns, shared_ns = float(np.median(length[alone])), float(np.median(length[shared]))
    if not MIN_RATIO * alone_ns <= shared_ns <= MAX_RATIO * alone_ns:
        return None
    extra = int(np.maximum(length[shared] - alone_ns, 0).sum())
    by_collective = int(np.median(under_collective[shared]) >= SHARED_FROM)
    return (
        int(alone.sum()),
        round(alone_ns),
        int(shared.sum()),
        round(shared_ns),
        extra,
        by_collective,
    )
