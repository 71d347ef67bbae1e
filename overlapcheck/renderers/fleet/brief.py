"""Many ranks as one JSON object of less than 4 kB."""

from __future__ import annotations

from overlapcheck.brief import SCHEMA, Brief, BriefCause, BriefCheck
from overlapcheck.fleet import FleetCause, FleetCheck, FleetReport
from overlapcheck.quantities import count_of, percent
from overlapcheck.renderers._brief_document import brief_text
from overlapcheck.renderers.fleet._words import grounds, held
from overlapcheck.verdict import SEVERITY, Outcome


class FleetBrief:
    """See `FleetRenderer`."""

    name = "brief"
    suffix = ".brief.json"

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        return brief_text(_brief(report))


def _brief(report: FleetReport) -> Brief:
    checks = sorted(report.checks, key=lambda check: SEVERITY.index(check.outcome))
    ranks = len(report.rows)
    return Brief(
        schema=SCHEMA,
        kind="ranks",
        verdict=report.outcome.value,
        basis=None,
        exit_code=int(report.exit_code),
        summary="; ".join(grounds(report)),
        judged=f"{count_of(ranks, 'rank')} of {count_of(report.reports, 'report')}",
        checks=tuple(map(_check, checks)),
        checks_left_out=0,
        causes=tuple(_cause(cause, ranks) for cause in report.causes),
        causes_left_out=0,
        next=_next(report),
        cut=False,
    )


def _check(check: FleetCheck) -> BriefCheck:
    outcomes = ((check.failed, "failed"), (check.inconclusive, "cannot be judged"))
    counts = [f"{count} {word}" for count, word in outcomes if count]
    told = f"{', '.join(counts) or 'none failed'} of {count_of(check.ranks, 'rank')}"
    return BriefCheck(
        name=check.name,
        where=f"worst: rank {check.worst_rank}" if check.worst_rank else "",
        outcome=check.outcome.value,
        measured=check.worst,
        limit=check.limit,
        at_least=check.at_least,
        reason=f"{told}; {check.reason}" if check.reason else told,
    )


def _cause(cause: FleetCause, ranks: int) -> BriefCause:
    shares = f"{percent(cause.median_share)} of the median rank's window"
    worst = f"{percent(cause.worst_share)} of rank {cause.worst_rank}'s"
    return BriefCause(
        cause=cause.cause,
        where=held(cause, ranks),
        title=cause.title,
        share=cause.worst_share,
        cost=f"{shares}, {worst}",
        confidence="",
        evidence=cause.evidence,
        advice=cause.advice,
        unless=cause.caveat,
        source="",
    )


def _next(report: FleetReport) -> str | None:
    if report.missing is not None and report.outcome is Outcome.INCONCLUSIVE:
        return report.missing.hint
    if report.outcome is Outcome.PASS:
        return None
    if report.outcome is Outcome.INCONCLUSIVE:
        return "overlapcheck doctor"
    cause = f" {report.causes[0].cause}" if report.causes else ""
    return f"overlapcheck explain{cause}"


RENDERER = FleetBrief()
