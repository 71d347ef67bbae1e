"""The verdict over all ranks: the worst one's, unless the policy lets a share of them fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from overlapcheck.fleet import FAILING_RANKS, FleetCheck
from overlapcheck.quantities import count_of
from overlapcheck.report_result import LostReport, ReportResult
from overlapcheck.verdict import SEVERITY, Outcome, Policy

_ROUNDING = 1e-9
"""Of a product of share and count."""


def failing_ranks(
    results: Mapping[int, ReportResult],
    lost: Mapping[int, LostReport],
    policy: Policy,
    missing: int = 0,
) -> FleetCheck:
    """How many ranks fail, and whether so many may.

    A rank that cannot be judged, or whose report is lost or missing, may be one that fails: where
    that would be too many the answer is INCONCLUSIVE.
    """
    outcomes = [one for n in sorted(results) for one in _outcomes(results[n])]
    total = len(outcomes) + len(lost) + missing
    ranks = max(total, 1)
    failed = outcomes.count(Outcome.FAIL)
    unsure = outcomes.count(Outcome.INCONCLUSIVE) + len(lost) + missing
    most = policy.max_failing_ranks * ranks + _ROUNDING
    outcome = Outcome.PASS
    reason = f"{count_of(failed, 'rank')} of {total} failed"
    if failed > most:
        outcome = Outcome.FAIL
    elif failed + unsure > most or not total:
        outcome = Outcome.INCONCLUSIVE
        reason += f", and {count_of(unsure, 'rank')} cannot be judged"
    return FleetCheck(
        name=FAILING_RANKS,
        outcome=outcome,
        ranks=total,
        failed=failed,
        inconclusive=unsure,
        limit=policy.max_failing_ranks,
        at_least=False,
        median=None,
        worst=failed / ranks,
        worst_rank="",
        reason=reason,
    )


def _outcomes(result: ReportResult) -> list[Outcome]:
    """Of each rank of a report; what holds for the whole report holds for each."""
    whole = [check.outcome for check in result.checks]
    if not result.rows:
        return [_worst(whole or [Outcome.INCONCLUSIVE])]
    return [_worst([row.outcome, *whole]) for row in result.rows]


def _worst(outcomes: Iterable[Outcome]) -> Outcome:
    return min(outcomes, key=SEVERITY.index)
