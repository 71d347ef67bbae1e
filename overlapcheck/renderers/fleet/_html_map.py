"""The heat map: a row per rank, a column per cause of the time without compute.

Cells are shares of the rank's window. What every row has is written as briefly as HTML allows:
four thousand of them are most of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overlapcheck.fleet import FleetReport, RankPage
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers.fleet._html_parts import section, short
from overlapcheck.renderers.fleet._html_row import opened
from overlapcheck.report_result import RankRow
from overlapcheck.verdict import SEVERITY

MAX_COLUMNS = 12
MAX_DETAILS = 128
"""Rows that show checks and evidence; of more ranks those named elsewhere and the worst."""
_SHADES = 10
_DARKEST = 0.3
"""Share of the window from which on a cell is as dark as it gets."""
_HINT = (
    "Share of each rank's window, in %. A row opens to the rank's time as a bar in the colours of "
    "the columns. A head sorts."
)


def ranks_block(
    report: FleetReport, slot: Mapping[str, int], pages: Mapping[str, RankPage]
) -> Html | None:
    """All ranks, and the timelines that were drawn."""
    if not report.rows:
        return None
    return section(
        "ranks",
        "Ranks by cause of the time without compute",
        _timelines(report.pages),
        _filter(len(report.rows)),
        _map(report, slot, pages),
        el("p", _HINT, " ", _left_out(slot), " ", _without_details(report), cls="dim note"),
    )


def _timelines(pages: Sequence[RankPage]) -> Html | None:
    if not pages:
        return None
    items = [
        el("li", el("a", f"rank {short(page.rank)}", href=page.address), f": {page.why}")
        for page in pages
    ]
    return el(
        "div", el("h3", "Timelines of the ranks that tell most"), el("ul", *items), cls="told"
    )


def _filter(ranks: int) -> Html:
    return el(
        "p",
        el("label", "show ", el("input", type="search", id="filter", placeholder=_EXAMPLE)),
        el("output", count_of(ranks, "rank"), id="shown", cls="dim", for_="filter"),
        cls="filter",
    )


_EXAMPLE = "ranks 0-7 42, FAIL, a cause"


def _left_out(slot: Mapping[str, int]) -> str:
    more = list(slot)[MAX_COLUMNS:]
    return f"Smaller, without a column: {', '.join(more)}." if more else ""


def _without_details(report: FleetReport) -> str:
    if len(report.rows) <= MAX_DETAILS:
        return ""
    return f"Checks and evidence are with the {MAX_DETAILS} worst and most unusual ranks."


def _map(report: FleetReport, slot: Mapping[str, int], pages: Mapping[str, RankPage]) -> Html:
    causes = list(slot)[:MAX_COLUMNS]
    in_full = _in_full(report, pages)
    first = ["rank", *(["timeline"] if pages else []), "verdict", "step", "no compute"]
    last = ["compute", "collectives", "exposed", "recoverable", "first cause"]
    head = [
        *map(_head, first),
        *(_cause_head(cause, slot[cause]) for cause in causes),
        *map(_head, last),
    ]
    rows = [
        html("\n", _row(row, causes, slot, pages, in_full=row.label in in_full))
        for row in report.rows
    ]
    shown = el("table", el("thead", el("tr", *head)), el("tbody", *rows))
    return el("div", shown, cls="map", tabindex=0, role="region", aria_label="ranks by cause")


def _in_full(report: FleetReport, pages: Mapping[str, RankPage]) -> set[str]:
    """Ranks that this page names elsewhere, then the worst."""
    named = [straggler.rank for straggler in report.stragglers]
    named += [outlier.rank for outlier in report.outliers]
    named += [cause.worst_rank for cause in report.causes]
    named += [check.worst_rank for check in report.checks]
    worst = sorted(report.rows, key=lambda row: SEVERITY.index(row.outcome))
    ranked = [*pages, *named, *(row.label for row in worst)]
    return set(list(dict.fromkeys(filter(None, ranked)))[:MAX_DETAILS])


def _head(name: str) -> Html:
    words = name in ("verdict", "first cause")
    return el("th", el("span", name), scope="col", data_by="text" if words else None)


def _cause_head(cause: str, color: int) -> Html:
    name = el("span", el("span", cls=f"sw c{color}"), el("span", cause), cls="name")
    return el("th", name, scope="col", cls="up")


def _row(
    row: RankRow,
    causes: Sequence[str],
    slot: Mapping[str, int],
    pages: Mapping[str, RankPage],
    *,
    in_full: bool,
) -> Html:
    window = max(row.window_ns, 1)
    page = pages.get(row.label)
    step = row.step_median_ns
    shares = (row.compute_ns, row.communication_ns, row.communication_exposed_ns)
    return el(
        "tr",
        el(
            "th",
            el(
                "details",
                el("summary", short(row.label)),
                el("div", opened(row, slot, page, in_full=in_full), cls="more"),
                cls="quiet",
            ),
            scope="row",
        ),
        el("td", el("a", "open", href=page.address) if page else None) if pages else None,
        el("td", row.outcome.value, cls=row.outcome.value.lower()),
        el("td", duration(step), data_ns=f"{step:.0f}") if step is not None else el("td", "-"),
        el("td", _number(row.idle_ns / window)),
        *(_cell(row.ledger.get(cause, 0) / window) for cause in causes),
        *(el("td", _number(ns / window)) for ns in shares),
        el("td", _number(row.recoverable) if row.recoverable is not None else "-"),
        el("td", row.causes[0].cause if row.causes else "-"),
        id=f"rank-{row.label}",
    )


def _number(share: float) -> str:
    return percent(share).removesuffix(" %")


def _cell(share: float) -> Html:
    if share < 0.0005:
        return Html("<td></td>")
    shade = max(1, round(min(1.0, share / _DARKEST) * _SHADES))
    return Html(f"<td class=h{shade}>{_number(share)}</td>")
