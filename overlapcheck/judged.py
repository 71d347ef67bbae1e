"""One judged report as a test sees it: numbers that tell the first cause where one is too low."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlapcheck.device_report import DeviceReport
    from overlapcheck.finding import Finding
    from overlapcheck.report import Report
    from overlapcheck.verdict import Check

_SHARE_DIGITS = 4


class NotProven(AssertionError):
    """The recording cannot tell: there is no number to compare, and none is made up."""


class Share(float):
    """A share of one that knows where it comes from; a comparison that fails tells the cause."""

    name: str
    judged: Judged

    @classmethod
    def of(cls, value: float, name: str, judged: Judged) -> Share:
        """A measured share."""
        share = cls(value)
        share.name, share.judged = name, judged
        return share

    def __repr__(self) -> str:
        return f"{self:.{_SHARE_DIGITS}g}"


class OutcomeOf(str):
    """PASS, FAIL or INCONCLUSIVE; a comparison that fails tells the checks and the cause."""

    judged: Judged

    @classmethod
    def of(cls, judged: Judged) -> OutcomeOf:
        """The outcome of a run."""
        outcome = cls(judged.report.verdict.outcome.value)
        outcome.judged = judged
        return outcome


@dataclass(frozen=True)
class Judged:
    """One judged report. Of several devices, each number is that of the worst."""

    report: Report

    @property
    def outcome(self) -> OutcomeOf:
        """The verdict under the limits asked for: "PASS", "FAIL" or "INCONCLUSIVE"."""
        return OutcomeOf.of(self)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Causes, costliest first."""
        return self.report.findings

    @property
    def recoverable(self) -> Share:
        """Share of the time that perfect overlap could win back at most.

        Raises:
            NotProven: the recording is incomplete.
        """
        __tracebackhide__ = True
        shares = [one.recoverable for one in self._devices() if one.recoverable is not None]
        if not shares:
            raise NotProven("recoverable: the window is empty")
        return Share.of(max(shares), "recoverable", self)

    def overlap(self, direction: str, device: int | None = None) -> Share:
        """Share of the copy time of a direction that runs under compute.

        Args:
            direction: "h2d", "d2h" or "p2p".
            device: only this one; None takes the worst of those with such copies.

        Raises:
            NotProven: the recording is incomplete, or has no such copies.
        """
        __tracebackhide__ = True
        known = ("h2d", "d2h", "p2p")
        if direction not in known:
            raise ValueError(f"overlap({direction!r}): the direction is one of {', '.join(known)}")
        shares = [
            copies.overlap
            for one in self._devices()
            if device in (None, one.device) and (copies := one.copies.get(direction))
            if copies.overlap is not None
        ]
        if not shares:
            raise NotProven(f"overlap {direction}: no {direction} copy in the window")
        return Share.of(min(shares), f"overlap {direction}", self)

    def _devices(self) -> tuple[DeviceReport, ...]:
        """The devices, if the recording can carry a number at all."""
        __tracebackhide__ = True
        from overlapcheck.verdict import Outcome

        for check in self.report.verdict.checks:
            if check.name == "capture" and check.outcome is Outcome.INCONCLUSIVE:
                raise NotProven(f"{check.reason}; what to do: {check.settle_with}")
        return self.report.devices


def failed_comparison(op: str, left: object, right: object) -> list[str] | None:
    """What a failed comparison of a measured number says: both numbers, then the first cause.

    None where neither side is one.
    """
    for value in (left, right):
        if isinstance(value, Share):
            said = f"{_told(left)} {op} {_told(right)}"
            return [said, *_explanation(value.judged, checks=False)]
        if isinstance(value, OutcomeOf):
            return [f"{left} {op} {right}", *_explanation(value.judged, checks=True)]
    return None


def _told(value: object) -> str:
    from overlapcheck.quantities import percent

    if isinstance(value, Share):
        return f"{value.name} {percent(value)}"
    return percent(value) if isinstance(value, float) else repr(value)


def _numbers(check: Check) -> str:
    """What was measured, and what it had to be; "" where there is no such number."""
    from overlapcheck.quantities import percent, percent_beside

    if check.measured is None or check.limit is None:
        return ""
    sign = ">=" if check.at_least else "<="
    return f" {percent_beside(check.measured, check.limit)}, {sign} {percent(check.limit)} asked"


def _explanation(judged: Judged, *, checks: bool) -> list[str]:
    """The report and its first material cause with evidence and advice."""
    from overlapcheck.finding import MATERIAL_SHARE
    from overlapcheck.quantities import percent
    from overlapcheck.verdict import Outcome

    lines = [f"report: {judged.report.capture.report}"]
    if checks:
        lines += [
            f"{check.outcome} {check.name}{_numbers(check)}: {check.reason}"
            f" (limit: {check.limit_from})"
            for check in judged.report.verdict.checks
            if check.outcome is not Outcome.PASS
        ]
    first = next((found for found in judged.findings if found.share >= MATERIAL_SHARE), None)
    if first is None:
        return [*lines, "no cause costs 2 % of the time or more"]
    lines.append(
        f"first cause: {first.cause}, {first.cost_text}, {percent(first.share)} of the time"
    )
    lines += [f"  - {fact}" for fact in first.evidence[:2]]
    lines += [f"  at {place.file}:{place.line} ({place.function})" for place in first.source[:1]]
    return [*lines, f"  do: {first.advice}", f"  unless {first.caveat}"]
