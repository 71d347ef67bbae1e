"""Excerpts of several results, or ranks, under each other on one axis: markup and data.

before  |###############[wait]####|            0 is the begin of a step on both; zooming or panning
after   |###############|####|  -3.1 ms        one of them moves the others (`_html/shared_axis.js`)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from overlapcheck.clean import clean
from overlapcheck.excerpt import Excerpt
from overlapcheck.fleet import DrawnMeeting
from overlapcheck.ledger import Reason
from overlapcheck.renderers._cause_looks import number_of
from overlapcheck.renderers._html_markup import Child, Html, el
from overlapcheck.renderers._html_timeline import KIND_NAMES, TIMELINE_SCRIPTS, timeline_data
from overlapcheck.timeline import EventKind, RowRole

SHARED_AXIS_SCRIPTS = (*TIMELINE_SCRIPTS, "shared_axis.js")
"""What draws these; whoever uses them starts `SharedAxis` for each figure."""
MAX_CAUSES = 6
"""In the legend."""
_ROOM = 1.04
"""How much more than the longest step is in view at first, so that its end is seen."""
_HINT = (
    "Ctrl and wheel, a pinch, + and \u2212 zoom all of them; drag and arrow keys pan; "
    "Home shows all. Blank after the last event: not drawn."
)


@dataclass(frozen=True)
class Lane:
    """One timeline among those of an axis."""

    name: str
    """For those who cannot see it."""
    title: Child
    note: Child
    excerpt: Excerpt
    at_ns: int
    """Where on the axis the excerpt starts; 0 is the begin of the step that is aligned."""
    step_end_ns: int | None
    """End of the step that begins at or near 0, on the axis; None without steps."""
    meetings: tuple[DrawnMeeting, ...] = ()


def shared_axis(lanes: Sequence[Lane], number: int, *, waits: bool = False) -> Html:
    """The figure, to be filled by the script.

    Args:
        lanes: from the top.
        number: of the axis among the page's, the place of its data.
        waits: whether collectives show who waited.
    """
    shown = [
        el(
            "div",
            el("p", lane.title, " ", el("span", lane.note, cls="dim"), cls="lane-title"),
            el("div", cls="stage", data_label=lane.name),
            cls="lane",
        )
        for lane in lanes
    ]
    hint = f"axis-hint-{number}"
    return el(
        "figure",
        el("div", cls="toolbar", role="group", aria_label="view of all of these timelines"),
        *shown,
        el("div", *_legend(lanes, waits=waits), cls="legend"),
        el("p", _HINT, cls="dim note", id=hint),
        el("noscript", el("p", "These timelines are drawn by a script.", cls="dim note")),
        cls="shared",
        data_axis=number,
        data_hint=hint,
    )


def shared_axis_data(
    lanes: Sequence[Lane], origin: str, *, compared: bool = False
) -> dict[str, Any]:
    """What the script draws.

    Args:
        lanes: as in the figure.
        origin: what the axis counts from.
        compared: whether the second lane shows what it won or lost against the first.
    """
    ends = [lane.at_ns + lane.excerpt.length_ns for lane in lanes]
    steps = [lane.step_end_ns for lane in lanes if lane.step_end_ns is not None]
    length = max(*ends, 1)
    return {
        "length": length,
        "view": [0, min(round(max(steps) * _ROOM), length) if steps else length],
        "origin": clean(origin),
        "compared": compared,
        "lanes": [_lane(lane) for lane in lanes],
    }


def _lane(lane: Lane) -> dict[str, Any]:
    timeline = lane.excerpt.timeline
    zero = timeline.start_ns - lane.at_ns
    seen = timeline.events.end_ns > zero
    steps = timeline.steps.rows(timeline.steps.end_ns > zero)
    timeline = replace(
        timeline, start_ns=zero, events=timeline.events.rows(seen), steps=steps,
        typical_start_ns=max(timeline.typical_start_ns, zero),
    )  # fmt: skip
    return {
        "timeline": timeline_data(timeline),
        "step": lane.step_end_ns,
        "meetings": [
            [
                _row_of(lane.excerpt, one),
                one.occasion,
                one.start_ns + lane.at_ns,
                one.until_ns + lane.at_ns,
                one.end_ns + lane.at_ns,
                one.kind,
                clean(one.latest),
            ]
            for one in lane.meetings
            if one.end_ns + lane.at_ns > 0
        ],
    }


def _row_of(excerpt: Excerpt, one: DrawnMeeting) -> int:
    """The row in which a collective is drawn: that of an event that starts as it does."""
    rows = [n for n, row in enumerate(excerpt.rows) if row.role is RowRole.STREAM]
    exact = (n for n in rows if one.start_ns in excerpt.rows[n].start_ns)
    talks = (n for n in rows if _talks(excerpt, n))
    return next(exact, next(talks, 0))


def _talks(excerpt: Excerpt, row: int) -> bool:
    words = {excerpt.kinds[kind] for kind in excerpt.rows[row].kind}
    return EventKind.COMMUNICATION.name.lower() in words


def _legend(lanes: Sequence[Lane], *, waits: bool) -> list[Html]:
    length: Counter[int] = Counter()
    for lane in lanes:
        length.update(lane.excerpt.busy_ns)
    shown = [
        el("span", el("span", cls=f"sw k{int(kind)}"), name)
        for kind, name in KIND_NAMES.items()
        if int(kind) in length
    ]
    if waits:
        shown.append(el("span", el("span", cls="sw hollow"), "waits for the last rank to come"))
    idle = sorted((kind for kind in length if kind >= EventKind.IDLE), key=lambda n: -length[n])
    for kind in idle[:MAX_CAUSES]:
        cause = Reason(kind - EventKind.IDLE).cause
        mark = el("span", cls=f"sw c{number_of(cause)}")
        shown.append(el("span", mark, f"no compute: {cause}"))
    return shown
