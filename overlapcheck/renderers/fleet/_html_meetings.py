"""Collectives in which ranks met: sizes and bandwidth, who waited and who came last."""

from __future__ import annotations

from collections.abc import Sequence

from overlapcheck.collective_speed import PER_RANK_KINDS, CollectiveSpeed
from overlapcheck.fleet import FleetReport, MeetingSummary
from overlapcheck.quantities import duration, size
from overlapcheck.renderers._html_markup import Child, Html, el, html, table
from overlapcheck.renderers.fleet._html_parts import NONE, more_of, rank_link, section
from overlapcheck.renderers.fleet._words import who_met

MAX_MEETINGS = 8
MAX_OPEN = 2
"""Groups of ranks that are shown unfolded; those that waited longest come first."""
_WAITING = (
    "Waits: until the last rank had come; moves data: from then on; without compute: the part of "
    "each in which nothing computed."
)


def meetings_block(report: FleetReport) -> Html | None:
    """A part per group of ranks that share a communicator."""
    if not report.meetings:
        return None
    shown = [_meeting(one, number) for number, one in enumerate(report.meetings[:MAX_MEETINGS])]
    return section(
        "collectives",
        "Collectives",
        el("div", *shown, cls="meetings"),
        more_of(report.meetings_total, len(shown), "group"),
        el("p", _WAITING, cls="dim note"),
    )


def _meeting(one: MeetingSummary, number: int) -> Html:
    kinds = ", ".join(f"{count} {kind}" for kind, count in one.kinds.items())
    part = "" if one.complete else ", the first ones of the window"
    facts = f"they end within {duration(one.end_spread_ns)} of each other by the ranks' clocks"
    if one.communicator:
        facts = f"communicator {one.communicator}; {facts}"
    head = el("summary", el("b", kinds), f" in which {who_met(one)} met{part}")
    return el(
        "details",
        head,
        el("p", facts, cls="where"),
        speeds_table(one.speeds),
        _waits(one),
        cls="meeting",
        open=number < MAX_OPEN,
    )


def _waits(one: MeetingSummary) -> Html:
    head = ("rank", "waits", "without compute", "moves data", "without compute", "comes last")
    rows: list[tuple[Child, ...]] = [
        (
            el("b", rank_link(wait.rank)),
            duration(wait.waiting_ns),
            duration(wait.exposed_waiting_ns),
            duration(wait.transfer_ns),
            duration(wait.exposed_transfer_ns),
            f"{wait.came_last} of {one.occasions}",
        )
        for wait in one.waits
    ]
    shown = f" ({len(rows)} of {one.ranks})" if one.ranks > len(rows) else ""
    return table(head, rows, "nrrrrr", f"Ranks, longest waiting first{shown}")


def speeds_table(speeds: Sequence[CollectiveSpeed]) -> Html | None:
    """Sizes and, from the last rank's start to the end, bandwidths."""
    if not speeds:
        return None
    head = ("collective", "count", "size of each", "time", "GB/s", "bus GB/s", "ranks")
    rows: list[tuple[Child, ...]] = [
        (
            html(el("b", one.kind), el("span", _remark(one), cls="dim")),
            str(one.count),
            _sizes(one),
            duration(one.time_ns),
            f"{one.algorithm_gbs:.1f}" if one.algorithm_gbs is not None else NONE,
            f"{one.bus_gbs:.1f}" if one.bus_gbs is not None else NONE,
            str(one.ranks) if one.ranks is not None else NONE,
        )
        for one in speeds
    ]
    return table(head, rows, "nrrrrrr", "Bytes and bandwidth")


def _sizes(one: CollectiveSpeed) -> str:
    least, most = size(one.least_bytes), size(one.most_bytes)
    each = " per rank" if one.kind in PER_RANK_KINDS else ""
    return f"{least if least == most else f'{least} to {most}'}{each}"


def _remark(one: CollectiveSpeed) -> str:
    return " waiting for ranks without a report included" if one.waits_included else ""
