"""The beginning of the fleet report for people: verdict, what was looked at, checks."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from overlapcheck.fleet import FleetCheck, FleetReport
from overlapcheck.quantities import count_of, percent
from overlapcheck.renderers._terminal_head import OUTCOME_STYLES
from overlapcheck.renderers._terminal_text import (
    Cell,
    clip,
    paragraph,
    styled,
    table,
    text_of,
    width_of,
)
from overlapcheck.renderers.fleet._words import grounds, limit, measured
from overlapcheck.renderers.formats.page import columns
from overlapcheck.verdict import Outcome

LABEL = 9
"""Columns of "program  "."""


def verdict_line(report: FleetReport) -> Text:
    """The outcome and what it rests on."""
    mark = styled(report.outcome.value, OUTCOME_STYLES[report.outcome])
    return text_of(mark, "  ", clip("; ".join(grounds(report)), columns() - width_of(mark) - 2))


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
    return text_of("  ", f"{label:<{LABEL}}", clip(text, columns() - 2 - LABEL))


def _worst_rank(check: FleetCheck) -> str:
    if check.too_small:
        return "n/a, too small"
    return check.worst_rank if check.worst is not None else ""


def check_lines(checks: Sequence[FleetCheck]) -> list[Text]:
    """A row per check: how many ranks failed, the median and the worst."""
    rows: list[Sequence[Cell]] = [
        ["check", "ranks", "failed", "unsure", "median", "worst", "limit", "worst rank"]
    ]
    rows += [
        [
            styled(
                check.name, "" if check.outcome is Outcome.PASS else OUTCOME_STYLES[check.outcome]
            ),
            str(check.ranks),
            str(check.failed),
            str(check.inconclusive),
            percent(check.median),
            measured(check),
            limit(check),
            _worst_rank(check),
        ]
        for check in checks
    ]
    return table(rows, "lrrrrrrl", flexible=(0, 7))
