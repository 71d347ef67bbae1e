"""What was judged, a report or a job, as a test sees it: numbers that tell why one is too low."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlapcheck.device_report import DeviceReport
    from overlapcheck.finding import Finding
    from overlapcheck.fleet import FleetCause, FleetReport
    from overlapcheck.report import Report
    from overlapcheck.report_result import RankRow
    from overlapcheck.verdict import Check

_SHARE_DIGITS = 4


class NotProven(AssertionError):
    """The recording cannot tell: there is no number to compare, and none is made up."""


class Share(float):
    """A share of one that knows where it comes from; a comparison that fails tells the cause."""

    name: str
    judged: Judged | JudgedJob

    @classmethod
    def of(cls, value: float, name: str, judged: Judged | JudgedJob) -> Share:
        """A measured share."""
        share = cls(value)
        share.name, share.judged = name, judged
        return share

    def __repr__(self) -> str:
        return f"{self:.{_SHARE_DIGITS}g}"


class OutcomeOf(str):
    """PASS, FAIL or INCONCLUSIVE; a comparison that fails tells the checks and the cause."""

    judged: Judged | JudgedJob

    @classmethod
    def of(cls, judged: Judged | JudgedJob) -> OutcomeOf:
        """The outcome of a run."""
        outcome = cls(judged.outcome_word)
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
    def outcome_word(self) -> str:
        """The outcome, as a word alone."""
        return self.report.verdict.outcome.value

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
        _require_direction(direction)
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


@dataclass(frozen=True)
class JudgedJob:
    """The judged ranks of a job; each number is that of the worst rank."""

    report: FleetReport

    @property
    def outcome(self) -> OutcomeOf:
        """The verdict on all ranks: "PASS", "FAIL" or "INCONCLUSIVE"."""
        return OutcomeOf.of(self)

    @property
    def outcome_word(self) -> str:
        """The outcome, as a word alone."""
        return self.report.outcome.value

    @property
    def causes(self) -> tuple[FleetCause, ...]:
        """Causes over all ranks, the most telling first."""
        return self.report.causes

    @property
    def recoverable(self) -> Share:
        """Share of the time that perfect overlap could win back at most, on the worst rank.

        Raises:
            NotProven: a rank is missing, lost or incomplete.
        """
        __tracebackhide__ = True
        shares = {row.label: row.recoverable for row in self._rows() if row.recoverable is not None}
        if not shares:
            raise NotProven("recoverable: the windows are empty")
        worst = max(shares, key=lambda rank: shares[rank])
        return Share.of(shares[worst], f"recoverable of rank {worst}", self)

    def overlap(self, direction: str, rank: str | int | None = None) -> Share:
        """Share of the copy time of a direction that runs under compute.

        Args:
            direction: "h2d", "d2h" or "p2p".
            rank: only this one; None takes the worst of those with such copies.

        Raises:
            NotProven: a rank is missing, lost or incomplete, or there are no such copies.
        """
        __tracebackhide__ = True
        _require_direction(direction)
        shares = {
            row.label: overlap
            for row in self._rows()
            if rank is None or row.label == str(rank)
            if (overlap := row.overlap.get(direction)) is not None
        }
        if not shares:
            where = "any rank" if rank is None else f"rank {rank}"
            raise NotProven(f"overlap {direction}: no {direction} copy in the window of {where}")
        worst = min(shares, key=lambda label: shares[label])
        return Share.of(shares[worst], f"overlap {direction} of rank {worst}", self)

    def _rows(self) -> tuple[RankRow, ...]:
        """All ranks, if each of them can carry a number."""
        __tracebackhide__ = True
        from overlapcheck.verdict import Outcome

        job = self.report
        for one in job.lost:
            raise NotProven(f"{one.report} is lost: {one.why}; what to do: {one.hint}")
        if job.missing is not None:
            why, hint = job.missing.why, job.missing.hint
            raise NotProven(f"{job.missing.count} of the ranks missing: {why}; what to do: {hint}")
        for row in job.rows:
            for check in row.checks:
                if check.name == "capture" and check.outcome is Outcome.INCONCLUSIVE:
                    what = f"{check.reason}; what to do: {check.settle_with}"
                    raise NotProven(f"rank {row.label}: {what}")
        return job.rows


def _require_direction(direction: str) -> None:
    known = ("h2d", "d2h", "p2p")
    if direction not in known:
        raise ValueError(f"overlap({direction!r}): the direction is one of {', '.join(known)}")


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


def _explanation(judged: Judged | JudgedJob, *, checks: bool) -> list[str]:
    """What was judged, and the first cause with evidence and advice."""
    if isinstance(judged, JudgedJob):
        return _of_job(judged.report, checks=checks)
    return _of_report(judged, checks=checks)


def _of_job(job: FleetReport, *, checks: bool) -> list[str]:
    from overlapcheck.quantities import count_of, percent, percent_beside
    from overlapcheck.verdict import Outcome

    judged = count_of(job.reports - len(job.lost), "report")
    lines = [f"job: {count_of(len(job.rows), 'rank')} in {judged}"]
    for check in job.checks if checks else ():
        if check.outcome is Outcome.PASS:
            continue
        sign = ">=" if check.at_least else "<="
        numbers = (
            f" {percent_beside(check.worst, check.limit)}, {sign} {percent(check.limit)} asked"
        )
        measured = numbers if None not in (check.worst, check.limit) else ""
        where = f" on rank {check.worst_rank}" if check.worst_rank else ""
        counts = f"{check.failed} failed, {check.inconclusive} unsure of {check.ranks}"
        reason = f": {check.reason}" if check.reason else ""
        lines.append(f"{check.outcome} {check.name}{measured}{where} ({counts}){reason}")
    lines += [f"lost: {one.report}: {one.why}" for one in job.lost[:3]]
    if job.missing is not None:
        lines.append(f"missing: {count_of(job.missing.count, 'rank')}: {job.missing.why}")
    if job.stragglers:
        late = job.stragglers[0]
        lines.append(f"the others wait for rank {late.rank}, {percent(late.share)} of the time")
    if not job.causes:
        return [*lines, "no cause costs 2 % of the time or more on any rank"]
    first = job.causes[0]
    on = f"on {first.ranks} of {count_of(len(job.rows), 'rank')}"
    worst = f"{percent(first.worst_share)} of the time of rank {first.worst_rank}"
    lines.append(f"first cause: {first.cause}, {on}, {worst}")
    # pytest shows the first lines alone.
    lines += [f"  - {fact}" for fact in first.evidence[: 1 if checks else 2]]
    return [*lines, f"  do: {first.advice}", f"  unless {first.caveat}"]


def _of_report(judged: Judged, *, checks: bool) -> list[str]:
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
