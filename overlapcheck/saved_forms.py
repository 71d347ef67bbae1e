"""The saved form of reports, comparisons and fleet reports: types that `saved.py` writes and reads.

A noun that is saved as it is stands here by its own name; where the saved form differs there is a
struct. `schema/` is made from these types, and from what is said beside their fields. To save a
further field, add it to the noun, and to the struct that lists the noun's fields, if one does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta, Struct

from overlapcheck.comparison import SCHEMA as COMPARISON_SCHEMA
from overlapcheck.comparison import (
    Appeared,
    Change,
    Comparison,
    DeviceComparison,
    Quantity,
    Side,
    Unit,
)
from overlapcheck.errors import ExitCode
from overlapcheck.finding import Confidence, Finding, SourceLine
from overlapcheck.fleet import (
    FLEET_SCHEMA,
    CollectiveSummary,
    FleetCause,
    FleetCheck,
    FleetReport,
    LostReport,
    MeetingSummary,
    MissingRanks,
    Outlier,
    RankPage,
    RankRow,
    Settings,
    Straggler,
)
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.pace import Pace
from overlapcheck.report import SCHEMA, CaptureSummary, DeviceReport, Picture, Report
from overlapcheck.verdict import DEFAULT, Basis, Check, Outcome, Verdict

Number = int | float
"""A float that is saved, and read back, without a point where it had none."""
VerdictCode = Literal[0, 1, 3]
"""Exit code of pass, fail, inconclusive."""


class SavedTool(Struct, frozen=True, kw_only=True):
    """What wrote it."""

    name: Literal["overlapcheck"]
    version: str

    @classmethod
    def of(cls, version: str) -> SavedTool:
        """This program in some version."""
        return cls(name="overlapcheck", version=version)


# ---- a report


class SavedCheck(Struct, frozen=True, kw_only=True):
    """One question, its answer and why."""

    name: str
    pid: int | None
    """Of the device judged; None for the whole report."""
    host: int = 0
    """Number that the recording has for the machine; 0 for the whole report."""
    device: int | None
    """None for the whole report."""
    outcome: Outcome
    measured: Number | None
    limit: Number | None
    reason: str
    at_least: bool = False
    settle_with: str = ""
    limit_from: str = DEFAULT

    def __post_init__(self) -> None:
        if (self.pid is None) != (self.device is None):
            raise ValueError("Expected `pid` and `device`, or null for both")

    @classmethod
    def of(cls, check: Check) -> SavedCheck:
        """The saved form of a check."""
        pid, device, host = check.device or (None, None, 0)
        return cls(pid=pid, host=host, device=device, **_fields(check, "device"))

    def noun(self) -> Check:
        """The check that was saved."""
        key = None
        if self.pid is not None and self.device is not None:
            key = DeviceKey(self.pid, self.device, self.host)
        return Check(device=key, **_members(self, "pid", "host", "device"))


class SavedVerdict(Struct, frozen=True):
    """All checks, and what they come to; reading it takes the checks' word."""

    outcome: Outcome
    exit_code: VerdictCode
    """0 pass, 1 fail, 3 inconclusive."""
    checks: tuple[SavedCheck, ...]
    basis: Basis = Basis.AS_RECORDED
    """Whether it is on the program's own pace, or as recorded."""
    settle_with: str = ""
    """Where it fails as recorded, by idle time alone that a late host explains: what would tell
    whether that is the recording's."""

    @classmethod
    def of(cls, verdict: Verdict) -> SavedVerdict:
        """The saved form of a verdict."""
        return cls(
            outcome=verdict.outcome,
            exit_code=_verdict_code(verdict.exit_code),
            checks=tuple(map(SavedCheck.of, verdict.checks)),
            **_fields(verdict, "checks"),
        )

    def noun(self) -> Verdict:
        """The verdict that was saved."""
        checks = tuple(check.noun() for check in self.checks)
        return Verdict(checks, **_members(self, "outcome", "exit_code", "checks"))


