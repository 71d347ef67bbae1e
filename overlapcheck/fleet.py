"""Many ranks as one answer: a bounded row per rank, and what holds across them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlapcheck.collective_speed import CollectiveSpeed
from overlapcheck.errors import ExitCode
from overlapcheck.excerpt import Excerpt
from overlapcheck.finding import SourceLine
from overlapcheck.quantities import count_of
from overlapcheck.report_result import LostReport, RankRow, Settings
from overlapcheck.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

FLEET_SCHEMA = 1
"""Version of the JSON form: raised when a field changes its meaning or goes away."""
FAILING_RANKS = "failing ranks"
"""Name of the check over all ranks that a policy may ask for."""
COMPUTE = "compute"
"""Beside the causes of idle time: what a rank did before a collective."""


def named(labels: Sequence[str], most: int) -> str:
    """Ranks in words, the first ones of many: "ranks 3, 5 and 2 more"."""
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return f"rank{'s' if len(labels) > 1 else ''} {', '.join(labels[:most])}{more}"


@dataclass(frozen=True)
class MissingRanks:
    """Ranks of the job that no report is of."""

    count: int
    labels: tuple[str, ...]
    """Which, where that is known; bounded."""
    why: str
    """How it is known."""
    hint: str


@dataclass(frozen=True)
class FleetCheck:
    """One check over all ranks."""

    name: str
    outcome: Outcome
    """The worst rank's; of the share of failing ranks, that of all together."""
    ranks: int
    failed: int
    inconclusive: int
    limit: float | None
    at_least: bool
    median: float | None
    worst: float | None
    worst_rank: str
    reason: str
    """Of the worst rank."""

    @property
    def too_small(self) -> bool:
        """Whether the worst misses its limit and passes: that was too small a matter to judge."""
        if self.outcome is not Outcome.PASS or not self.at_least or self.worst is None:
            return False
        return self.worst < (self.limit or 0)


@dataclass(frozen=True)
class FleetCause:
    """One cause merged over the ranks it holds for."""

    cause: str
    title: str
    ranks: int
    """On how many ranks it matters."""
    labels: tuple[str, ...]
    """Costliest first, bounded."""
    median_share: float
    """Over all ranks, 0 where it does not hold."""
    worst_share: float
    worst_rank: str
    outlier_ranks: tuple[str, ...]
    """Ranks that have far more of it than the median rank."""
    evidence: tuple[str, ...]
    """Of the worst rank."""
    advice: str
    caveat: str
    source: tuple[SourceLine, ...] = ()
    """Of the worst rank."""


@dataclass(frozen=True)
class Outlier:
    """One rank that differs from the median of all by more than their robust spread explains."""

    rank: str
    measure: str
    """"step time", "recoverable", "idle: pageable-copy" ..."""
    value: float
    median: float
    deviations: float
    """Robust standard deviations (1.4826 times the median absolute deviation)."""
    share: float
    """How far from the median, as a share of the window: its weight."""
    unit: str
    """"ns" or "share"."""


@dataclass(frozen=True)
class MeetingSummary:
    """Ranks that share a communicator, and what their waiting cost."""

    labels: tuple[str, ...]
    """Bounded."""
    ranks: int
    kinds: Mapping[str, int]
    """Collectives compared, by kind."""
    occasions: int
    end_spread_ns: int
    complete: bool
    waits: tuple[RankWait, ...]
    """Longest waiting first, bounded."""
    communicator: str = ""
    """NCCL's id; "" where not recorded."""
    speeds: tuple[CollectiveSpeed, ...] = ()
    """Sizes and bandwidth by kind, where recorded."""


@dataclass(frozen=True)
class RankWait:
    """One rank's time in the collectives of a meeting."""

    rank: str
    waiting_ns: int
    transfer_ns: int
    exposed_waiting_ns: int
    exposed_transfer_ns: int
    came_last: int
    """In how many of them it came last."""


@dataclass(frozen=True)
class Straggler:
    """A rank that the others wait for."""

    rank: str
    ranks: int
    """How many met, itself included."""
    came_last: int
    occasions: int
    cost_ns: int
    """Waiting of the median other rank in the collectives in which this one came last."""
    exposed_cost_ns: int
    share: float
    """cost_ns of the window."""
    meanwhile: Mapping[str, int]
    """What it did longer than the median other rank before these collectives: compute, or a cause
    of idle time; ns, longest first."""


