"""Hidden and exposed time of the copies of each direction."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import Mask
from overlapcheck.copies import CopyOverlap, Direction, UnifiedMigrations
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import UNIFIED_KINDS, CopyKind
from overlapcheck.measurements import Window
from overlapcheck.trace_tables import Copies

DIRECTION_OF = {
    CopyKind.HOST_TO_DEVICE: Direction.H2D,
    CopyKind.DEVICE_TO_HOST: Direction.D2H,
    CopyKind.PEER_TO_PEER: Direction.P2P,
    CopyKind.DEVICE_TO_DEVICE: Direction.D2D,
}


def copy_overlaps(
    copies: Copies, compute: Intervals, window: Window
) -> dict[Direction, CopyOverlap]:
    """Copies against compute, per direction.

    Args:
        copies: the device's copies.
        compute: the device's compute inside the window.
        window: times are clipped to it; operations that touch it are counted whole.

    Returns:
        Only directions that have copies in the window.
    """
    inside = copies.rows(touching(copies, window))
    found = {}
    for kind, direction in DIRECTION_OF.items():
        mine = inside.rows(inside.kind == kind)
        if len(mine):
            copy = clipped(mine, window)
            found[direction] = CopyOverlap(
                direction=direction,
                count=len(mine),
                bytes=int(mine.bytes.sum()),
                pageable_count=int(mine.pageable.sum()),
                copy=copy,
                hidden=copy & compute,
                pageable=clipped(mine.rows(mine.pageable), window),
                pinned=clipped(mine.rows(mine.pinned), window),
                compute_ns=compute.total_ns,
            )
    return found


def unified_migrations(copies: Copies, window: Window) -> UnifiedMigrations:
    """Migrations of unified memory inside the window."""
    mine = copies.rows(np.isin(copies.kind, UNIFIED_KINDS) & touching(copies, window))
    return UnifiedMigrations(len(mine), int(mine.bytes.sum()), clipped(mine, window))


def touching(table: Copies, window: Window) -> Mask:
    """Mask of the rows of which any part lies inside the window."""
    mask: Mask = (table.start_ns < window.end_ns) & (table.end_ns > window.start_ns)
    return mask


def clipped(table: Copies, window: Window) -> Intervals:
    """Union of the rows, cut to the window."""
    union = Intervals.of(table.start_ns, table.end_ns)
    return union.clip(window.start_ns, window.end_ns)
