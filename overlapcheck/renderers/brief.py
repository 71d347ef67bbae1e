"""The report as one JSON object of less than 4 kB, for whoever reads many or pays by the word."""

from __future__ import annotations

from overlapcheck.brief import SCHEMA, Brief, BriefCause, BriefCheck
from overlapcheck.finding import Finding
from overlapcheck.renderers._brief_document import brief_text
from overlapcheck.renderers._plain_text import (
    cost_text,
    device_text,
    headline,
    is_material,
    place_text,
    window_text,
)
from overlapcheck.report import Report
from overlapcheck.verdict import SEVERITY, Check, Outcome


class BriefRenderer:
    """See `Renderer`."""

    name = "brief"
    suffix = ".brief.json"
    draws_timeline = False

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        return brief_text(brief_of(report))


def brief_of(report: Report) -> Brief:
    """A report in brief, nothing cut."""
    where = _places(report)
    checks = sorted(report.verdict.checks, key=lambda check: SEVERITY.index(check.outcome))
    causes = [found for found in report.findings if is_material(found)]
    return Brief(
        schema=SCHEMA,
        kind="report",
        verdict=report.verdict.outcome.value,
        basis=report.verdict.basis.value,
        exit_code=int(report.verdict.exit_code),
        summary=_summary(report),
        judged="; ".join(window_text(device) for device in report.devices) or "nothing",
        checks=tuple(_check(check, where) for check in checks),
        checks_left_out=0,
        causes=tuple(_cause(found, where) for found in causes),
        causes_left_out=0,
        next=_next(report, causes),
        cut=False,
    )


def _summary(report: Report) -> str:
    moved = f"moved thresholds: {report.moved}; " if report.moved else ""
    return moved + headline(report)


def _places(report: Report) -> dict[object, str]:
    """What each device is called, where there are several."""
    several = len(report.devices) > 1
    return {device.key: device_text(device) for device in report.devices if several}


def _check(check: Check, where: dict[object, str]) -> BriefCheck:
    return BriefCheck(
        name=check.name,
        where=where.get(check.device, ""),
        outcome=check.outcome.value,
        measured=check.measured,
        limit=check.limit,
        at_least=check.at_least,
        reason=check.reason,
    )


def _cause(found: Finding, where: dict[object, str]) -> BriefCause:
    return BriefCause(
        cause=found.cause,
        where=where.get(found.device, ""),
        title=found.title,
        share=found.share,
        cost=cost_text(found),
        confidence=found.confidence.value,
        evidence=found.evidence,
        advice=found.advice,
        unless=found.caveat,
        source=place_text(found.source[0]) if found.source else "",
    )


def _next(report: Report, causes: list[Finding]) -> str | None:
    outcome = report.verdict.outcome
    if outcome is Outcome.PASS:
        return None
    if outcome is Outcome.INCONCLUSIVE:
        settling = (c.settle_with for c in report.verdict.checks if c.outcome is outcome)
        return next(filter(None, settling), "overlapcheck doctor")
    if report.verdict.settle_with:
        return report.verdict.settle_with
    return f"overlapcheck explain {causes[0].cause}" if causes else "overlapcheck explain"


RENDERER = BriefRenderer()
