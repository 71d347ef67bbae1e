"""A typical step of both sides as recorded, one above the other on one axis."""

from __future__ import annotations

from typing import Any

from overlapcheck.comparison import DeviceComparison
from overlapcheck.excerpt import Excerpt
from overlapcheck.quantities import duration
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers._html_shared_axis import Lane, shared_axis, shared_axis_data

_NONE = (
    "No timeline of {}: baselines, and results of earlier versions, keep no events; give the report"
    " itself: overlapcheck compare BASE.nsys-rep NEW.nsys-rep -o FILE.html"
)


def timelines_block(device: DeviceComparison, number: int) -> Html:
    """Both sides, or what to do to see them.

    Args:
        device: what is compared.
        number: of the axis among the page's.
    """
    lanes = _lanes(device)
    lacking = [
        side
        for side, excerpt in zip(("base", "new"), device.excerpts, strict=True)
        if excerpt is None
    ]
    return html(
        el("h3", "Timelines of both sides on one axis", cls="above"),
        el("p", _NONE.format(" and ".join(lacking)), cls="dim note") if lacking else None,
        shared_axis(lanes, number) if lanes else None,
    )


def timelines_data(device: DeviceComparison) -> dict[str, Any] | None:
    """What the script draws of a device; None where no side has events."""
    lanes = _lanes(device)
    if not lanes:
        return None
    stepped = all(lane.step_end_ns is not None for lane in lanes)
    origin = "the step's begin" if stepped else "the window's begin"
    return shared_axis_data(lanes, origin, compared=True)


def _lanes(device: DeviceComparison) -> list[Lane]:
    sides = (("base", device.base), ("new", device.new))
    base = device.excerpts[0]
    return [
        Lane(
            name=f"timeline of {name}",
            title=el("b", name),
            note=f"{side.report}, {_told(excerpt, base if excerpt is not base else None)}",
            excerpt=excerpt,
            at_ns=-excerpt.step_span_ns[0],
            step_end_ns=_length(excerpt) if excerpt.step_number else None,
        )
        for (name, side), excerpt in zip(sides, device.excerpts, strict=True)
        if excerpt is not None
    ]


def _told(excerpt: Excerpt, base: Excerpt | None) -> str:
    """The step that is drawn first, and how long it is: "step 6: 19.3 ms, -2.9 ms"."""
    if not excerpt.step_number:
        return f"the window: {duration(excerpt.length_ns)}"
    said = f"{excerpt.step_text}, a typical one: {duration(_length(excerpt))}"
    if base is None or not base.step_number:
        return said
    change = _length(excerpt) - _length(base)
    sign = "+" if change > 0 else "\u2212" if change < 0 else "\u00b1"
    return f"{said}, {sign}{duration(abs(change))}"


def _length(excerpt: Excerpt) -> int:
    start, end = excerpt.step_span_ns
    return end - start
