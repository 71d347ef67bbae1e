"""Many ranks as one self-contained page: what they share, who stands out, a heat map of all.

It has the look of a report's page. A row of the heat map leads to the page with the rank's
timeline, or says the command that draws it.
"""

from __future__ import annotations

from overlapcheck.device_report import LedgerEntry
from overlapcheck.fleet import FleetReport
from overlapcheck.quantities import count_of
from overlapcheck.renderers._html_causes import slots
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers._html_page import header, page
from overlapcheck.renderers._html_shared_axis import SHARED_AXIS_SCRIPTS
from overlapcheck.renderers.fleet import _html_head as head
from overlapcheck.renderers.fleet._html_causes import causes_block
from overlapcheck.renderers.fleet._html_lost import lost_block
from overlapcheck.renderers.fleet._html_map import ranks_block
from overlapcheck.renderers.fleet._html_meetings import meetings_block
from overlapcheck.renderers.fleet._html_timelines import timelines_block, timelines_data
from overlapcheck.renderers.fleet._html_unusual import outliers_block, stragglers_block


class FleetHtml:
    """See `FleetRenderer`."""

    name = "html"
    suffix = ".html"

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        return page(
            f"{report.outcome.value} {_program(report)}",
            _body(report),
            styles=("style.css", "shared_axis.css", "fleet.css"),
            scripts=("fleet.js", "theme.js", *SHARED_AXIS_SCRIPTS, "axes.js"),
            data=timelines_data(report),
        )


def _program(report: FleetReport) -> str:
    return report.settings.program or "several ranks"


def _body(report: FleetReport) -> Html:
    # The same colours in the heat map, in the bars of its rows and beside the causes.
    slot = slots(
        tuple(LedgerEntry(cause, ns) for cause, ns in row.ledger.items()) for row in report.rows
    )
    pages = {one.rank: one for one in report.pages}
    return html(
        header(
            report.tool_version,
            f"{_program(report)}, {count_of(len(report.rows), 'rank')}",
            head.verdict_block(report),
            head.facts_block(report),
        ),
        el(
            "main",
            head.notes_block(report),
            head.checks_block(report.checks),
            stragglers_block(report, pages),
            timelines_block(report, pages),
            causes_block(report),
            outliers_block(report, pages),
            ranks_block(report, slot, pages),
            meetings_block(report),
            lost_block(report),
        ),
        el("footer", el("p", _footer(report), cls="dim")),
    )


def _footer(report: FleetReport) -> str:
    checks = count_of(len(report.checks), "check")
    ranks = count_of(len(report.rows), "rank")
    return f"overlapcheck {report.tool_version}, {checks} of {ranks}; -o FILE.json has all numbers"


RENDERER = FleetHtml()
