"""Results of all reports → one `FleetReport`. The order in which they came changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from overlapcheck._version import __version__
from overlapcheck.fleet import FleetCause, FleetCheck, FleetReport
from overlapcheck.ledger import Reason
from overlapcheck.quantities import count_of, duration
from overlapcheck.ranks.inputs import natural
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.labels import label
from overlapcheck.ranks.meet import MetRanks, met_ranks
from overlapcheck.ranks.missing import missing_ranks
from overlapcheck.ranks.outliers import far_above, outliers
from overlapcheck.ranks.share import failing_ranks
from overlapcheck.ranks.summary import summarize
from overlapcheck.ranks.timelines import drawn_rank, rank_timelines
from overlapcheck.report import Report
from overlapcheck.report_result import LostReport, RankRow, ReportResult, Settings
from overlapcheck.thresholds import Thresholds, moved_text
from overlapcheck.verdict import SEVERITY, Check, Outcome

MAX_LABELS = 16
MAX_OUTLIERS = 200
MAX_STRAGGLERS = 50
MAX_MEETINGS = 50
MAX_NOTES = 8
_MET_CAVEAT = "most of it waits for a late rank: then speed up or balance that rank instead"
_NO_SETTINGS = Settings("", "", "", {})


def merge(
    reports: JobReports, results: Mapping[int, ReportResult], lost: Mapping[int, LostReport]
) -> FleetReport:
    """The answer over all ranks.

    Args:
        reports: all of the job.
        results: of those that were judged, by position among the paths.
        lost: the others, and behind them what could hold further reports.
    """
    limits = reports.limits
    labels = label(reports.paths, results, reports.pattern)
    owned = [
        (replace(row, label=labels.labels[number][position], report_number=number), position)
        for number in sorted(results)
        for position, row in enumerate(results[number].rows)
    ]
    owned.sort(key=lambda one: natural(one[0].label))
    rows = [row for row, _ in owned]
    owners = [(row.report_number, position) for row, position in owned]
    meetings = met_ranks(rows, owners, results, same_host=reports.job.same_host, limits=limits)
    unusual = outliers(rows, limits)
    notes = [f"ranks by {labels.how}", *_told_paces(rows)]
    if limits.moved():
        notes.append(f"moved thresholds: {moved_text(limits.moved())}")
    notes += meetings.notes
    checks = _checks(rows, [check for n in sorted(results) for check in results[n].checks])
    missing = missing_ranks(reports, results, lost, labels)
    share = failing_ranks(results, lost, reports.policy, missing.count if missing else 0)
    report = FleetReport(
        tool_version=__version__,
        outcome=share.outcome,
        reports=len(results) + len(lost),
        settings=next((results[n].settings for n in sorted(results)), _NO_SETTINGS),
        rows=tuple(rows),
        lost=tuple(lost[n] for n in sorted(lost)),
        notes=tuple(notes[:MAX_NOTES]),
        checks=(*checks, share) if share.limit else checks,
        stragglers=meetings.stragglers[:MAX_STRAGGLERS],
        stragglers_total=len(meetings.stragglers),
        outliers=unusual[:MAX_OUTLIERS],
        outliers_total=len(unusual),
        causes=tuple(_with_waiting(cause, meetings) for cause in _causes(rows, limits)),
        meetings=meetings.summaries[:MAX_MEETINGS],
        meetings_total=len(meetings.summaries),
        hosts=meetings.hosts,
        missing=missing,
        crossed=meetings.crossed,
    )
    drawn = [drawn_rank(results[number], position) for number, position in owners]
    return replace(report, timelines=rank_timelines(report, drawn, meetings.groups))


def _told_paces(rows: Sequence[RankRow]) -> Iterator[str]:
    """At which pace ranks are judged, and which of them may fail by the recording alone."""
    own = sum(row.pace is not None and row.pace.own_ns is not None for row in rows)
    if own:
        rest = ", the others as recorded" if own < len(rows) else ""
        yield f"{count_of(own, 'rank')} judged at the own pace{rest}"
    failed = [[one for one in row.checks if one.outcome is Outcome.FAIL] for row in rows]
    late = [checks for checks in failed if checks and all(one.settle_with for one in checks)]
    if late:
        ranks = count_of(len(late), "rank fails", "ranks fail")
        yield f"{ranks} as recorded, by a late host alone; to settle it: {late[0][0].settle_with}"


def lacks_ranks(path: Path, report: Report) -> bool:
    """Whether the only report that was found says that there are further ranks."""
    return merge(JobReports([path]), {0: summarize(report)}, {}).missing is not None


def _checks(rows: Sequence[RankRow], of_reports: Sequence[Check]) -> tuple[FleetCheck, ...]:
    by_name: dict[str, list[tuple[str, Check]]] = {}
    for check in of_reports:
        by_name.setdefault(check.name, []).append(("", check))
    for row in rows:
        for check in row.checks:
            by_name.setdefault(check.name, []).append((row.label, check))
    return tuple(_check(name, found) for name, found in by_name.items())


def _check(name: str, found: list[tuple[str, Check]]) -> FleetCheck:
    def badness(one: tuple[str, Check]) -> tuple[int, float]:
        check = one[1]
        measured = check.measured or 0.0
        return (-SEVERITY.index(check.outcome), -measured if check.at_least else measured)

    rank, worst = max(found, key=badness)
    measured = [check.measured for _, check in found if check.measured is not None]
    return FleetCheck(
        name=name,
        outcome=worst.outcome,
        ranks=len(found),
        failed=sum(check.outcome is Outcome.FAIL for _, check in found),
        inconclusive=sum(check.outcome is Outcome.INCONCLUSIVE for _, check in found),
        limit=worst.limit,
        at_least=worst.at_least,
        median=float(np.median(measured)) if measured else None,
        worst=worst.measured,
        worst_rank=rank,
        reason=worst.reason,
    )


def _causes(rows: Sequence[RankRow], limits: Thresholds) -> tuple[FleetCause, ...]:
    """One entry per cause, costliest over all ranks first."""
    holders: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        for cause in row.causes:
            holders.setdefault(cause.cause, []).append(number)
    merged = []
    for name, numbers in holders.items():
        found = {n: c for n in numbers for c in rows[n].causes if c.cause == name}
        shares = np.array([_share(row, name) for row in rows], dtype=np.float64)
        order = sorted(numbers, key=lambda n: (-found[n].share, n))
        worst = found[order[0]]
        unusual: list[int] = []
        if len(rows) >= limits.outlier_ranks_least:
            above = far_above(shares, limits)
            unusual = [n for n in order if above[n]]
        merged.append(
            FleetCause(
                cause=name,
                title=worst.title,
                ranks=len(numbers),
                labels=tuple(rows[n].label for n in order[:MAX_LABELS]),
                median_share=float(np.median(shares)),
                worst_share=worst.share,
                worst_rank=rows[order[0]].label,
                outlier_ranks=tuple(rows[n].label for n in unusual[:MAX_LABELS]),
                evidence=worst.evidence,
                advice=worst.advice,
                caveat=worst.caveat,
                source=worst.source,
            )
        )
    # What few ranks have and the others lack can hold the whole job up.
    merged.sort(
        key=lambda one: (
            (not one.outlier_ranks, one.median_share - one.worst_share, one.cause)
            if one.outlier_ranks
            else (True, -one.worst_share, one.cause)
        )
    )
    return tuple(merged)


def _with_waiting(cause: FleetCause, met: MetRanks) -> FleetCause:
    """Exposed collectives: which part of the worst rank's time waits, and which moves data."""
    if cause.cause != Reason.EXPOSED_COLLECTIVE.cause:
        return cause
    cause = replace(cause, evidence=(*met.crossed, *cause.evidence))
    for meeting in met.summaries:
        for wait in meeting.waits:
            if wait.rank == cause.worst_rank:
                fact = (
                    f"rank {wait.rank}: {duration(wait.exposed_waiting_ns)} wait for ranks that"
                    f" come later, {duration(wait.exposed_transfer_ns)} move data"
                )
                return replace(cause, evidence=(fact, *cause.evidence), caveat=_MET_CAVEAT)
    return cause


def _share(row: RankRow, cause: str) -> float:
    return next((found.share for found in row.causes if found.cause == cause), 0.0)