@dataclass(frozen=True)
class RankPage:
    """A page with the timeline of one rank."""

    rank: str
    why: str
    """What makes the rank worth looking at."""
    address: str = ""
    """Relative to the fleet's own page."""


@dataclass(frozen=True)
class DrawnMeeting:
    """One collective of one rank in which all ranks of its group were compared.

    Times from the start of the rank's excerpt.
    """

    occasion: int
    """The same number on all ranks that met in it."""
    kind: str
    """"all-reduce" ..."""
    start_ns: int
    until_ns: int
    """When the last rank came; what follows moves data."""
    end_ns: int
    latest: str
    """The rank that came last."""


@dataclass(frozen=True)
class RankTimeline:
    """A few steps of one telling rank, on an axis that all of these share."""

    rank: str
    why: str
    """What makes the rank worth looking at; "" where it stands beside such ranks."""
    at_ns: int
    """Where on the shared axis its excerpt starts; 0 is the begin of the step."""
    step: str
    """The step that begins there, as its user calls it; "" without steps."""
    clock: int
    """Ranks of one number are drawn as they ran: they meet, so their clocks agree. Between others
    only the step's begin is the same."""
    meetings: tuple[DrawnMeeting, ...]
    """In order of time, bounded."""
    excerpt: Excerpt


@dataclass(frozen=True)
class FleetReport:
    """Everything to show."""

    tool_version: str
    outcome: Outcome
    reports: int
    settings: Settings
    rows: tuple[RankRow, ...]
    lost: tuple[LostReport, ...]
    notes: tuple[str, ...]
    """How ranks were recognised and compared, and what could not be."""
    checks: tuple[FleetCheck, ...]
    stragglers: tuple[Straggler, ...]
    stragglers_total: int
    outliers: tuple[Outlier, ...]
    outliers_total: int
    causes: tuple[FleetCause, ...]
    meetings: tuple[MeetingSummary, ...]
    meetings_total: int
    hosts: int = 1
    missing: MissingRanks | None = None
    """Each is a rank that cannot be judged."""
    pages: tuple[RankPage, ...] = ()
    """Timelines that were drawn beside this report, most telling first."""
    crossed: tuple[str, ...] = ()
    """Collectives that ranks begin in different order, costliest first; a sentence each."""
    timelines: tuple[RankTimeline, ...] = ()
    """A few steps of the ranks that tell the most, in the order of the ranks."""

    @property
    def exit_code(self) -> ExitCode:
        """Exit code of a command that ends with this report."""
        return {
            Outcome.PASS: ExitCode.PASS,
            Outcome.FAIL: ExitCode.FAIL,
            Outcome.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
        }[self.outcome]

    def save(self, path: str | Path) -> None:
        """Write it; the suffix chooses the format, as of `-o`: .html, .json, .md, .txt ...

        Raises:
            PolicyInvalid: no format has this suffix.
            OutputUnwritable: naming the file.
        """
        from overlapcheck.showing import save

        save(self, path)

    def to_json(self) -> str:
        """What `--format json` prints."""
        from overlapcheck.showing import text_of

        return text_of(self, "json")

    def frame(self, name: str) -> pd.DataFrame:
        """A table of all ranks as a pandas DataFrame; times in ns, shares of one.

        Args:
            name: "ranks" (one row each), "checks", "causes", "idle", "collectives", "waits",
                "stragglers", "outliers" or "lost".

        Raises:
            PolicyInvalid: there is no such table.
        """
        from overlapcheck.showing import frame_of

        return frame_of(self, name)

    def _repr_html_(self) -> str:
        """The page, in a notebook."""
        from overlapcheck.showing import in_notebook

        return in_notebook(self)

    def __repr__(self) -> str:
        """Short: how many were judged, and how it ended."""
        failed = [check.name for check in self.checks if check.outcome is self.outcome]
        said = f": {', '.join(failed)}" if self.outcome is not Outcome.PASS and failed else ""
        return f"<FleetReport {self.outcome} of {count_of(len(self.rows), 'rank')}{said}>"
