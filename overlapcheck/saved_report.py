"""The saved form of a report: the types that `saved.py` writes and reads.

A noun that is saved as it is stands here by its own name; where the saved form differs there is a
struct. `schema/` is made from these types, and from what is said beside their fields. To save a
further field, add it to the noun, and to the struct that lists the noun's fields, if one does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from overlapcheck.device_report import DeviceReport, Picture
from overlapcheck.finding import Confidence, Finding, SourceLine
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.prediction import Bound, BoundName, Win
from overlapcheck.proved import Proved
from overlapcheck.report import SCHEMA, CaptureSummary, Report
from overlapcheck.saved_fields import (
    Number,
    SavedTool,
    VerdictCode,
    fields_of,
    form_of,
    members_of,
    verdict_code,
)
from overlapcheck.verdict import DEFAULT, Basis, Check, Outcome, Verdict


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
        return cls(pid=pid, host=host, device=device, **fields_of(check, "device"))

    def noun(self) -> Check:
        """The check that was saved."""
        key = None
        if self.pid is not None and self.device is not None:
            key = DeviceKey(self.pid, self.device, self.host)
        return Check(device=key, **members_of(self, "pid", "host", "device"))


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
            exit_code=verdict_code(verdict.exit_code),
            checks=tuple(map(SavedCheck.of, verdict.checks)),
            **fields_of(verdict, "checks"),
        )

    def noun(self) -> Verdict:
        """The verdict that was saved."""
        checks = tuple(check.noun() for check in self.checks)
        return Verdict(checks, **members_of(self, "outcome", "exit_code", "checks"))


class SavedWin(Struct, frozen=True, kw_only=True, rename={"with_causes": "with"}):
    """What repairing one cause is predicted to save of each step, ns."""

    win_ns: int
    low_ns: int
    high_ns: int
    share: Number
    """Of the step."""
    next_bound: BoundName
    """What most of the step is then."""
    next_bound_ns: int
    """How much of it."""
    with_causes: tuple[str, ...] = ()
    """Causes that must be repaired as well: alone it wins nothing, and the time is that of all."""

    @classmethod
    def of(cls, win: Win) -> SavedWin:
        """The saved form of a win."""
        bound = win.next_bound
        return cls(next_bound=bound.what, next_bound_ns=bound.ns, **fields_of(win, "next_bound"))

    def noun(self) -> Win:
        """The win that was saved."""
        bound = Bound(self.next_bound, self.next_bound_ns)
        return Win(next_bound=bound, **members_of(self, "next_bound", "next_bound_ns"))


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
    predicted: SavedWin | None = None
    """What repairing it is predicted to win of each step; null where that is not known."""

    @classmethod
    def of(cls, finding: Finding) -> SavedFinding:
        """The saved form of a finding."""
        pid, device, host = finding.device
        return cls(
            pid=pid,
            host=host,
            device=device,
            blamed_ns=finding.blamed.total_ns,
            predicted=SavedWin.of(finding.predicted) if finding.predicted else None,
            **fields_of(finding, "device", "blamed", "predicted"),
        )

    def noun(self) -> Finding:
        """The finding that was saved; its time is one piece of the right length."""
        return Finding(
            device=DeviceKey(self.pid, self.device, self.host),
            blamed=Intervals.span(0, self.blamed_ns),
            predicted=self.predicted.noun() if self.predicted else None,
            **members_of(self, "pid", "host", "device", "blamed_ns", "predicted"),
        )


if TYPE_CHECKING:
    SavedDevice = DeviceReport
else:
    SavedDevice = form_of(DeviceReport, picture=Picture(0, 0, (), ()))


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
    proved: tuple[Proved, ...] = ()
    """Of `run --prove`: repairs that were made from outside, in runs of their own."""

    @classmethod
    def of(cls, report: Report) -> SavedReport:
        """The saved form of a report."""
        return cls(
            schema=SCHEMA,
            tool=SavedTool.of(report.tool_version),
            verdict=SavedVerdict.of(report.verdict),
            devices=tuple(SavedDevice(**fields_of(device)) for device in report.devices),
            findings=tuple(map(SavedFinding.of, report.findings)),
            **fields_of(report, "tool_version", "verdict", "devices", "findings"),
        )

    def noun(self) -> Report:
        """The report that was saved."""
        return Report(
            tool_version=self.tool.version,
            verdict=self.verdict.noun(),
            devices=tuple(DeviceReport(**members_of(device)) for device in self.devices),
            findings=tuple(finding.noun() for finding in self.findings),
            **members_of(self, "schema", "tool", "verdict", "devices", "findings"),
        )
