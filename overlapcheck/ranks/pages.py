"""The ranks whose timelines are worth a page of their own, and those pages.

A page needs every event of its report, which no partial result keeps: the few reports that matter
are read once more, wherever all were read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from overlapcheck.fleet import FleetReport, RankPage
from overlapcheck.ranks.run import Engine
from overlapcheck.ranks.telling import telling_ranks
from overlapcheck.ranks.work import Draw, draw_report
from overlapcheck.report_result import LostReport, RankRow, Task
from overlapcheck.verdict import SEVERITY

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
