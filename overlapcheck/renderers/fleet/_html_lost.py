"""Reports without a result, ranks without a report, and what to do about them."""

from __future__ import annotations

from overlapcheck.fleet import FleetReport
from overlapcheck.quantities import count_of
from overlapcheck.renderers._html_markup import Child, Html, el, table
from overlapcheck.renderers.fleet._html_parts import NONE, more_of, section, short
from overlapcheck.renderers.fleet._words import who_is_missing

MAX_LOST = 50


def lost_block(report: FleetReport) -> Html | None:
    """A row per report, and one for the ranks that have none."""
    missing = report.missing
    if not report.lost and missing is None:
        return None
    rows: list[tuple[Child, ...]] = [
        (el("code", short(one.report)), one.why, one.hint or NONE) for one in report.lost[:MAX_LOST]
    ]
    head = [f"{count_of(len(report.lost), 'report')} lost"] if rows else []
    if missing is not None:
        rows.insert(0, (who_is_missing(missing), missing.why, missing.hint))
        head.insert(0, f"{count_of(missing.count, 'rank')} missing")
    shown = table(("report", "why it has no result", "what to do"), rows, "nnn")
    rest = more_of(len(report.lost), min(len(report.lost), MAX_LOST), "report")
    return section("lost", ", ".join(head), shown, rest)
