"""How a stretch of a device's time is filled, and what follows from it: the numbers of the verdict.

The window of a device and the device time of an NVTX range are both such stretches, so there is one
definition of overlap, idle and recoverable for both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey


@dataclass(frozen=True)
class TimeUse(ABC):
    """Everything is clipped to the stretch."""

    key: DeviceKey
    compute: Intervals
    opaque: Intervals
    """Part of compute that is graph launches of unknown content."""
    stalled: Intervals
    """Part of compute in which unified memory migrates: kernels that wait for their pages."""
    communication: Intervals
    copies: Mapping[Direction, CopyOverlap]
    """Only directions that have copies in it."""
    one_copy_engine: bool
    """Whether copies in and out take turns on the device's only copy engine."""
    taken: Intervals = field(default_factory=Intervals.empty, kw_only=True)
    """Idle time that is the recording's own, no part of the stretch at the program's own pace; none
    as recorded."""

    @property
    @abstractmethod
    def recorded_ns(self) -> int:
        """Length of the stretch as recorded, ns."""

    @property
    def length_ns(self) -> int:
        """Length of the stretch at the pace that is judged, ns."""
        return self.recorded_ns - self.taken.total_ns

    @property
    def compute_ns(self) -> int:
        """Time in which the device computes."""
        return self.compute.total_ns

    @property
    def idle_ns(self) -> int:
        """Time in which it does not, at the pace that is judged."""
        return self.length_ns - self.compute_ns

    @property
    def recorded_idle_ns(self) -> int:
        """Time in which it did not, as recorded."""
        return self.recorded_ns - self.compute_ns

    @property
    def communication_ns(self) -> int:
        """Communication at the pace that is judged."""
        return (self.communication - self.taken).total_ns

    @property
    def communication_hidden_ns(self) -> int:
        """Communication under compute."""
        return (self.communication & self.compute).total_ns

    @property
    def bound_ns(self) -> int:
        """The shortest it could be: its busiest resource alone.

        Pageable copies give no relief, for their length is itself the fault; neither does compute
        that waits for pages.
        """
        computing = self.compute_ns - self.stalled.total_ns
        return max(computing, self.communication_ns, self.link_bound_ns)

    @property
    def link_bound_ns(self) -> int:
        """Pinned copies of the busier direction; of both where they share one engine."""
        pinned = [
            self.copies[direction].pinned
            for direction in (Direction.H2D, Direction.D2H)
            if direction in self.copies
        ]
        if self.one_copy_engine and len(pinned) == 2:
            return (pinned[0] | pinned[1]).total_ns
        return max((busy.total_ns for busy in pinned), default=0)

    @property
    def recoverable(self) -> float | None:
        """Share of it that perfect overlap could win back at most."""
        return 1 - self.bound_ns / self.length_ns if self.length_ns else None


@dataclass(frozen=True)
class RangeUse(TimeUse):
    """Device time of the NVTX ranges whose name matches a pattern; see `passes/range_use.py`."""

    pattern: str
    """NVTX name, * for any letters."""
    closed: int
    """Ranges of the process that match and have an end."""
    instances: int
    """Those of them that launched work which runs in the device's window."""
    time: Intervals
    """Union of the instances' device time, inside the window."""

    @property
    def recorded_ns(self) -> int:
        """Length of the device time as recorded, ns."""
        return self.time.total_ns
