"""Causes merged over the ranks that they hold for, with evidence and advice."""

from __future__ import annotations

from overlapcheck.fleet import FleetCause, FleetReport
from overlapcheck.quantities import percent
from overlapcheck.renderers._cause_looks import number_of
from overlapcheck.renderers._html_causes import advice_list
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers.fleet._html_parts import rank_link, rank_links, section
from overlapcheck.renderers.fleet._words import MAX_LABELS, held

MAX_OPEN = 5
"""Causes that are shown unfolded; the costliest come first."""


def causes_block(report: FleetReport) -> Html | None:
    """The causes, costliest first."""
    if not report.causes:
        return None
    shown = [
        _cause(number, cause, len(report.rows))
        for number, cause in enumerate(report.causes, start=1)
    ]
    return section("causes", "Causes", el("div", *shown, cls="findings"))


def _cause(number: int, cause: FleetCause, ranks: int) -> Html:
    head = el(
        "summary",
        el("span", number, cls="rank num"),
        el("span", cls=f"sw c{number_of(cause.cause)}"),
        el("span", cause.cause, cls="cause"),
        el("span", f"worst {percent(cause.worst_share)}", cls="cost num"),
        el("span", f"median {percent(cause.median_share)}", cls="share num"),
        el("span", held(cause, ranks), cls="sure dim"),
    )
    return el(
        "details",
        head,
        el("p", cause.title, cls="title") if cause.title else None,
        el("p", _where(cause, ranks), cls="where"),
        el("ul", *(el("li", fact) for fact in cause.evidence), cls="evidence"),
        advice_list((), cause.advice, cause.caveat),
        cls="finding",
        open=number <= MAX_OPEN,
    )


def _where(cause: FleetCause, ranks: int) -> Html:
    on: Html | None = None
    if cause.outlier_ranks:
        on = html("far more on ", rank_links(cause.outlier_ranks, MAX_LABELS), "; ")
    elif cause.ranks < ranks:
        left = cause.ranks - len(cause.labels)
        more = f" and {left} more" if left > 0 else None
        on = html("on ", rank_links(cause.labels, len(cause.labels)), more, "; ")
    return html(on, "worst on rank ", rank_link(cause.worst_rank), ", where:")
