"""The beginning of the fleet report for people: verdict, what was looked at, checks."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from overlapcheck.fleet import FAILING_RANKS, FleetCheck, FleetReport, named
from overlapcheck.quantities import count_of, percent, percent_beside
from overlapcheck.renderers._terminal_head import OUTCOME_STYLES
from overlapcheck.renderers._terminal_text import (
    WIDTH,
    Cell,
    clip,
    paragraph,
    styled,
    table,
    text_of,
    width_of,
)
from overlapcheck.verdict import Outcome

MAX_LABELS = 8
LABEL = 9
"""Columns of "program  "."""


def verdict_line(report: FleetReport) -> Text:
    """The outcome and what it rests on."""
    mark = styled(report.outcome.value, OUTCOME_STYLES[report.outcome])
    return text_of(mark, "  ", clip("; ".join(_behind(report)), WIDTH - width_of(mark) - 2))


def _behind(report: FleetReport) -> list[str]:
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
    if report.lost:
        said.append(f"{count_of(len(report.lost), 'report')} lost")
    if report.outcome is Outcome.PASS and not failed and not unsure and not report.lost:
        said.insert(0, f"all {count_of(ranks, 'rank')} passed")
    return said or ["nothing was recorded"]


def looked_at(report: FleetReport) -> list[Text]:
    """Program, reports, and how ranks were told apart and compared."""
    settings = report.settings
    judged = report.reports - len(report.lost)
    read = f"{judged} of {count_of(report.reports, 'report')}, {count_of(len(report.rows), 'rank')}"
    gpus = dict.fromkeys(row.gpu for row in report.rows if row.gpu)
    versions = [f"nsys {settings.nsys_version}"] if settings.nsys_version else []
    lines = [_fact("program", settings.program)] if settings.program else []
    lines.append(_fact("reports", ", ".join([read, *list(gpus)[:2], *versions])))
    for note in report.notes:
        lines += paragraph("", note, indent=2 + LABEL - 1)
    return lines


def _fact(label: str, text: str) -> Text:
    return text_of("  ", f"{label:<{LABEL}}", clip(text, WIDTH - 2 - LABEL))


def check_lines(checks: Sequence[FleetCheck]) -> list[Text]:
    """A row per check: how many ranks failed, the median and the worst."""
    rows: list[Sequence[Cell]] = [
        ["check", "ranks", "failed", "unsure", "median", "worst", "limit", "worst rank"]
    ]
    for check in checks:
        sign = ">=" if check.at_least else "<="
        rows.append(
            [
                styled(
                    check.name,
                    OUTCOME_STYLES[check.outcome] if check.outcome is not Outcome.PASS else "",
                ),
                str(check.ranks),
                str(check.failed),
                str(check.inconclusive),
                percent(check.median),
                percent_beside(check.worst, check.limit if check.failed else None),
                f"{sign} {percent(check.limit)}" if check.limit is not None else "",
                check.worst_rank if check.worst is not None else "",
            ]
        )
    return table(rows, "lrrrrrrl", flexible=(0, 7))
