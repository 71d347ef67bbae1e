"""Copies of one device inside the window: by direction, and how much of them computing hides."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from overlapcheck.intervals import Intervals


class Direction(StrEnum):
    """Where a copy goes."""

    H2D = "h2d"
    D2H = "d2h"
    P2P = "p2p"
    D2D = "d2d"


JUDGED_DIRECTIONS = (Direction.H2D, Direction.D2H, Direction.P2P)
"""Directions that use the link; copies within one device are listed, not judged."""


@dataclass(frozen=True)
class CopyOverlap:
    """Copies of one direction inside the window.

    compute   ####....####
    copy      ..####......     hidden 2, exposed 2
    """

    direction: Direction
    count: int
    """Copies that touch the window."""
    bytes: int
    pageable_count: int
    copy: Intervals
    hidden: Intervals
    """copy ∩ compute."""
    pageable: Intervals
    pinned: Intervals
    compute_ns: int

    @property
    def copy_ns(self) -> int:
        """Time in which at least one such copy runs."""
        return self.copy.total_ns

    @property
    def hidden_ns(self) -> int:
        """Part of it under compute."""
        return self.hidden.total_ns

    @property
    def exposed_ns(self) -> int:
        """Part of it not under compute."""
        return self.copy_ns - self.hidden_ns

    @property
    def overlap(self) -> float | None:
        """Hidden / copy."""
        return self.hidden_ns / self.copy_ns if self.copy_ns else None

    @property
    def ceiling(self) -> float | None:
        """The most that any schedule could hide: min(1, compute / copy)."""
        return min(1.0, self.compute_ns / self.copy_ns) if self.copy_ns else None

    @property
    def pageable_share(self) -> float:
        """Share of the copy time that is pageable."""
        return self.pageable.total_ns / self.copy_ns if self.copy_ns else 0.0

    @property
    def could_win_ns(self) -> int:
        """The most that hiding more could win: min(exposed, compute − hidden)."""
        return max(0, min(self.exposed_ns, self.compute_ns - self.hidden_ns))


@dataclass(frozen=True)
class UnifiedMigrations:
    """Unified-memory migrations in the window: listed apart, never counted as copies."""

    count: int
    bytes: int
    busy: Intervals
