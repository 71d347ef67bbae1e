"""Reports judged each alone as Markdown, for a comment on a change or a job's summary."""

from __future__ import annotations

from overlapcheck.quantities import count_of, percent
from overlapcheck.renderers._markdown_text import MARKER, OUTCOME_MARKS, bounded, inline, table
from overlapcheck.separate import ERROR, SeparateReport, SeparateReports
from overlapcheck.verdict import Outcome

MAX_REPORTS = 100
_MARKS = {
    Outcome.FAIL.value: OUTCOME_MARKS[Outcome.FAIL],
    ERROR: OUTCOME_MARKS[Outcome.INCONCLUSIVE],
    Outcome.INCONCLUSIVE.value: OUTCOME_MARKS[Outcome.INCONCLUSIVE],
    Outcome.PASS.value: OUTCOME_MARKS[Outcome.PASS],
}
"""Worst first."""


class SeparateMarkdown:
    """See `SeparateRenderer`."""

    name = "markdown"
    suffix = ".md"

    def render(self, found: SeparateReports, /) -> str:
        """See `SeparateRenderer.render`."""
        order = list(_MARKS)
        worst_first = sorted(found.reports, key=lambda one: order.index(one.outcome))
        rows = [_row(one) for one in worst_first[:MAX_REPORTS]]
        head = ["report", "program", "result", "first cause", "why"]
        left = len(worst_first) - len(rows)
        rest = f"and {count_of(left, 'more report')}\n" if left else ""
        return bounded([_title(found), table(head, rows, right=set()), rest], _foot(found))


def _title(found: SeparateReports) -> str:
    outcomes = [one.outcome for one in found.reports]
    counts = [f"{outcomes.count(word)} {word}" for word in dict.fromkeys(outcomes)]
    worst = next((word for word in _MARKS if word in outcomes), Outcome.PASS.value)
    said = f"{count_of(len(outcomes), 'report')}, each judged alone: {', '.join(counts)}"
    return f"{MARKER}\n### {_MARKS[worst]} overlapcheck: {worst}\n\n{said}\n"


def _row(one: SeparateReport) -> list[str]:
    return [
        inline(one.report, 120),
        inline(one.program, 80),
        f"{_MARKS[one.outcome]} {one.outcome}",
        inline(f"{one.first_cause} {percent(one.share)}") if one.first_cause else "",
        inline("; ".join(filter(None, [one.why, one.hint])), 240),
    ]


def _foot(found: SeparateReports) -> str:
    return f"<sub>overlapcheck {found.tool_version}</sub>\n"


RENDERER = SeparateMarkdown()
