"""The ranks that tell the most: whom the others wait for, who is unlike them, and a usual one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from overlapcheck.columns import Floats
from overlapcheck.fleet import FleetReport, RankPage
from overlapcheck.report_result import RankRow
from overlapcheck.verdict import Outcome

MAX_REASONS = 2
MAX_ALIKE = 2
"""Ranks with one reason that come before those with others."""


def telling_ranks(report: FleetReport, most: int) -> tuple[RankPage, ...]:
    """Stragglers, ranks unlike the others, the worst of each check and cause; and a usual one."""
    reasons: dict[str, list[str]] = {}
    for rank, why in _reasons(report):
        reasons.setdefault(rank, []).append(why)
    usual = _usual(report.rows)
    alike: Counter[str] = Counter()
    first: list[str] = []
    rest: list[str] = []
    for label, told in reasons.items():
        if label != usual:
            alike[told[0]] += 1
            (first if alike[told[0]] <= MAX_ALIKE else rest).append(label)
    chosen = [*first, *rest][: max(most - 1, 0)]
    pages = [RankPage(label, "; ".join(reasons[label][:MAX_REASONS])) for label in chosen]
    if usual is not None and len(pages) < most:
        pages.append(RankPage(usual, "typical: the nearest to the median of all ranks"))
    return tuple(pages)


def _reasons(report: FleetReport) -> Iterator[tuple[str, str]]:
    """Ranks and what makes them worth looking at, the most telling first."""
    for straggler in report.stragglers:
        yield straggler.rank, "the others wait for it"
    for cause in report.causes:
        for rank in cause.outlier_ranks:
            yield rank, f"far more {cause.cause} than the median rank"
    for outlier in report.outliers:
        yield outlier.rank, f"{outlier.measure} unlike the others"
    for check in report.checks:
        if check.worst_rank and check.outcome is not Outcome.PASS:
            yield check.worst_rank, f"the worst in {check.name}"
    for cause in report.causes:
        yield cause.worst_rank, f"the most {cause.cause}"


def _usual(rows: Sequence[RankRow]) -> str | None:
    """The rank that differs least from the medians."""
    if not rows:
        return None
    window = np.array([max(row.window_ns, 1) for row in rows], dtype=np.float64)
    apart = np.zeros(len(rows))
    for values in (
        window,
        np.array([row.compute_ns for row in rows]) / window,
        np.array([row.idle_ns for row in rows]) / window,
        np.array([row.communication_exposed_ns for row in rows]) / window,
    ):
        apart += _apart(values)
    return rows[int(np.argmin(apart))].label


def _apart(values: Floats) -> Floats:
    median = np.median(values)
    apart: Floats = np.abs(values - median) / max(float(median), 1e-9)
    return apart
