"""Kernels that a copy or collective slows down: overlap that costs part of what it wins.

The same kernel at the same grid, alone against under a transfer:

    kernel    ####  ####  ######  ######  ####
    copy                  ######  ######             median 4 alone, 6 shared: ratio 1.5
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Floats, Index, Ints, blocks, chosen, is_in
from overlapcheck.grouping import by_group, distinct, groups
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import Contention, Window
from overlapcheck.passes.process import DeviceTables
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace_tables import Kernels


@dataclass(frozen=True)
class Transfers:
    """When data moves beside kernels."""

    copies: Intervals
    """Over the link."""
    collectives: Intervals


def contention(
    device: DeviceTables, transfers: Transfers, window: Window, limits: Thresholds
) -> Contention:
    """Kernels with enough samples both ways whose medians differ noticeably.

    Args:
        device: the device's rows.
        transfers: what may slow its kernels down.
        window: only kernels wholly inside count.
        limits: how many samples are enough, and what is noticeable.
    """
    kernels, communication = device.kernels, device.communication
    inside = (
        ~communication
        & ~kernels.opaque
        & (kernels.start_ns >= window.start_ns)
        & (kernels.end_ns <= window.end_ns)
        & (kernels.end_ns > kernels.start_ns)
    )
    if not inside.any() or not (transfers.copies or transfers.collectives):
        return Contention.none()
    moving = (transfers.copies, transfers.collectives)
    alone = np.zeros(len(kernels), dtype=bool)
    shared = np.zeros(len(kernels), dtype=bool)
    for block in blocks(len(kernels)):
        covered = _covered(kernels.start_ns[block], kernels.end_ns[block], moving)
        alone[block] = inside[block] & (covered <= limits.contention_alone_up_to)
        shared[block] = inside[block] & (covered >= limits.contention_shared_from)
    # Kernels that never run under a transfer have nothing to be compared with.
    met = is_in(kernels.name_id, distinct(kernels.name_id[shared]))
    mine = np.flatnonzero((alone | shared) & met)
    if mine.size < 2 * limits.contention_samples:
        return Contention.none()
    # Nodes of a graph that share name and grid still do different work.
    keys = (kernels.name_id, kernels.grid_count, kernels.block_count, kernels.graph_node_id)
    first, group = groups(*(chosen(key, mine) for key in keys))
    enough = np.flatnonzero(
        (np.bincount(group[alone[mine]], minlength=first.size) >= limits.contention_samples)
        & (np.bincount(group[shared[mine]], minlength=first.size) >= limits.contention_samples)
    )
    if enough.size == 0:
        return Contention.none()
    order, bounds = by_group(group, first.size)
    rows = []
    for number in enough.tolist():
        part = mine[order[bounds[number] : bounds[number + 1]]]
        samples = (part[alone[part]], part[shared[part]])
        found = _compare(kernels, samples, transfers.collectives, limits)
        if found is not None:
            row = mine[first[number]]
            rows.append((int(kernels.name_id[row]), int(kernels.grid_count[row]), *found))
    # Stable: of equal ones by name and grid, as the groups are.
    rows.sort(key=lambda row: -row[6])
    columns = np.array(rows, dtype=np.int64).reshape(len(rows), 8).T
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
    kernels: Kernels, samples: tuple[Index, Index], collectives: Intervals, limits: Thresholds
) -> tuple[int, int, int, int, int, int] | None:
    alone, shared = samples
    length = kernels.end_ns[shared] - kernels.start_ns[shared]
    alone_ns = float(np.median(kernels.end_ns[alone] - kernels.start_ns[alone]))
    shared_ns = float(np.median(length))
    least, most = limits.contention_ratio * alone_ns, limits.contention_most_ratio * alone_ns
    if not least <= shared_ns <= most:
        return None
    extra = int(np.maximum(length - alone_ns, 0).sum())
    under_collective = collectives.overlap_with(kernels.start_ns[shared], kernels.end_ns[shared])
    by_collective = int(np.median(under_collective / length) >= limits.contention_shared_from)
    return alone.size, round(alone_ns), shared.size, round(shared_ns), extra, by_collective
