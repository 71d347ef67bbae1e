"""The saved form of many ranks: see `saved_report.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Struct

from overlapcheck.device_report import StepSummary
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
from overlapcheck.kinds import DeviceKey
from overlapcheck.pace import Pace
from overlapcheck.report_result import CollectiveSummary, LostReport, RankCause, RankRow, Settings
from overlapcheck.saved_fields import SavedTool, VerdictCode, fields_of, members_of, verdict_code
from overlapcheck.verdict import Check, Outcome


class SavedFleetVerdict(Struct, frozen=True):
    """What all ranks come to."""

    outcome: Outcome
    exit_code: VerdictCode
    """0 pass, 1 fail, 3 inconclusive."""


class SavedDemand(Struct, frozen=True, kw_only=True):
    """What a check asked for that did not pass."""

    limit: float | None
    at_least: bool
    reason: str
    settle_with: str = ""


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
    bound_ns: int | None = None
    own_window_ns: int | None = None
    copy_ns: Mapping[str, int] = {}
    """Time of copies by direction."""
    per_step: StepSummary | None = None
    demands: Mapping[str, SavedDemand] = {}
    """What the checks asked for that did not pass, by the name of the check."""

    @classmethod
    def of(cls, row: RankRow) -> SavedRank:
        """The saved form of a rank's row."""
        checks = {check.name: (check.outcome, check.measured) for check in row.checks}
        causes = {cause.cause: round(cause.share, 6) for cause in row.causes}
        demands = {
            check.name: SavedDemand(
                limit=check.limit,
                at_least=check.at_least,
                reason=check.reason,
                settle_with=check.settle_with,
            )
            for check in row.checks
            if check.outcome is not Outcome.PASS
        }
        rest = fields_of(row, "label", "checks", "causes")
        return cls(rank=row.label, checks=checks, causes=causes, demands=demands, **rest)

    def noun(self, shared: Shared) -> RankRow:
        """The row that was saved, as far as it was.

        Args:
            shared: what is saved once for all ranks.
        """
        key = DeviceKey(self.pid, self.device, self.host)
        checks = tuple(
            self._check(name, key, outcome, measured, shared)
            for name, (outcome, measured) in self.checks.items()
        )
        causes = tuple(self._cause(name, share, shared) for name, share in self.causes.items())
        rest = members_of(self, "rank", "checks", "causes", "demands")
        return RankRow(label=self.rank, checks=checks, causes=causes, **rest)

    def _check(
        self, name: str, key: DeviceKey, outcome: Outcome, measured: float | None, shared: Shared
    ) -> Check:
        demand = self.demands.get(name)
        if demand is not None:
            asked = members_of(demand)
        else:
            over_all = shared.checks.get(name)
            asked = {
                "limit": over_all.limit if over_all else None,
                "at_least": over_all.at_least if over_all else False,
                "reason": "",
            }
        return Check(name=name, device=key, outcome=outcome, measured=measured, **asked)

    def _cause(self, name: str, share: float, shared: Shared) -> RankCause:
        over_all = shared.causes.get(name)
        mine = over_all is not None and over_all.worst_rank == self.rank
        blamed_ns = round(share * self.window_ns)
        return RankCause(
            cause=name,
            title=over_all.title if over_all else "",
            blamed_ns=blamed_ns,
            share=share,
            saves_at_most_ns=blamed_ns,
            evidence=over_all.evidence if over_all and mine else (),
            advice=over_all.advice if over_all else "",
            caveat=over_all.caveat if over_all else "",
            source=over_all.source if over_all and mine else (),
        )


@dataclass(frozen=True)
class Shared:
    """What a saved rank does not say again: it is the same for all."""

    checks: Mapping[str, FleetCheck]
    """By name."""
    causes: Mapping[str, FleetCause]
    """By cause."""


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
    timelines: tuple[RankTimeline, ...] = ()
    crossed: tuple[str, ...] = ()

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

    def noun(self) -> FleetReport:
        """The fleet report that was saved; of single ranks, what is told once for all is shared."""
        shared = Shared(
            {check.name: check for check in self.checks},
            {cause.cause: cause for cause in self.causes},
        )
        return FleetReport(
            tool_version=self.tool.version,
            outcome=self.verdict.outcome,
            rows=tuple(rank.noun(shared) for rank in self.ranks),
            **members_of(self, "fleet_schema", "tool", "verdict", "ranks"),
        )
