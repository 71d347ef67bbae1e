"""Reports judged each alone as JUnit XML: a case for each, named by its path.

A CI server keeps the history of each report, and shows which of them turned red.
"""

from __future__ import annotations

from overlapcheck.quantities import percent
from overlapcheck.renderers._junit_document import Case, Suite, junit_text, lines_of
from overlapcheck.renderers._plain_text import plain
from overlapcheck.separate import ERROR, SeparateReport, SeparateReports
from overlapcheck.verdict import Outcome

MAX_REPORTS = 2_000
_ELEMENTS = {
    Outcome.FAIL.value: ("failure", "fail"),
    Outcome.INCONCLUSIVE.value: ("error", "inconclusive"),
    ERROR: ("error", "unreadable"),
}


class SeparateJunit:
    """See `SeparateRenderer`."""

    name = "junit"
    suffix = ".xml"

    def render(self, found: SeparateReports, /) -> str:
        """See `SeparateRenderer.render`."""
        # The reddest first: of very many, those that pass are left out.
        shown = sorted(found.reports, key=lambda one: one.outcome not in _ELEMENTS)[:MAX_REPORTS]
        left = len(found.reports) - len(shown)
        properties = {
            "reports": str(len(found.reports)),
            "reports without a case": str(left) if left else "",
        }
        cases = [_case(one) for one in shown]
        return junit_text("overlapcheck each", [Suite("reports", properties, cases)])


def _case(one: SeparateReport) -> Case:
    element, kind = _ELEMENTS.get(one.outcome, ("", ""))
    cause = f"{one.first_cause} {percent(one.share)}" if one.first_cause else ""
    text = plain("; ".join(filter(None, [one.why, cause])) or one.outcome)
    body = lines_of([("program", one.program), ("cause", cause), ("do", one.hint)])
    return Case(one.report, "overlapcheck.each", text, element, kind, body if element else "")


RENDERER = SeparateJunit()
