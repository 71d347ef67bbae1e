"""What the formats for people say in the same words: the verdict's grounds, where a cause holds."""

from __future__ import annotations

from overlapcheck.fleet import (
    FAILING_RANKS,
    FleetCause,
    FleetReport,
    MeetingSummary,
    MissingRanks,
    Outlier,
    named,
)
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.verdict import Outcome

MAX_LABELS = 8


def grounds(report: FleetReport) -> list[str]:
    """What the verdict rests on, the most telling first."""
    ranks = len(report.rows)
    failed = [row.label for row in report.rows if row.outcome is Outcome.FAIL]
    unsure = sum(row.outcome is Outcome.INCONCLUSIVE for row in report.rows)
    said = []
    if failed:
        few = len(failed) <= 3 and len(failed) < ranks
        which = f" ({named(failed, MAX_LABELS)})" if few else ""
        most = next((c.limit for c in report.checks if c.name == FAILING_RANKS), None)
        may = f", {percent(most)} may" if most else ""
        said.append(f"{len(failed)} of {count_of(ranks, 'rank')} failed{which}{may}")
    if report.stragglers:
        said.append(f"waiting for rank {report.stragglers[0].rank}")
    own = next((one for one in report.causes if one.outlier_ranks), None)
    if own is not None:
        where = "only" if own.ranks == len(own.outlier_ranks) else "most"
        said.append(f"{own.cause} {where} on {named(own.outlier_ranks, MAX_LABELS)}")
    elif failed and report.causes:
        said.append(f"first cause: {report.causes[0].cause}")
    if unsure:
        said.append(f"{count_of(unsure, 'rank')} cannot be judged")
    if report.missing:
        said.append(f"{count_of(report.missing.count, 'rank')} missing")
    if report.lost:
        said.append(f"{count_of(len(report.lost), 'report')} lost")
    if (
        report.outcome is Outcome.PASS
        and not failed
        and not (unsure or report.lost or report.missing)
    ):
        said.insert(0, f"all {count_of(ranks, 'rank')} passed")
    return said or ["nothing was recorded"]


def who_is_missing(missing: MissingRanks) -> str:
    """Ranks without a report, of many the first ones."""
    if not missing.labels:
        return count_of(missing.count, "rank")
    more = missing.count - len(missing.labels[:MAX_LABELS])
    rest = f" and {more} more" if more else ""
    return named(missing.labels[:MAX_LABELS], MAX_LABELS) + rest


def held(cause: FleetCause, ranks: int) -> str:
    """On how many of all ranks a cause matters."""
    if cause.ranks == ranks:
        return f"on all {ranks} ranks"
    return f"on {cause.ranks} of {ranks} ranks"


def who_met(one: MeetingSummary) -> str:
    """Ranks of a meeting, of many the first ones."""
    if one.ranks <= MAX_LABELS:
        return named(one.labels, MAX_LABELS)
    return f"{one.ranks} ranks ({', '.join(one.labels[:3])} ...)"


def in_unit(one: Outlier, value: float) -> str:
    """A value of what an outlier is measured by."""
    return percent(value) if one.unit == "share" else duration(value)


def deviations(one: Outlier) -> str:
    """How far out; where all others are alike the number says no more than far."""
    return f"{one.deviations:.0f}" if one.deviations < 100 else ">= 100"
