"""Streams, edges and waits of the host as one recording shows them, with the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from overlapcheck.columns import ABSENT
from overlapcheck.stream_contract import (
    EdgeRule,
    HostRule,
    Pipeline,
    Role,
    StreamRule,
)


@dataclass(frozen=True)
class OperationSeen:
    """One operation, to point at."""

    text: str
    """"kernel gemm", "h2d copy of 16 MiB"."""
    start_ns: int
    end_ns: int
    stream_id: int
    row: int = field(default=ABSENT, compare=False)
    """Row in the process's operations."""


@dataclass(frozen=True)
class CallSeen:
    """One call that waited, on the host's clock."""

    tid: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Example:
    """Two operations of a step, and what leads from one to the other."""

    step: int
    """Number of the step, as the user calls it."""
    before: OperationSeen | None
    after: OperationSeen | None
    call: str = ""
    """Call that waited."""
    waited: CallSeen | None = field(default=None, compare=False)
    """When it did; None where the host did not wait."""

    @property
    def between_ns(self) -> int | None:
        """From the end of one to the start of the other; negative where they overlap."""
        if self.before is None or self.after is None:
            return None
        return self.after.start_ns - self.before.end_ns


@dataclass(frozen=True)
class StreamSeen:
    """A stream of the recording, or several that take turns."""

    rule: StreamRule
    role: Role
    device: int
    """Of those that the process works on, counted from 0."""
    stream_ids: tuple[int, ...]
    numbers: tuple[int, ...]
    """In `StreamWaits.streams`."""
    priority: int | None
    work_ns: Mapping[str, float]
    """Per steady step, by role of the work."""
    operations: float
    """Handed over per steady step."""

    @property
    def name(self) -> str:
        """Its name in the contract."""
        return self.rule.name


@dataclass(frozen=True)
class EdgeSeen:
    """An edge, and in how many steps it stands."""

    rule: EdgeRule
    steps: int
    """Steps with it."""
    of_steps: int
    """Steps that could have it."""
    missing: tuple[int, ...]
    """Numbers of the first steps that lack it."""
    example: Example
    through: str = ""
    """Stream that only hands it on; "" where it is direct."""
    other_thread: bool = False
    """Whether one thread handed over what is waited for, and another what waits."""
    uncovered: float = 0.0
    """Share of its steps that hand over more to the source behind the record."""
    unheld: float = 0.0
    """Share of its steps that hand over something to the target before the wait."""


@dataclass(frozen=True)
class HostSeen:
    """Waits of the host of one kind."""

    rule: HostRule
    steps: int
    of_steps: int
    held_ns: float
    """Per step in which they happen."""
    example: Example


@dataclass(frozen=True)
class Unpaired:
    """Waits whose record is not known, or was never made, by the stream that waits."""

    target: str
    steps: int
    count: int


@dataclass(frozen=True)
class StreamGraph:
    """What one process hands over to its streams in each steady step."""

    process: str
    """Executable and operating-system pid."""
    number: int
    """In `Measurements.processes`."""
    streams: tuple[StreamSeen, ...]
    edges: tuple[EdgeSeen, ...]
    host: tuple[HostSeen, ...]
    steps: int
    """Steady steps."""
    first_step: int | None
    last_step: int | None
    ranges: bool
    family: str | None
    never_recorded: tuple[Unpaired, ...] = ()
    unknown: tuple[Unpaired, ...] = ()
    unawaited_events: float = 0.0
    """Recorded per step, and nobody waits for them."""
    once: int = 0
    """Edges and waits of the host that stand in a single step, or in too few to be shown."""
    idle_streams: int = 0
    """Streams that run nothing in the steady steps."""
    no_records: bool = False
    """Whether streams wait, and the recording tells no record of any event."""
    unseen: tuple[str, ...] = ()
    """What else may order things, and is not in a recording."""

    @property
    def pipeline(self) -> Pipeline:
        """It as a contract has it."""
        return Pipeline(
            tuple(seen.rule for seen in self.streams),
            tuple(seen.rule for seen in self.edges),
            tuple(seen.rule for seen in self.host),
        )

    def stream(self, name: str) -> StreamSeen | None:
        """The stream of a name."""
        return next((seen for seen in self.streams if seen.name == name), None)
