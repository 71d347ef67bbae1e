"""The ranks whose timelines are worth a page of their own, and those pages.

A page needs every event of its report, which no partial result keeps: the few reports that matter
are read once more, wherever all were read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from overlapcheck.columns import Floats
from overlapcheck.fleet import FleetReport, RankPage
from overlapcheck.ranks.run import Engine
from overlapcheck.ranks.work import Draw, draw_report
from overlapcheck.report_result import LostReport, RankRow, Task
from overlapcheck.verdict import SEVERITY, Outcome

MAX_REASONS = 2
MAX_ALIKE = 2
"""Ranks with one reason that come before those with others."""
_UNFIT = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class Pages:
    """Pages of the telling ranks."""

    ranks: tuple[RankPage, ...]
    """With addresses relative to the folder of the files."""
    files: dict[str, str]
    """Text by file name."""
    lost: tuple[LostReport, ...]
    """Reports that could not be drawn."""


def draw_pages(
    report: FleetReport, paths: Sequence[Path], draw: Draw, engine: Engine, most: int
) -> Pages:
    """Draw the ranks that tell the most.

    Args:
        report: all ranks.
        paths: all reports.
        draw: how to draw one; picklable.
        engine: where.
        most: pages at most.
    """
    rows = {row.label: row for row in report.rows}
    chosen = telling_ranks(report, most)
    numbers = sorted({rows[page.rank].report_number for page in chosen})
    drawn: dict[int, str] = {}
    lost = []
    tasks = [Task(number, paths[number]) for number in numbers]
    with closing(engine.run(partial(draw_report, draw), tasks)) as arriving:
        for task, made in arriving:
            if isinstance(made, LostReport):
                lost.append(made)
            else:
                drawn[task.number] = made
    names: dict[int, str] = {}
    ranks = []
    for page in chosen:
        number = rows[page.rank].report_number
        if number in drawn:
            names.setdefault(number, _file_name(page.rank, number, names))
            address = names[number] + _place(rows[page.rank], report.rows)
            ranks.append(replace(page, address=address))
    return Pages(tuple(ranks), {names[n]: text for n, text in drawn.items()}, tuple(lost))


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


def _file_name(label: str, number: int, taken: dict[int, str]) -> str:
    name = f"rank-{_UNFIT.sub('_', label)}.html"
    return name if name not in taken.values() else f"rank-{_UNFIT.sub('_', label)}-{number}.html"


def _place(row: RankRow, rows: Sequence[RankRow]) -> str:
    """Where on its report's page a rank is: there the worst device comes first."""
    beside = [one for one in rows if one.report_number == row.report_number]
    if len(beside) == 1:
        return ""
    beside.sort(key=lambda one: (SEVERITY.index(one.outcome), one.host, one.pid, one.device))
    return f"#device-{beside.index(row)}"
