"""A device's window as it is drawn: rows of events, bounded however long the trace is.

Where a trace has more events than can be drawn, neighbours of one kind become a block that keeps
their count and their busy time; the parts worth reading (the worst instance of each cause, typical
steps) keep every event.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from overlapcheck.codes import Code
from overlapcheck.columns import ABSENT, Columns, Ints, Mask


class RowRole(StrEnum):
    """What a row shows."""

    CAUSES = "causes"
    STREAM = "stream"
    MIGRATIONS = "migrations"
    RANGES = "ranges"
    """NVTX ranges of a thread, one level of them."""
    THREAD = "thread"


class EventKind(Code):
    """What an event is; the idle time of the causes' row counts on from `IDLE`, by Reason."""

    COMPUTE = 0
    COMMUNICATION = 1
    H2D = 2
    D2H = 3
    P2P = 4
    D2D = 5
    MEMSET = 6
    MIGRATION = 7
    OPAQUE = 8
    """A graph launch of unknown content."""
    HELD = 9
    """A call that held its thread."""
    CALL = 10
    """Any other CUDA call."""
    RANGE = 11
    """A range of the user's."""
    IDLE = 32


@dataclass(frozen=True)
class TimelineRow:
    """One row, from the top."""

    role: RowRole
    label: str
    note: str
    tid: int = ABSENT
    """Thread of the host that it shows."""


@dataclass(frozen=True)
class TimelineEvents(Columns):
    """Events and blocks, sorted by (row, start_ns)."""

    row: Ints
    start_ns: Ints
    end_ns: Ints
    kind: Ints
    """EventKind; in the causes' row EventKind.IDLE + Reason."""
    name: Ints
    """Index into `Timeline.names`; of a block, the longest event's. Of idle time, the kernel that
    ended it."""
    count: Ints
    """Events that a block stands for; 1 for an event."""
    busy_ns: Ints
    """Their lengths added up."""
    bytes: Ints
    """What they moved; 0 where nothing."""


def bits(mask: Mask) -> NDArray[np.uint8]:
    """Which events have something, as bytes: a bit for each event, the lowest first."""
    return np.packbits(mask, bitorder="little")


@dataclass(frozen=True)
class TimelineSteps(Columns):
    """Bands of the window, in order; of very many steps, several share one."""

    number: Ints
    """First step of the band."""
    start_ns: Ints
    end_ns: Ints


@dataclass(frozen=True)
class Mark:
    """One link of a chain: launch, what was waited for, idle time, kernel."""

    row: int
    start_ns: int
    end_ns: int
    role: str
    """"launch", "held", "waited for", "idle" or "kernel"."""
    text: str


@dataclass(frozen=True)
class Instance:
    """One piece of time that a cause is blamed for, and the chain behind it."""

    cause: str
    start_ns: int
    end_ns: int
    view_start_ns: int
    """What to show of the window to see it whole."""
    view_end_ns: int
    marks: tuple[Mark, ...]
    """In order of time."""


@dataclass(frozen=True)
class Timeline:
    """Everything that the drawing of one device needs."""

    start_ns: int
    end_ns: int
    typical_start_ns: int
    """Steps to begin with, where the whole window would be too much."""
    typical_end_ns: int
    rows: tuple[TimelineRow, ...]
    rows_left_out: int
    """Streams and threads that did little."""
    events: TimelineEvents
    names: tuple[str, ...]
    steps: TimelineSteps
    step_name: str
    """Name of a step with # for its number."""
    instances: tuple[Instance, ...]
    """By cause in rank order, the worst of each first."""
    recorded: int
    """Events behind `events`."""
    resolution_ns: int
    """Blocks cover at most about this much; 0 where every event is drawn."""
    host_moved_ns: int = 0
    """By how much the host's rows were moved, onto the device's clock."""
