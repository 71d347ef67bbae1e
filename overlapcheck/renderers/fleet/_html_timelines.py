"""A few steps of the telling ranks under each other on one axis, and who waits for whom in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from overlapcheck.fleet import FleetReport, RankPage, RankTimeline, named
from overlapcheck.quantities import count_of, duration
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers._html_shared_axis import Lane, shared_axis, shared_axis_data
from overlapcheck.renderers.fleet._html_parts import rank_link, section, short
from overlapcheck.renderers.fleet._words import MAX_LABELS


def timelines_block(report: FleetReport, pages: Mapping[str, RankPage]) -> Html | None:
    """The telling ranks, and by which clocks they are drawn.

    Args:
        report: all ranks.
        pages: of the ranks that have one, by label.
    """
    if not report.timelines:
        return None
    waits = any(one.meetings for one in report.timelines)
    return section(
        "together",
        "A few steps of the ranks that tell most, on one axis",
        el("p", _sentence(_aligned(report.timelines)), cls="dim note"),
        shared_axis(_lanes(report, pages), 0, waits=waits),
    )


def timelines_data(report: FleetReport) -> list[dict[str, Any]]:
    """What the script draws: one axis, or none."""
    if not report.timelines:
        return []
    step = report.timelines[0].step
    origin = f"{step}'s begin" if step else "the window's begin"
    return [shared_axis_data(_lanes(report, {}), origin)]


def _aligned(timelines: tuple[RankTimeline, ...]) -> Iterator[str]:
    """What is the same time where one looks down the page."""
    step = timelines[0].step
    begin = f"the begin of {step}" if step else "the begin of the window"
    clocks: dict[int, list[str]] = {}
    for one in timelines:
        clocks.setdefault(one.clock, []).append(short(one.rank))
    together = [labels for labels in clocks.values() if len(labels) > 1]
    for labels in together:
        yield f"{named(labels, MAX_LABELS)} as they ran: they meet, so their clocks agree"
    alone = [labels[0] for labels in clocks.values() if len(labels) == 1]
    if alone or len(together) > 1:
        who = named(alone, MAX_LABELS) if alone else "each of these groups"
        yield f"{who} from {begin}: no clock is known to be the others'"
    else:
        yield f"0 is {begin}, on the first of them"
    for one in timelines:
        if one.step != step:
            yield f"rank {short(one.rank)} from {one.step}, for it shows no {step}"


def _sentence(clauses: Iterator[str]) -> str:
    said = "; ".join(clauses)
    return f"{said[:1].upper()}{said[1:]}."


def _lanes(report: FleetReport, pages: Mapping[str, RankPage]) -> list[Lane]:
    return [
        Lane(
            name=f"timeline of rank {one.rank}",
            title=_title(one, pages.get(one.rank)),
            note=", ".join(_notes(one)),
            excerpt=one.excerpt,
            at_ns=one.at_ns,
            step_end_ns=_step(one)[1] if one.step else None,
            meetings=one.meetings,
        )
        for one in report.timelines
    ]


def _title(one: RankTimeline, page: RankPage | None) -> Html:
    name = f"rank {short(one.rank)}"
    link = el("a", name, href=page.address) if page else html("rank ", rank_link(one.rank))
    return el("b", link)


def _notes(one: RankTimeline) -> Iterator[str]:
    if one.why:
        yield one.why
    if not one.step:
        return
    begin, end = _step(one)
    yield f"{one.step}: {duration(end - begin)}"
    mine = [met for met in one.meetings if begin <= met.start_ns + one.at_ns < end]
    waiting = sum(met.until_ns - met.start_ns for met in mine)
    last = sum(met.latest == one.rank for met in mine)
    if waiting:
        yield f"waits {duration(waiting)} in {count_of(len(mine), 'collective')}"
    if last:
        yield f"comes last in {last} of {count_of(len(mine), 'collective')}"


def _step(one: RankTimeline) -> tuple[int, int]:
    """Begin and end of the step that is aligned, on the axis."""
    texts = one.excerpt.step_texts
    place = texts.index(one.step) if one.step in texts else one.excerpt.typical
    return (
        one.at_ns + one.excerpt.step_start_ns[place],
        one.at_ns + one.excerpt.step_end_ns[place],
    )
