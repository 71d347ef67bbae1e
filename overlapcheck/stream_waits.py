"""Who waited for whom: every wait of a stream or of a host thread, as it was handed over.

    host    rec e   wait s13 e            launch C
    s7      A──┐
    s13        └──────────────────────────▶C        the wait of C's stream leads from A to C

An event stands for all that its stream had been given before it was recorded, and a wait holds all
that its stream is given afterwards: the wait leads from the last operation handed over before the
record to the first one handed over after the wait, however long before each ran.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from overlapcheck.codes import Code
from overlapcheck.columns import Bools, Codes, Columns, Index, Ints, Rows
from overlapcheck.kinds import StreamKind
from overlapcheck.order import Operations


@dataclass(frozen=True)
class StreamTable(Columns):
    """Streams of a process: those that run something, then those that only waits and records name.

    The first have their number in `Operations`.
    """

    context_id: Ints
    stream_id: Ints
    device_id: Ints
    """Device that most of its operations ran on, else that of its context; ABSENT."""
    kind: Ints
    """StreamKind."""
    priority: Ints
    described: Bools
    """Whether kind and priority were recorded."""


class Record(Code):
    """What is known of the record that a wait was for."""

    KNOWN = 0
    NEVER = 1
    """The event was never recorded while the recorder looked: the wait does nothing."""
    UNKNOWN = 2
    """The recording does not say which record it was."""


@dataclass(frozen=True)
class Waits(Columns):
    """Waits of streams for events, in the order in which they were handed over."""

    call: Rows
    """Row of the process's call."""
    name_id: Ints
    time_ns: Ints
    """When it was handed over."""
    stream: Rows
    """Stream that waits; ABSENT where not known."""
    recorded_on: Rows
    """Stream that the event was recorded on; ABSENT where not known."""
    record: Codes
    """Record."""
    record_row: Rows
    """Row in `Records`; ABSENT where it is not known."""
    before: Rows
    """Operation that had to end: the last of its stream before the record; ABSENT for none."""
    after: Rows
    """Operation that was held: the first of the waiting stream after the wait; ABSENT for none."""
    through: Rows
    """Stream, itself without an operation in between, that handed the wait on; ABSENT for a wait
    that is direct. Such a row stands beside that of the wait itself."""


@dataclass(frozen=True)
class Joins(Columns):
    """Waits of host threads for the device, in order of time."""

    call: Rows
    """Row of the process's call."""
    name_id: Ints
    start_ns: Ints
    end_ns: Ints
    tid: Ints
    stream: Rows
    """Stream that was waited for, or that the event was recorded on; ABSENT for all of a context,
    or where not known."""
    record_row: Rows
    """Row in `Records` of the event that was waited for; ABSENT."""
    of_event: Bools
    """Whether it was for an event, not for all that a stream or a context had been given."""
    whole: Bools
    """Whether it was for a whole context."""
    copy: Bools
    """Whether the call is a copy that returned when it was done, not a synchronisation."""
    before: Rows
    """Last operation waited for, of one stream; ABSENT for none, or several."""


@dataclass(frozen=True)
class Barriers(Columns):
    """Orders by the legacy null stream that its streams' own order does not imply."""

    before: Rows
    after: Rows


@dataclass(frozen=True)
class Records(Columns):
    """Event records."""

    time_ns: Ints
    """ABSENT_TIME where the call was not recorded."""
    stream: Rows
    before: Rows
    """Last operation that its stream had been given; ABSENT for none."""
    awaited: Bools
    """Whether a stream or a host thread waited for this record."""


@dataclass(frozen=True)
class HandOverSteps:
    """Steps by the time at which work was handed over; shape (n,) each."""

    start_ns: Ints
    end_ns: Ints
    numbers: Ints
    """What the user calls each."""
    steady: Bools
    """Which are neither warm-up nor cut off."""
    ranges: bool
    """Whether ranges of the user mark them; else they repeat, wherever one is said to begin."""
    family: str | None = None
    """Name of the ranges with digits as #."""

    def __len__(self) -> int:
        return int(self.start_ns.size)

    def of(self, time_ns: Ints) -> Index:
        """Position of the step of each time, shape (n,): -1 before the first."""
        return np.searchsorted(self.start_ns, time_ns, side="right") - 1


@dataclass(frozen=True)
class StreamWaits:
    """What one process handed over to its streams, and what waited for what."""

    process: int
    """Number in `Measurements.processes`."""
    operations: Operations
    streams: StreamTable
    waits: Waits
    joins: Joins
    barriers: Barriers
    records: Records
    steps: HandOverSteps
    order: Index = field(repr=False)
    """Operations whose hand-over is known, by stream and then by hand-over."""
    position: Rows = field(repr=False)
    """Place of each operation in its stream by hand-over, from 0; ABSENT where not known."""
    graph_launches: int = 0
    """Launches of graphs: waits inside them are not recorded."""
    host_functions: int = 0
    """Host functions and stream memory operations, which may hold a stream unseen."""

    @property
    def no_records(self) -> bool:
        """Whether somebody waits for events and the recording holds no record of any."""
        if len(self.records):
            return False
        return bool((self.waits.record == Record.UNKNOWN).any() or self.joins.of_event.any())


def kind_name(kind: int) -> str:
    """A stream's kind as it is written: "null", "blocking", "non-blocking"."""
    return StreamKind(kind).name.lower().replace("_", "-")
