"""Single ranks in the fleet report for people: stragglers, outliers, and a row per rank."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from overlapcheck.fleet import FleetReport, Straggler
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.renderers._terminal_head import OUTCOME_STYLES
from overlapcheck.renderers._terminal_text import BOLD, Cell, paragraph, styled, table, text_of
from overlapcheck.renderers.fleet._words import (
    deviations,
    in_unit,
    meanwhile_text,
    straggler_text,
    telling_rows,
)
from overlapcheck.renderers.formats.page import most
from overlapcheck.report_result import RankRow
from overlapcheck.verdict import Outcome

MAX_RANKS = 16
"""Rows of the table; of more ranks only the worst are shown."""
MAX_STRAGGLERS = 4
MAX_OUTLIERS = 12
_MARKS = {Outcome.PASS: "ok", Outcome.FAIL: "FAIL", Outcome.INCONCLUSIVE: "?"}


def straggler_lines(report: FleetReport) -> list[Text]:
    """Ranks that the others wait for, and what they did meanwhile."""
    lines = []
    for one in report.stragglers[: most(MAX_STRAGGLERS)]:
        lines += _straggler(one)
    more = report.stragglers_total - most(MAX_STRAGGLERS)
    if more > 0:
        lines.append(text_of(f"  and {count_of(more, 'more straggler')}"))
    return [text_of("  ", styled("stragglers", BOLD)), *lines] if lines else []


def _straggler(one: Straggler) -> list[Text]:
    lines = paragraph(styled(f"rank {one.rank}", BOLD), straggler_text(one))
    if one.meanwhile:
        lines += paragraph("", meanwhile_text(one), indent=4)
    return lines


def outlier_lines(report: FleetReport) -> list[Text]:
    """Ranks that are unlike the others."""
    if not report.outliers:
        return []
    rows: list[Sequence[Cell]] = [["unlike the others", "rank", "here", "median", "deviations"]]
    for one in report.outliers[: most(MAX_OUTLIERS)]:
        here, usual = in_unit(one, one.value), in_unit(one, one.median)
        rows.append([one.measure, one.rank, here, usual, deviations(one)])
    lines = table(rows, "llrrr", flexible=(0, 1))
    more = report.outliers_total - most(MAX_OUTLIERS)
    if more > 0:
        lines.append(text_of(f"  and {more} more"))
    return lines


def rank_lines(report: FleetReport) -> list[Text]:
    """A row per rank; of many, the worst."""
    shown = telling_rows(report, most(MAX_RANKS))
    collectives = any(row.communication_ns for row in shown)
    head: list[Cell] = ["rank", "", "step", "compute", "idle"]
    head += ["collect.", "exposed"] if collectives else []
    body = [_rank(row, collectives) for row in shown]
    lines = table(
        [[*head, "recov.", "first cause"], *body],
        "llrrr" + ("rr" if collectives else "") + "rl",
        flexible=(0, len(head) + 1),
    )
    left = len(report.rows) - len(shown)
    if left:
        lines.append(text_of(f"  and {count_of(left, 'more rank')}, all of them in -o FILE.json"))
    return lines


def _rank(row: RankRow, collectives: bool) -> list[Cell]:
    window = max(row.window_ns, 1)
    cells: list[Cell] = [
        row.label,
        styled(_MARKS[row.outcome], OUTCOME_STYLES[row.outcome]),
        duration(row.step_median_ns) if row.step_median_ns is not None else "-",
        percent(row.compute_ns / window),
        percent(row.idle_ns / window),
    ]
    if collectives:
        cells += [
            percent(row.communication_ns / window),
            percent(row.communication_exposed_ns / window),
        ]
    return [*cells, percent(row.recoverable), row.causes[0].cause if row.causes else "-"]
