"""The saved form of many ranks: see `saved_report.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from overlapcheck.fleet import (
    FLEET_SCHEMA,
    FleetCause,
    FleetCheck,
    FleetReport,
    MeetingSummary,
    MissingRanks,
    Outlier,
    RankPage,
    RankTimeline,
    Straggler,
)
from overlapcheck.pace import Pace
from overlapcheck.report_result import CollectiveSummary, LostReport, RankRow, Settings
from overlapcheck.saved_fields import SavedTool, VerdictCode, fields_of, verdict_code
from overlapcheck.verdict import Outcome


class SavedFleetVerdict(Struct, frozen=True):
    """What all ranks come to."""

    outcome: Outcome
    exit_code: VerdictCode
    """0 pass, 1 fail, 3 inconclusive."""


class SavedRank(Struct, frozen=True, kw_only=True):
    """One (report, process, device)."""

    rank: str
    """Rank number, or report number and device."""
    outcome: Outcome
    checks: Mapping[str, tuple[Outcome, float | None]]
    """Outcome and what was measured, by the name of the check."""
    causes: Mapping[str, float]
    """Shares of the window, costliest first, only those that matter."""
    report: str
    pid: int
    host: int = 0
    device: int
    gpu: str
    window_ns: int
    steps: int | None
    step_median_ns: float | None
    compute_ns: int
    idle_ns: int
    communication_ns: int
    communication_exposed_ns: int
    recoverable: float | None
    overlap: Mapping[str, float | None]
    ledger: Mapping[str, int]
    collectives: tuple[CollectiveSummary, ...]
    report_number: int
    pace: Pace | None = None
    """Of its steps; `recoverable` is at the own pace where that is known."""

    @classmethod
    def of(cls, row: RankRow) -> SavedRank:
        """The saved form of a rank's row."""
        checks = {check.name: (check.outcome, check.measured) for check in row.checks}
        causes = {cause.cause: round(cause.share, 6) for cause in row.causes}
        rest = fields_of(row, "label", "checks", "causes")
        return cls(rank=row.label, checks=checks, causes=causes, **rest)


class SavedFleetReport(Struct, frozen=True, kw_only=True):
    """What `overlapcheck analyze FOLDER --format json` writes: one line per rank."""

    fleet_schema: Annotated[int, Meta(ge=1, le=FLEET_SCHEMA)]
    """Version of this form."""
    tool: SavedTool
    verdict: SavedFleetVerdict
    reports: int
    hosts: int
    settings: Settings
    notes: tuple[str, ...]
    missing: MissingRanks | None
    stragglers_total: int
    outliers_total: int
    meetings_total: int
    checks: tuple[FleetCheck, ...]
    stragglers: tuple[Straggler, ...]
    outliers: tuple[Outlier, ...]
    causes: tuple[FleetCause, ...]
    meetings: tuple[MeetingSummary, ...]
    lost: tuple[LostReport, ...]
    pages: tuple[RankPage, ...]
    ranks: tuple[SavedRank, ...]
    timelines: tuple[RankTimeline, ...]

    @classmethod
    def of(cls, report: FleetReport) -> SavedFleetReport:
        """The saved form of a fleet report."""
        return cls(
            fleet_schema=FLEET_SCHEMA,
            tool=SavedTool.of(report.tool_version),
            verdict=SavedFleetVerdict(report.outcome, verdict_code(report.exit_code)),
            ranks=tuple(map(SavedRank.of, report.rows)),
            **fields_of(report, "tool_version", "outcome", "rows"),
        )
