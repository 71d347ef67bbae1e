"""What a report says of one device: summaries that are serialisable and bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from overlapcheck.collective_speed import CollectiveSpeed
from overlapcheck.excerpt import Excerpt
from overlapcheck.kinds import DeviceKey
from overlapcheck.pace import Pace
from overlapcheck.quantities import duration
from overlapcheck.timeline import Timeline


@dataclass(frozen=True)
class WindowSummary:
    """The judged part of the trace."""

    start_ns: int
    end_ns: int
    source: str
    why: str
    step_family: str | None
    steps: int | None
    skipped: int
    first_step: int | None = None
    """Number of the first step: the one in its range's name where those tell the steps apart
    ("step 12"), else its position, counting from 0, skipped steps included. Every step is called by
    its number of this kind, wherever one is named."""
    last_step: int | None = None

    @property
    def steps_text(self) -> str:
        """The judged steps: "steps 3 to 14", or "step 3" of one; "" without steps."""
        if not self.steps:
            return ""
        # Results saved before steps had numbers of their own count them from 0.
        first = self.skipped if self.first_step is None else self.first_step
        last = self.skipped + self.steps - 1 if self.last_step is None else self.last_step
        return f"steps {first} to {last}" if self.steps > 1 else f"step {last}"


@dataclass(frozen=True)
class CopySummary:
    """Copies of one direction in the window."""

    count: int
    bytes: int
    copy_ns: int
    hidden_ns: int
    exposed_ns: int
    pageable_count: int
    overlap: float | None
    ceiling: float | None


@dataclass(frozen=True)
class RangeSummary:
    """Device time of the NVTX ranges whose name matches a pattern, inside the window."""

    pattern: str
    """Name of the ranges, * for any letters."""
    closed: int
    """Ranges of the process that match and have an end."""
    instances: int
    """Those of them that launched work which runs in the window."""
    length_ns: int
    compute_ns: int
    opaque_ns: int
    idle_ns: int
    communication_ns: int
    communication_hidden_ns: int
    bound_ns: int
    recoverable: float | None
    copies: Mapping[str, CopySummary]
    stalled_ns: int = 0
    """Part of compute in which unified memory migrates: no bound counts it."""


@dataclass(frozen=True)
class MigrationSummary:
    """Unified-memory migrations in the window; never part of an overlap."""

    count: int
    bytes: int
    busy_ns: int


@dataclass(frozen=True)
class StreamSummary:
    """One stream in the window."""

    context_id: int
    stream_id: int
    role: str
    kind: str
    priority: int | None
    kernels: int
    busy_ns: int
    compute_ns: int
    communication_ns: int
    copy_ns: Mapping[str, int]
    """By direction."""


@dataclass(frozen=True)
class GapSummary:
    """One gap between kernels."""

    start_ns: int
    end_ns: int
    stream_id: int | None
    """None for a gap of the whole device."""
    before: str
    """Kernel that ended last before it; "" at the window's start."""
    after: str
    copy_ns: int


@dataclass(frozen=True)
class BlockingSummary:
    """Calls of one API by one thread that held it."""

    api: str
    thread: str
    tid: int
    count: int
    total_ns: int
    idle_ns: int
    longest_ns: int
    longest_start_ns: int


@dataclass(frozen=True)
class Spread:
    """A quantity over the steps."""

    median_ns: float
    p95_ns: float
    worst_ns: int
    worst_step: int
    """Number of the step, see `WindowSummary.first_step`."""


@dataclass(frozen=True)
class StepSummary:
    """Per-step figures."""

    count: int
    step: Spread
    compute: Spread
    idle: Spread
    exposed_copy: Spread


@dataclass(frozen=True)
class PictureRow:
    """One drawn row: a stream, or a host thread."""

    label: str
    role: str
    """compute, communication, copy, memset or host."""
    kind: str
    """Copy direction or API name; "" otherwise."""
    cells: tuple[float, ...]
    """Busy share of each column, in [0, 1]."""
    note: str


@dataclass(frozen=True)
class Picture:
    """Two or three steps drawn at low resolution."""

    start_ns: int
    end_ns: int
    rows: tuple[PictureRow, ...]
    ticks: tuple[tuple[int, str], ...]
    """Column and text of each step's begin."""


@dataclass(frozen=True)
class LedgerEntry:
    """Idle time given to one cause."""

    cause: str
    ns: int


@dataclass(frozen=True)
class DeviceReport:
    """One device as one process used it."""

    pid: int
    """The operating system's; -1 where the recording does not tell."""
    process: str
    """Executable and operating-system pid."""
    device: int
    name: str
    window: WindowSummary
    window_ns: int
    compute_ns: int
    opaque_ns: int
    idle_ns: int
    communication_ns: int
    communication_hidden_ns: int
    bound_ns: int
    recoverable: float | None
    copies: Mapping[str, CopySummary]
    migrations: MigrationSummary
    streams: tuple[StreamSummary, ...]
    streams_total: int
    gaps: tuple[GapSummary, ...]
    gaps_total: int
    blocking: tuple[BlockingSummary, ...]
    blocking_total: int
    steps: StepSummary | None
    picture: Picture
    ledger: tuple[LedgerEntry, ...] = ()
    """Sums to idle_ns; costliest first."""
    conclusion: str = ""
    """Where there is nothing to gain: that, and why."""
    ranges: tuple[RangeSummary, ...] = ()
    """Of the NVTX ranges that the policy or the selection names."""
    stalled_ns: int = 0
    """Part of compute in which unified memory migrates: no bound counts it."""
    notes: tuple[str, ...] = ()
    """What else to know: kernels that may be communication, clocks that differ, ..."""
    collective_speeds: tuple[CollectiveSpeed, ...] = ()
    """Of the collectives whose size NCCL recorded, most time first."""
    host: int = 0
    """Number that the recording has for the machine of the process."""
    pace: Pace | None = None
    """Of its steps, as recorded and the program's own; None without steps."""
    own_window_ns: int | None = None
    """Length of the window at the program's own pace, which `recoverable` is of then."""
    excerpt: Excerpt | None = field(default=None, repr=False)
    """A few steps as events, to be drawn beside those of another report; None in baselines, and in
    results of earlier versions."""
    timeline: Timeline | None = field(default=None, repr=False, compare=False)
    """Events of the window; None for a report read back from JSON."""

    @property
    def recorded_recoverable(self) -> float | None:
        """What perfect overlap could win back of the window as recorded."""
        if self.own_window_ns is None:
            return self.recoverable
        return 1 - self.bound_ns / self.window_ns if self.window_ns else None

    @property
    def key(self) -> DeviceKey:
        """Identity of the device, as checks and findings name it."""
        return DeviceKey(self.pid, self.device, self.host)

    def __repr__(self) -> str:
        """Short: which device, and how much of the window it computed."""
        told = f"compute {duration(self.compute_ns)} of {duration(self.window_ns)}"
        return f"<DeviceReport device {self.device} of {self.process}: {told}>"
