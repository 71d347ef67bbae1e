"""Ranks that the others wait for, and ranks that are unlike them."""

from __future__ import annotations

from collections.abc import Mapping

from overlapcheck.fleet import FleetReport, Outlier, RankPage, Straggler
from overlapcheck.quantities import duration, percent
from overlapcheck.renderers._html_markup import Child, Html, el, html, table
from overlapcheck.renderers.fleet._html_parts import NONE, more_of, rank_and_timeline, section
from overlapcheck.renderers.fleet._words import deviations, in_unit

MAX_STRAGGLERS = 16
MAX_OUTLIERS = 40
_STRAGGLERS = (
    "Others wait: what the median other rank waited in the collectives in which this one came "
    "last. Meanwhile: what it did longer than the median other rank before these collectives."
)
_OUTLIERS = (
    "Deviations: distance from the median in robust standard deviations of all ranks "
    "(1.4826 times the median absolute deviation)."
)


def stragglers_block(report: FleetReport, pages: Mapping[str, RankPage]) -> Html | None:
    """Who comes last, what that costs, and what it did meanwhile."""
    if not report.stragglers:
        return None
    head = (
        "rank",
        "comes last in",
        "others wait",
        "of the time",
        "without compute",
        "meanwhile it spent more on",
    )
    rows = [_straggler(one, pages) for one in report.stragglers[:MAX_STRAGGLERS]]
    return section(
        "stragglers",
        "Stragglers: ranks that the others wait for",
        table(head, rows, "nlrrrn"),
        more_of(report.stragglers_total, len(rows), "straggler"),
        el("p", _STRAGGLERS, cls="dim note"),
    )


def _straggler(one: Straggler, pages: Mapping[str, RankPage]) -> tuple[Child, ...]:
    spent = ", ".join(f"{what} {duration(ns)}" for what, ns in one.meanwhile.items())
    others = f" of {one.ranks} ranks" if one.ranks > 2 else ""
    return (
        rank_and_timeline(one.rank, pages),
        html(
            f"{one.came_last} of {one.occasions}",
            el("span", f" collectives{others}", cls="dim"),
        ),
        duration(one.cost_ns),
        percent(one.share),
        duration(one.exposed_cost_ns),
        spent or NONE,
    )


def outliers_block(report: FleetReport, pages: Mapping[str, RankPage]) -> Html | None:
    """What differs from the median by more than the spread of all ranks explains."""
    if not report.outliers:
        return None
    rows = [_outlier(one, pages) for one in report.outliers[:MAX_OUTLIERS]]
    return section(
        "outliers",
        "Ranks unlike the others",
        table(("measure", "rank", "here", "median", "deviations"), rows, "lnrrr"),
        more_of(report.outliers_total, len(rows), "outlier"),
        el("p", _OUTLIERS, cls="dim note"),
    )


def _outlier(one: Outlier, pages: Mapping[str, RankPage]) -> tuple[Child, ...]:
    return (
        one.measure,
        rank_and_timeline(one.rank, pages),
        in_unit(one, one.value),
        in_unit(one, one.median),
        deviations(one),
    )
