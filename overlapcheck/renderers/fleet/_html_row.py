"""What a rank's row opens to: its time as a bar, its timeline or how to draw it, its evidence."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from overlapcheck.clean import clean
from overlapcheck.fleet import RankPage
from overlapcheck.quantities import count_of, duration, percent, percent_beside
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers.fleet._html_parts import MAX_NAME, short
from overlapcheck.report_result import CollectiveSummary, RankCause, RankRow
from overlapcheck.verdict import Check, Outcome

MAX_COLLECTIVES = 4
_LEAST = 0.001
"""Share of the window that is drawn in a bar: a pixel in a thousand."""


def opened(row: RankRow, slot: Mapping[str, int], page: RankPage | None, *, in_full: bool) -> Html:
    """The bar and the way to the timeline; in full, checks and evidence too."""
    timeline = _timeline(row, page)
    if not in_full:
        return html(_bar(row, slot), timeline)
    return html(
        _bar(row, slot),
        _ledger(row, slot),
        el("p", f"{short(row.report)}, device {row.device} {row.gpu}; ", timeline),
        el("ul", *map(_check, row.checks)),
        el("ul", *map(_collectives, row.collectives[:MAX_COLLECTIVES]))
        if row.collectives
        else None,
        *map(_cause, row.causes),
    )


def _bar(row: RankRow, slot: Mapping[str, int]) -> Html:
    """The window as compute and time without it by cause."""
    parts = {"k0": row.compute_ns}
    for cause, ns in row.ledger.items():
        color = f"c{slot[cause]}"
        parts[color] = parts.get(color, 0) + ns
    window = max(row.window_ns, 1)
    shown = [
        Html(f"<i class={color} style=flex-grow:{1000 * ns / window:.0f}></i>")
        for color, ns in parts.items()
        if ns >= _LEAST * window
    ]
    return el("div", *shown, cls="bar")


def _ledger(row: RankRow, slot: Mapping[str, int]) -> Html:
    window = max(row.window_ns, 1)
    parts = [("k0", "compute", row.compute_ns)]
    parts += [(f"c{slot[cause]}", cause, ns) for cause, ns in row.ledger.items()]
    named = [
        el("span", el("span", cls=f"sw {color}"), f"{name} {duration(ns)}, {percent(ns / window)}")
        for color, name, ns in parts
        if ns > 0
    ]
    return el("p", *named, cls="legend")


def _timeline(row: RankRow, page: RankPage | None) -> Html:
    if page is not None:
        return html(el("a", "timeline", href=page.address), f": {page.why}")
    if len(row.report) > MAX_NAME:
        return html(f"report {short(row.report)}")
    command = f"overlapcheck analyze {shlex.quote(clean(row.report))} -o rank.html"
    return html("timeline: ", el("code", command))


def _check(check: Check) -> Html:
    missed = check.limit if check.outcome is Outcome.FAIL else None
    measured = f" {percent_beside(check.measured, missed)}" if check.measured is not None else ""
    settle = el("div", el("b", "what to do "), check.settle_with) if check.settle_with else None
    return el(
        "li",
        el("b", check.outcome.value, cls=check.outcome.value.lower()),
        f" {check.name}{measured}: {check.reason}",
        settle,
    )


def _collectives(one: CollectiveSummary) -> Html:
    where = "the compute stream" if one.on_compute_stream else f"stream {one.stream_id}"
    said = (
        f"{count_of(one.count, one.kind, one.kind)} on {where}: {duration(one.total_ns)}, "
        f"{duration(one.exposed_ns)} of it exposed"
    )
    if one.speed is not None and one.speed.bus_gbs is not None:
        said += f"; {one.speed.bus_gbs:.1f} GB/s bus bandwidth"
    return el("li", said)


def _cause(cause: RankCause) -> Html:
    return html(
        el("h4", cause.cause, el("span", f" {percent(cause.share)}", cls="dim")),
        el("ul", *(el("li", fact) for fact in cause.evidence), cls="evidence"),
    )
