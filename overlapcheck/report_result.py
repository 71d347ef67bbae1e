"""What is kept of one report of many: a bounded row per rank, and what ranks are compared by.

A rank is one (report, process, device). Rows hold totals, never lists of gaps, streams or copies,
so a job of thousands of ranks stays a few megabytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from overlapcheck.collective_speed import CollectiveSpeed
from overlapcheck.columns import ABSENT, Codes, Ints
from overlapcheck.device_report import StepSummary
from overlapcheck.errors import ExitCode
from overlapcheck.finding import SourceLine
from overlapcheck.kinds import ProcessKey
from overlapcheck.pace import Pace
from overlapcheck.rendezvous import Attendance
from overlapcheck.verdict import Check, Outcome


@dataclass(frozen=True)
class Task:
    """One report to judge."""

    number: int
    path: Path


@dataclass(frozen=True)
class Settings:
    """What all reports of a fleet share, from the first one that was read."""

    program: str
    nsys_version: str
    driver_version: str
    environment: Mapping[str, str]


@dataclass(frozen=True)
class RankCause:
    """One cause on one rank."""

    cause: str
    title: str
    blamed_ns: int
    share: float
    """Of the rank's window."""
    saves_at_most_ns: float
    evidence: tuple[str, ...]
    """The most telling facts."""
    advice: str
    caveat: str
    source: tuple[SourceLine, ...] = ()
    """Where the program causes it; bounded."""


@dataclass(frozen=True)
class CollectiveSummary:
    """Collectives of one kind in one communicator, or on one stream, in the window."""

    kind: str
    """"all-reduce", "send-recv" ..."""
    stream_id: int
    count: int
    total_ns: int
    """Lengths added up."""
    exposed_ns: int
    last_exposed_ns: int
    """Of those that are the last of their step."""
    on_compute_stream: bool
    communicator: str = ""
    """NCCL's id, the same on all ranks; "" where not recorded."""
    speed: CollectiveSpeed | None = None
    """Sizes and bandwidth; None where not recorded."""


@dataclass(frozen=True)
class Encounters:
    """What the collectives of one communicator, or one stream, are compared by.

    Bounded; times on the report's clock.
    """

    stream_id: int
    attendance: Attendance
    before: Mapping[str, Ints]
    """What the rank did since the collective before: compute and idle time by cause, ns."""
    exposed_start_ns: Ints
    """Pieces of the collectives in which nothing computes."""
    exposed_end_ns: Ints
    complete: bool
    """Whether all collectives of the window are here, not just the first ones."""
    communicator: int = ABSENT
    """NCCL's id; ABSENT where not recorded."""
    ranks: int = ABSENT
    """Ranks of the communicator as NCCL said; ABSENT where not recorded."""


@dataclass(frozen=True)
class DrawnCollectives:
    """The collectives of one communicator, or one stream, that begin in an excerpt; bounded."""

    stream_id: int
    communicator: int
    """NCCL's id; ABSENT where not recorded."""
    attendance: Attendance


@dataclass(frozen=True)
class DrawnRank:
    """What is drawn of a rank under others."""

    packed: Codes
    """Its excerpt, see `saved.packed`: of many ranks few are drawn."""
    collectives: tuple[DrawnCollectives, ...]


@dataclass(frozen=True)
class RankRow:
    """One (report, process, device)."""

    report: str
    """File name without folders."""
    pid: int
    """The operating system's; -1 where the recording does not tell."""
    device: int
    gpu: str
    outcome: Outcome
    checks: tuple[Check, ...]
    window_ns: int
    steps: int | None
    step_median_ns: float | None
    compute_ns: int
    idle_ns: int
    communication_ns: int
    communication_exposed_ns: int
    recoverable: float | None
    overlap: Mapping[str, float | None]
    """By direction."""
    ledger: Mapping[str, int]
    """Idle time by cause, costliest first; adds up to idle_ns."""
    causes: tuple[RankCause, ...]
    """Costliest first, only those that matter."""
    collectives: tuple[CollectiveSummary, ...]
    label: str = ""
    """Rank number, or report number and device; given when all reports are known."""
    report_number: int = 0
    """Position of its report among all; given with the label."""
    host: int = 0
    """Number that the recording has for the machine."""
    pace: Pace | None = None
    """Of its steps; `recoverable` is at the own pace where that is known."""
    bound_ns: int | None = None
    """Window with perfect overlap; None in results that were saved without."""
    own_window_ns: int | None = None
    """Length of the window at the program's own pace, where that is known."""
    copy_ns: Mapping[str, int] = field(default_factory=dict)
    """Time of copies by direction."""
    per_step: StepSummary | None = None
    """None without steps, and in results that were saved without."""

    @property
    def process(self) -> ProcessKey:
        """Identity of the process within its report."""
        return ProcessKey(self.pid, self.host)


@dataclass(frozen=True)
class ReportResult:
    """What is kept of one report."""

    settings: Settings
    utc_start_ns: int | None
    checks: tuple[Check, ...]
    """Checks of the whole report, and of devices that have no row."""
    rows: tuple[RankRow, ...]
    encounters: tuple[tuple[Encounters, ...], ...]
    """Of each row, one per communicator or communication stream."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Rank of the launched program by environment variable, the most telling first."""
    world_sizes: Mapping[str, int] = field(default_factory=dict)
    """How many ranks the job has, by the variable of its rank."""
    said_ranks: tuple[str, ...] = ()
    """Of each row, the rank that its process told NVTX; "" for none."""
    drawn: tuple[DrawnRank | None, ...] = ()
    """Of each row; None where there is nothing to draw."""


@dataclass(frozen=True)
class LostReport:
    """A report that has no result."""

    report: str
    why: str
    hint: str
    exit_code: int = int(ExitCode.COULD_NOT_RUN)
