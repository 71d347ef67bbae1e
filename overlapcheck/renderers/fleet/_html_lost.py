"""Reports without a result, and what to do about them."""

from __future__ import annotations

from overlapcheck.fleet import FleetReport
from overlapcheck.quantities import count_of
from overlapcheck.renderers._html_markup import Child, Html, el, table
from overlapcheck.renderers.fleet._html_parts import NONE, more_of, section, short

MAX_LOST = 50


def lost_block(report: FleetReport) -> Html | None:
    """A row per report."""
    if not report.lost:
        return None
    rows: list[tuple[Child, ...]] = [
        (el("code", short(one.report)), one.why, one.hint or NONE) for one in report.lost[:MAX_LOST]
    ]
    shown = table(("report", "why it has no result", "what to do"), rows, "nnn")
    rest = more_of(len(report.lost), len(rows), "report")
    return section("lost", f"{count_of(len(report.lost), 'report')} lost", shown, rest)