class SavedFinding(Struct, frozen=True, kw_only=True):
    """One cause that fired on one device: what it cost, how it is known, what to do."""

    cause: str
    title: str
    pid: int
    host: int = 0
    device: int
    blamed_ns: int
    """Time given to this cause."""
    share: Number
    """Of the window, at the program's own pace where that is known; of `profiler-overhead` always
    blamed_ns / window_ns. In [0, 1]."""
    per_step_ns: Number | None
    saves_at_most_ns: Number
    confidence: Confidence
    evidence: tuple[str, ...]
    advice: str
    caveat: str
    source: tuple[SourceLine, ...] = ()
    steps: int | None = None
    """Steps in the window; null without steps."""
    steps_hit: int | None = None
    """How many of them it occurs in; null without steps."""
    median_step_ns: Number | None = None
    """Median of its cost in the steps that it occurs in; null without steps."""
    recurs: bool = True
    """Whether it occurs in at least a quarter of the steps; what does not ranks behind."""

    @classmethod
    def of(cls, finding: Finding) -> SavedFinding:
        """The saved form of a finding."""
        pid, device, host = finding.device
        return cls(
            pid=pid,
            host=host,
            device=device,
            blamed_ns=finding.blamed.total_ns,
            **_fields(finding, "device", "blamed"),
        )

    def noun(self) -> Finding:
        """The finding that was saved; its time is one piece of the right length."""
        return Finding(
            device=DeviceKey(self.pid, self.device, self.host),
            blamed=Intervals.span(0, self.blamed_ns),
            **_members(self, "pid", "host", "device", "blamed_ns"),
        )


def _form_of(noun: type, **defaults: Any) -> type[Struct]:
    """A struct of a noun's fields, but those for memory only.

    Args:
        noun: a frozen dataclass.
        defaults: of fields that older results lack.
    """
    hints = get_type_hints(noun)
    members: list[Any] = []
    for field in fields(noun):
        if field.compare:
            default = defaults.get(field.name, field.default)
            given = () if default is MISSING else (default,)
            members.append((field.name, hints[field.name], *given))
    about = {"__doc__": noun.__doc__}
    return msgspec.defstruct(noun.__name__, members, frozen=True, kw_only=True, namespace=about)


if TYPE_CHECKING:
    SavedDevice = DeviceReport
else:
    SavedDevice = _form_of(DeviceReport, picture=Picture(0, 0, (), ()))


class SavedReport(Struct, frozen=True, kw_only=True):
    """What `overlapcheck analyze --format json` writes.

    Times are nanoseconds, ratios are shares of one, null is what could not be measured. Later
    versions add fields; `schema` is raised when one changes its meaning or goes away.
    """

    schema: Annotated[int, Meta(ge=1, le=SCHEMA)]
    """Version of this form."""
    tool: SavedTool
    verdict: SavedVerdict
    devices: tuple[SavedDevice, ...]
    """One for each device of each process."""
    findings: tuple[SavedFinding, ...]
    """In rank order, costliest first."""
    capture: CaptureSummary
    thresholds: Mapping[str, Number] = {}
    """Thresholds that were moved for research, by name; empty where none was."""
    wants_control: str | None = None
    """What a control recording would settle; null where it would settle nothing."""

    @classmethod
    def of(cls, report: Report) -> SavedReport:
        """The saved form of a report."""
        return cls(
            schema=SCHEMA,
            tool=SavedTool.of(report.tool_version),
            verdict=SavedVerdict.of(report.verdict),
            devices=tuple(SavedDevice(**_fields(device)) for device in report.devices),
            findings=tuple(map(SavedFinding.of, report.findings)),
            **_fields(report, "tool_version", "verdict", "devices", "findings"),
        )

    def noun(self) -> Report:
        """The report that was saved."""
        return Report(
            tool_version=self.tool.version,
            verdict=self.verdict.noun(),
            devices=tuple(DeviceReport(**_members(device)) for device in self.devices),
            findings=tuple(finding.noun() for finding in self.findings),
            **_members(self, "schema", "tool", "verdict", "devices", "findings"),
        )


