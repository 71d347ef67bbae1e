"""Steps of both sides as bars, two bars per cause, and the causes that came or went."""

from __future__ import annotations

from overlapcheck.comparison import Appeared, Change, DeviceComparison, Quantity
from overlapcheck.quantities import duration, percent
from overlapcheck.renderers._cause_looks import LOOKS, number_of
from overlapcheck.renderers._html_causes import advice_list
from overlapcheck.renderers._html_markup import Child, Html, el, html, table
from overlapcheck.renderers.comparison import _words as words
from overlapcheck.renderers.comparison._bar import COMPUTE, Bar, Part, bars

_CLASSES = {Change.BETTER: "pass", Change.WORSE: "fail"}


def steps_block(device: DeviceComparison) -> Html:
    """The median steps of both sides, one under the other to one scale."""
    both = bars(device)
    longest_ns = max(*(bar.length_ns for bar in both), 1)
    title = "A median step" if both[0].is_step else "The window"
    return el(
        "figure",
        el("h3", f"{title} of both sides, to one scale"),
        *(_bar(bar, longest_ns) for bar in both),
        el(
            "p",
            el("span", cls="sw k0"),
            " compute, then the time without it by cause, in the colours below",
            cls="dim note",
        ),
        cls="steps",
    )


def _bar(bar: Bar, longest_ns: int) -> Html:
    width = 100 * bar.length_ns / longest_ns
    slabs = [
        el(
            "span",
            cls=f"slab sw {_color(part.name)}",
            style=f"flex-grow:{part.end_ns - part.start_ns}",
            title=_said(part),
        )
        for part in bar.parts
    ]
    return el(
        "div",
        el("b", bar.name),
        el("div", el("div", *slabs, cls="slabs", style=f"width:{width:.2f}%"), cls="room"),
        el("span", duration(bar.length_ns), cls="num"),
        cls="step",
        role="img",
        aria_label=f"{bar.name}: {', '.join(map(_said, bar.parts))}",
    )


def _said(part: Part) -> str:
    return f"{part.name} {duration(part.end_ns - part.start_ns)} ({percent(part.share)})"


def _color(cause: str) -> str:
    if cause == COMPUTE:
        return "k0"
    return f"c{number_of(cause)}" if cause in LOOKS else "k6"


def ledger_table(device: DeviceComparison) -> Html | None:
    """Time without compute by cause: a bar for each side, the numbers, and what became of it."""
    if not device.ledger:
        return None
    longest = max((n for q in device.ledger for n in (q.base, q.new) if n), default=0.0) or 1.0
    rows = [_row(device, quantity, longest) for quantity in words.divided(device)]
    head = ("cause", "base over new", "base", "new", "change", "noise", "")
    caption = words.divided_title(device).capitalize()
    return el("div", table(head, rows, "nlrrrrl", caption), cls="pairs")


def _row(device: DeviceComparison, quantity: Quantity, longest: float) -> tuple[Child, ...]:
    color = _color(quantity.name)
    pair = [
        el("span", cls=f"sw {color} {look}", style=f"width:{100 * (number or 0.0) / longest:.2f}%")
        for number, look in ((quantity.base, "was"), (quantity.new, "is"))
        # What the causes are parts of would leave them no room.
        if quantity not in (device.compute, device.whole)
    ]
    return (
        html(el("span", cls=f"sw {color}"), " ", el("b", quantity.name)),
        el("div", *pair, cls="pair", aria_hidden="true") if pair else "",
        words.value(quantity, quantity.base),
        words.value(quantity, quantity.new),
        words.difference(quantity),
        words.noise(quantity),
        el(
            "span",
            words.verdict(device, quantity),
            cls=f"mark {_CLASSES.get(quantity.change, 'same')}",
        ),
    )


def causes_block(device: DeviceComparison) -> Html | None:
    """New causes with what to do, then those that are gone."""
    new = [_cause(one, "new", "fail") for one in device.new_causes]
    gone = [_cause(one, "gone", "pass") for one in device.gone]
    if not new and not gone:
        return None
    return html(
        el("h3", "Causes that came or went", cls="above"),
        el("div", *new, *gone, cls="findings"),
    )


def _cause(one: Appeared, word: str, look: str) -> Html:
    per_step = one.per_step_ns is not None
    head = el(
        "summary",
        el("span", "+" if word == "new" else "\u2212", cls="rank num"),
        el("span", cls=f"sw {_color(one.cause)}"),
        el("span", one.cause, cls="cause"),
        el("span", words.cost(one), cls="cost num"),
        # Without steps the cost is this share already.
        el("span", f"{percent(one.share)} of the window" if per_step else "", cls="share num"),
        el("span", word, cls=f"sure mark {look}"),
    )
    # What to do about a cause that is gone has been done.
    told = advice_list(one.source, one.advice, one.caveat) if word == "new" else None
    title = el("p", one.title, cls="title") if one.title else None
    return el("details", head, title, told, cls="finding", open=word == "new")
