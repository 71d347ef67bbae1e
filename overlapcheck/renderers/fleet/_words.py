"""What the formats say in the same words: the verdict's grounds, where a cause holds, who waits."""

from __future__ import annotations

from overlapcheck.fleet import (
    FAILING_RANKS,
    FleetCause,
    FleetCheck,
    FleetReport,
    MeetingSummary,
    MissingRanks,
    Outlier,
    Straggler,
    named,
)
from overlapcheck.quantities import count_of, duration, percent, percent_beside
from overlapcheck.report_result import LostReport, RankRow
from overlapcheck.verdict import SEVERITY, Outcome

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
    return _named_of(missing.labels, missing.count)


def missing_text(missing: MissingRanks) -> str:
    """Who is missing, how that is known and what to do."""
    return f"{who_is_missing(missing)}: {missing.why}; {missing.hint}"


def lost_text(one: LostReport) -> str:
    """A report without a result, why, and what to do."""
    why = f"{one.report}: {one.why}"
    return f"{why}; {one.hint}" if one.hint else why


def measured(check: FleetCheck) -> str:
    """What the worst rank has."""
    return percent_beside(check.worst, check.limit if check.failed else None)


def limit(check: FleetCheck) -> str:
    """What the worst rank had to have: ">= 80.0 %"; "" where there is no number to meet."""
    if check.limit is None:
        return ""
    return f"{'>=' if check.at_least else '<='} {percent(check.limit)}"


def counts(check: FleetCheck) -> str:
    """How many ranks did not pass: "3 of 8 ranks failed, 1 cannot be judged"."""
    ranks = count_of(check.ranks, "rank")
    said = [f"{check.failed} of {ranks} failed"] if check.failed else []
    if check.inconclusive:
        of = "" if said else f" of {ranks}"
        said.append(f"{check.inconclusive}{of} cannot be judged")
    if said:
        return ", ".join(said)
    return f"all {ranks} passed" if check.ranks > 1 else "the one rank passed"


def check_text(check: FleetCheck) -> str:
    """One sentence: "recoverable: 2 of 8 ranks failed; worst 11.9 % of rank 1, limit ..."."""
    said = f"{check.name}: {counts(check)}"
    if check.worst is not None and check.name != FAILING_RANKS:
        of = f" of rank {check.worst_rank}" if check.worst_rank else ""
        said += f"; median {percent(check.median)}, worst {measured(check)}{of}"
    if limit(check):
        said += f", limit {limit(check)}"
    if check.outcome is not Outcome.PASS and check.name != FAILING_RANKS:
        on = f" on rank {check.worst_rank}" if check.worst_rank and check.worst is None else ""
        said += f":{on} {check.reason}"
    return said


def where(cause: FleetCause, ranks: int) -> str:
    """Where a cause holds and how much of it: "on 1 of 8 ranks: rank 6; median ..., worst ..."."""
    on = held(cause, ranks)
    if cause.outlier_ranks:
        on = f"{on}, far more on {named(cause.outlier_ranks, MAX_LABELS)}"
    elif cause.ranks < ranks:
        on = f"{on}: {_named_of(cause.labels, cause.ranks)}"
    worst = f"median {percent(cause.median_share)}, worst {percent(cause.worst_share)}"
    return f"{on}; {worst} (rank {cause.worst_rank})"


def holding(report: FleetReport, cause: str) -> list[RankRow]:
    """Ranks on which a cause matters, in order."""
    return [row for row in report.rows if any(one.cause == cause for one in row.causes)]


def mildest(*outcomes: Outcome) -> Outcome:
    """What a policy lets fail is no failure: the best of the outcomes."""
    return max(outcomes, key=SEVERITY.index)


def told_with(report: FleetReport, cause: FleetCause) -> Outcome:
    """How bad a cause is: as the worst rank that has it, and no worse than the job."""
    outcomes = [row.outcome for row in holding(report, cause.cause)]
    worst = min(outcomes, key=SEVERITY.index, default=report.outcome)
    return mildest(worst, report.outcome)


def straggler_text(one: Straggler) -> str:
    """What the others wait for a rank."""
    others = "the other rank" if one.ranks == 2 else f"the median of {one.ranks - 1} other ranks"
    return (
        f"comes last in {one.came_last} of {one.occasions} collectives: {others} waits"
        f" {duration(one.cost_ns)} for it ({percent(one.share)} of the time),"
        f" {duration(one.exposed_cost_ns)} of that without compute"
    )


def meanwhile_text(one: Straggler) -> str:
    """What it did meanwhile; "" where that is not known."""
    if not one.meanwhile:
        return ""
    spent = ", ".join(f"{what} {duration(ns)}" for what, ns in one.meanwhile.items())
    return f"meanwhile it spent more than the others on: {spent}"


def telling_rows(report: FleetReport, most: int) -> list[RankRow]:
    """All ranks in order; of more than so many the worst, then those named elsewhere."""
    rows = list(enumerate(report.rows))
    if len(rows) > most:
        told = {one.rank for one in report.stragglers} | {one.rank for one in report.outliers}
        rows.sort(
            key=lambda one: (SEVERITY.index(one[1].outcome), one[1].label not in told, one[0])
        )
    return [row for _, row in rows[:most]]


def _named_of(labels: tuple[str, ...], count: int) -> str:
    """Ranks in words, where the labels are but the first ones of so many."""
    more = count - len(labels[:MAX_LABELS])
    return named(labels[:MAX_LABELS], MAX_LABELS) + (f" and {more} more" if more else "")


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