# ---- a comparison of two reports


class SavedQuantity(Struct, frozen=True, kw_only=True):
    """One number of both sides."""

    name: str
    unit: Unit
    base: float | None
    new: float | None
    noise: float
    change: Change
    too_bad: str
    difference: float | None
    """New less base."""

    @classmethod
    def of(cls, quantity: Quantity) -> SavedQuantity:
        """The saved form of a quantity."""
        return cls(**_fields(quantity), difference=quantity.difference)


class SavedDeviceComparison(Struct, frozen=True, kw_only=True):
    """One device of one process, on both sides."""

    device: int
    change: Change
    base: Side
    new: Side
    quantities: tuple[SavedQuantity, ...]
    """Step time, recoverable, and the overlap of each direction."""
    ledger: tuple[SavedQuantity, ...]
    gone: tuple[Appeared, ...]
    new_causes: tuple[Appeared, ...]

    @classmethod
    def of(cls, device: DeviceComparison) -> SavedDeviceComparison:
        """The saved form of one device's comparison."""
        return cls(
            device=device.device,
            change=device.change,
            base=device.base,
            new=device.new,
            quantities=tuple(map(SavedQuantity.of, device.quantities)),
            ledger=tuple(map(SavedQuantity.of, device.ledger)),
            gone=device.gone,
            new_causes=device.new_causes,
        )


class SavedComparison(Struct, frozen=True, kw_only=True):
    """What `overlapcheck compare --format json` writes."""

    schema: Annotated[int, Meta(ge=1, le=COMPARISON_SCHEMA)]
    """Version of this form."""
    kind: Literal["comparison"]
    tool: SavedTool
    change: Change
    exit_code: VerdictCode
    """1 where something is worse by more than the limit, else 0."""
    limit: float | None
    too_bad: tuple[str, ...]
    """What is worse by more than the limit on any device, one clause each."""
    objections: tuple[str, ...]
    noise_rule: str
    devices: tuple[SavedDeviceComparison, ...]

    @classmethod
    def of(cls, comparison: Comparison) -> SavedComparison:
        """The saved form of a comparison."""
        return cls(
            schema=COMPARISON_SCHEMA,
            kind="comparison",
            tool=SavedTool.of(comparison.tool_version),
            change=comparison.change,
            exit_code=_verdict_code(comparison.exit_code),
            too_bad=comparison.too_bad,
            devices=tuple(map(SavedDeviceComparison.of, comparison.devices)),
            **_fields(comparison, "tool_version", "devices"),
        )


# ---- many ranks


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
        rest = _fields(row, "label", "checks", "causes")
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

    @classmethod
    def of(cls, report: FleetReport) -> SavedFleetReport:
        """The saved form of a fleet report."""
        return cls(
            fleet_schema=FLEET_SCHEMA,
            tool=SavedTool.of(report.tool_version),
            verdict=SavedFleetVerdict(report.outcome, _verdict_code(report.exit_code)),
            ranks=tuple(map(SavedRank.of, report.rows)),
            **_fields(report, "tool_version", "outcome", "rows"),
        )


# ---- nouns and structs by their fields


def _verdict_code(code: ExitCode) -> VerdictCode:
    found: VerdictCode = msgspec.convert(int(code), VerdictCode)
    return found


def _fields(noun: Any, *but: str) -> dict[str, Any]:
    """A noun's fields by name, but some, and those for memory only."""
    names = (field.name for field in fields(noun) if field.compare)
    return {name: getattr(noun, name) for name in names if name not in but}


def _members(saved: Any, *but: str) -> dict[str, Any]:
    """A struct's fields by name, but some."""
    return {name: getattr(saved, name) for name in saved.__struct_fields__ if name not in but}
