"""The step as recorded above the step as predicted, on one axis, and the table of repairs."""

from __future__ import annotations

from overlapcheck.forecast import ASSUMED
from overlapcheck.predicted import WhatIf
from overlapcheck.prediction import Prediction
from overlapcheck.quantities import duration, percent
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers._html_page import header, page, verdict
from overlapcheck.step_picture import StepPicture, StepRow
from overlapcheck.timeline import EventKind

_HEIGHT = 20
_NAMES = {
    EventKind.COMPUTE: "compute",
    EventKind.COMMUNICATION: "collectives",
    EventKind.H2D: "copy to the device",
    EventKind.D2H: "copy to the host",
    EventKind.P2P: "copy between devices",
    EventKind.D2D: "copy within the device",
    EventKind.MEMSET: "memset",
    EventKind.MIGRATION: "migration",
    EventKind.HELD: "call that waits",
    EventKind.CALL: "other call",
}


class WhatIfHtml:
    """See `WhatIfRenderer`."""

    name = "html"
    suffix = ".html"

    def render(self, found: WhatIf, /) -> str:
        """See `WhatIfRenderer.render`."""
        return page(
            f"what if {found.report}",
            _body(found),
            styles=("style.css",),
            scripts=("theme.js", "themed.js"),
            data=[],
        )


def _body(found: WhatIf) -> Html:
    best = found.told
    said = f"{duration(found.forecast.before_ns)} per step; no repair that was looked at wins 2 %"
    badge = el("span", "NOTHING", cls="badge inconclusive")
    if best is not None and best.is_worth_while:
        said = (
            f"{duration(best.win_ns)} of {duration(best.before_ns)} per step by repairing"
            f" {' + '.join(best.fix)}: {duration(best.step_ns)} ({best.band_text})"
        )
        badge = el("span", "WINS", cls="badge pass")
    then = f"then {best.next_bound.told(best.step_ns)}" if best else ""
    return html(
        header(found.tool_version, found.report, verdict(badge, said, then)),
        el(
            "main",
            _pictures(found),
            el("h3", "Repairs"),
            _table(found.repairs),
            el("h3", "Assumed"),
            el("ul", *(el("li", line) for line in ASSUMED), cls="evidence"),
        ),
    )


def _pictures(found: WhatIf) -> Html | None:
    if found.recorded is None or found.repaired is None or found.told is None:
        return None
    longest = max(found.recorded.length_ns, found.repaired.length_ns)
    kinds = {
        kind
        for picture in (found.recorded, found.repaired)
        for row in picture.rows
        for _, _, kind in row.pieces
    }
    legend = [
        el("span", el("span", cls=f"sw k{int(kind)}"), name)
        for kind, name in _NAMES.items()
        if kind in kinds
    ]
    return html(
        _picture("A step as recorded", found.recorded, longest),
        _picture(f"as predicted without {' + '.join(found.told.fix)}", found.repaired, longest),
        el("div", *legend, cls="legend"),
    )


def _picture(title: str, picture: StepPicture, longest: int) -> Html:
    rows = [
        el("div", el("dt", row.label), el("dd", _row(row, picture, longest), el("span")))
        for row in picture.rows
    ]
    return html(el("h3", f"{title}: {duration(picture.length_ns)}"), el("dl", *rows, cls="picture"))


def _row(row: StepRow, picture: StepPicture, longest: int) -> Html:
    pieces = [
        el(
            "rect",
            x=f"{1000 * start / longest:.2f}",
            y=0,
            width=f"{max(0.5, 1000 * (end - start) / longest):.2f}",
            height=_HEIGHT,
            cls=f"piece k{int(kind)}",
        )
        for start, end, kind in row.pieces
    ]
    end = f"{1000 * picture.length_ns / longest:.2f}"
    mark = el("line", x1=end, x2=end, y1=0, y2=_HEIGHT, cls="end")
    return el(
        "svg",
        *pieces,
        mark,
        viewBox=f"0 0 1000 {_HEIGHT}",
        preserveAspectRatio="none",
        cls="cells",
        role="img",
        aria_label=row.label,
    )


def _table(repairs: tuple[Prediction, ...]) -> Html:
    head = ("repair", "step", "win", "", "band", "then", "needs")
    rows = [
        el(
            "tr",
            el("td", " + ".join(one.fix)),
            el("td", duration(one.step_ns), cls="num"),
            el("td", duration(one.win_ns), cls="num"),
            el("td", percent(one.win_ns / max(one.before_ns, 1)), cls="num"),
            el("td", one.band_text, cls="num"),
            el("td", one.next_bound.told(one.step_ns)),
            el("td", "; ".join(one.edges_added), cls="name"),
        )
        for one in repairs
    ]
    columns = el("thead", el("tr", *(el("th", name) for name in head)))
    return el("div", el("table", columns, el("tbody", *rows)), cls="scroll")


RENDERER = WhatIfHtml()
