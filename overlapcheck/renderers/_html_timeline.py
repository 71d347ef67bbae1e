"""The timeline's data for the page's script, and the coarse picture where there is none.

Charting is plain canvas with scripts of our own (`_html/timeline/`): what is drawn are
rectangles in rows, which no charting library does at 100 000 events without being most of the file,
and a page that must work offline for years is better off with nothing to fetch, pin or patch.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from overlapcheck.clean import clean
from overlapcheck.device_report import DeviceReport, Picture, PictureRow
from overlapcheck.ledger import Reason
from overlapcheck.quantities import count_of, duration
from overlapcheck.renderers._cause_looks import number_of
from overlapcheck.renderers._html_markup import Html, el
from overlapcheck.timeline import EventKind, Mark, RowRole, Timeline

TIMELINE_SCRIPTS = tuple(
    f"timeline/{name}.js"
    for name in (
        "words",
        "events",
        "palette",
        "frame",
        "axis",
        "boxes",
        "describe",
        "measure",
        "find",
        "chain",
        "flags",
        "overview",
        "gestures",
        "timeline",
    )
)
"""What `Timeline(element, data, options)` needs, for any page; see `_html/timeline/timeline.js`."""

NO_RANKS: Mapping[str, int] = MappingProxyType({})
_UNSIGNED = 2**32 - 1
KIND_NAMES = {
    EventKind.COMPUTE: "compute",
    EventKind.COMMUNICATION: "collectives",
    EventKind.H2D: "h2d copies",
    EventKind.D2H: "d2h copies",
    EventKind.P2P: "p2p copies",
    EventKind.D2D: "copies within the device",
    EventKind.MEMSET: "memset",
    EventKind.MIGRATION: "unified memory",
    EventKind.OPAQUE: "graph launch of unknown content",
    EventKind.HELD: "call that held its thread",
    EventKind.CALL: "other CUDA calls",
    EventKind.RANGE: "NVTX ranges",
}
_NO_EVENTS = (
    "A saved result holds no events. The timeline to zoom into needs the trace: "
    "overlapcheck analyze REPORT -o report.html"
)
_HINT = (
    "Ctrl and wheel, a pinch, + and \u2212 zoom; drag and arrow keys pan; Home shows all. "
    "Shift and drag, or s, measures a span; Escape clears. / searches, Enter goes on. "
    "Up and down choose a row, comma and full stop the event before and after. "
    "Copies and collectives: full height with a line on top where nothing computed, "
    "half height where compute hid them."
)


def timeline_data(timeline: Timeline, rank: Mapping[str, int] = NO_RANKS) -> dict[str, Any]:
    """Columns as base64 of little-endian arrays; times count from the window's start.

    Args:
        timeline: what to draw.
        rank: number of each cause in the page's list, which its flags bear.
    """
    events, zero = timeline.events, timeline.start_ns
    unit = max(-(-(timeline.end_ns - zero) // _UNSIGNED), 1)
    start = (events.start_ns.clip(zero, timeline.end_ns) - zero) // unit
    moving = (events.bytes > 0).nonzero()[0]
    clipped = events.end_ns.clip(zero, timeline.end_ns) - zero - start * unit
    # What crosses an edge of the window is drawn to the edge, and says its whole length.
    cut = (events.start_ns < zero) | (events.end_ns > timeline.end_ns)
    merged = ((events.count > 1) | cut).nonzero()[0]
    return {
        "length": max(timeline.end_ns - zero, 1),
        "origin": zero,
        "unit": unit,
        "typical": [timeline.typical_start_ns - zero, timeline.typical_end_ns - zero],
        "resolution": timeline.resolution_ns,
        "rows": [
            {"role": row.role.value, "label": clean(row.label), "note": clean(row.note)}
            for row in timeline.rows
        ],
        "first": events.row.searchsorted(range(len(timeline.rows) + 1)).tolist(),
        "start": _packed(start, "<u4"),
        "span": _packed(clipped, "<f4"),
        "kind": _packed(events.kind, "u1"),
        "name": _packed(events.name, "<u2"),
        "merged": _packed(merged, "<u4"),
        "count": _packed(events.count[merged], "<u4"),
        "busy": _packed(events.busy_ns[merged], "<f4"),
        "moving": _packed(moving, "<u4"),
        "bytes": _packed(events.bytes[moving], "<f4"),
        "names": [clean(name) for name in timeline.names],
        "causes": {
            str(int(EventKind.IDLE + reason)): [reason.cause, f"c{number_of(reason.cause)}"]
            for reason in Reason
        },
        "step": clean(timeline.step_name),
        "steps": [
            timeline.steps.number.tolist(),
            (timeline.steps.start_ns - zero).tolist(),
            (timeline.steps.end_ns - zero).tolist(),
        ],
        "instances": [
            {
                "cause": one.cause,
                "color": f"c{number_of(one.cause)}",
                "rank": rank.get(one.cause),
                "span": [one.start_ns - zero, one.end_ns - zero],
                "view": [one.view_start_ns - zero, one.view_end_ns - zero],
                "marks": [_mark(mark, zero) for mark in one.marks],
            }
            for one in timeline.instances
        ],
    }


def _mark(mark: Mark, zero: int) -> list[int | str]:
    times = (mark.start_ns - zero, mark.end_ns - zero)
    return [mark.row, *times, mark.role, clean(mark.text)]


def _packed(column: Any, kind: str) -> str:
    return b64encode(column.astype(kind).tobytes()).decode("ascii")


def timeline_block(device: DeviceReport, number: int) -> Html:
    """Where the script draws; without a timeline, or without scripts, the coarse picture."""
    timeline = device.timeline
    if timeline is None:
        return el(
            "div",
            el("h3", "A few typical steps"),
            picture_block(device.picture),
            el("p", _NO_EVENTS, cls="dim note"),
            cls="coarse",
        )
    kinds = dict.fromkeys(timeline.events.kind.tolist())
    legend = [
        el("span", el("span", cls=f"sw k{int(kind)}", data_kind=int(kind)), name)
        for kind, name in KIND_NAMES.items()
        if int(kind) in kinds
    ]
    return el(
        "figure",
        el("h3", "Timeline of the window"),
        _search(),
        el("div", cls="stage"),
        el("div", *legend, *_cause_legend(device), cls="legend"),
        el("p", _HINT, " ", _said(timeline), cls="dim note", id=f"hint-{number}"),
        el("noscript", picture_block(device.picture)),
        cls="timeline",
        data_label=f"timeline of device {device.device}",
        data_hint=f"hint-{number}",
    )


def _search() -> Html:
    """The box whose content the script looks for among the names of what is drawn."""
    again = [
        el("button", sign, type="button", data_way=way, aria_label=label, title=label)
        for sign, way, label in (("\u2191", -1, "match before"), ("\u2193", 1, "next match"))
    ]
    box = el("input", type="search", placeholder="kernel, copy, call or range", maxlength=200)
    return el(
        "div",
        el("label", "find ", box),
        *again,
        el("output", cls="num dim", aria_label="matches"),
        cls="search",
        role="search",
    )


def _cause_legend(device: DeviceReport) -> list[Html]:
    return [
        el(
            "span",
            el("span", cls=f"sw c{number_of(entry.cause)}"),
            f"no compute: {entry.cause}",
        )
        for entry in device.ledger[:4]
    ]


def _said(timeline: Timeline) -> str:
    drawn = len(timeline.events)
    said = f"{timeline.recorded:,} events"
    if timeline.resolution_ns:
        said += (
            f" in {drawn:,} drawn: short neighbours are merged into blocks of up to "
            f"{duration(timeline.resolution_ns)} whose height is the busy share, "
            "except near the worst instances and in typical steps"
        )
    if timeline.rows_left_out:
        said += f"; {count_of(timeline.rows_left_out, 'row')} with little in it left out"
    return f"{said}."


def picture_block(picture: Picture) -> Html:
    """Typical steps at low resolution, one SVG per row."""
    rows = [
        el(
            "div",
            el(
                "dt",
                row.label,
                " ",
                el("span", row.kind or _ROLES.get(row.role, row.role), cls="dim"),
            ),
            el("dd", _cells(row), el("span", row.note, cls="num dim")),
        )
        for row in picture.rows
    ]
    columns = max((len(row.cells) for row in picture.rows), default=1)
    ticks = [
        el("span", text, style=f"left:{100 * column / columns:.2f}%")
        for column, text in picture.ticks
    ]
    axis = el("div", el("dt"), el("dd", el("div", *ticks, cls="ticks"), el("span")), cls="axis")
    return el("dl", *rows, axis if ticks else None, cls="picture")


_ROLES = {"communication": "collectives"} | {
    role: role for role in ("compute", "copy", "memset", "host", RowRole.MIGRATIONS.value)
}
_ROW_KINDS = {
    "compute": EventKind.COMPUTE,
    "communication": EventKind.COMMUNICATION,
    "h2d": EventKind.H2D,
    "d2h": EventKind.D2H,
    "p2p": EventKind.P2P,
    "d2d": EventKind.D2D,
    "migration": EventKind.MIGRATION,
    "memset": EventKind.MEMSET,
    "host": EventKind.HELD,
}


def _cells(row: PictureRow) -> Html:
    """Bars whose height is the busy share of each column."""
    kind = _ROW_KINDS.get(row.kind, _ROW_KINDS.get(row.role, EventKind.COMPUTE))
    bars = [
        el("rect", x=at, y=f"{1 - cell:.3f}", width="1.02", height=f"{cell:.3f}")
        for at, cell in enumerate(row.cells)
        if cell > 0
    ]
    return el(
        "svg",
        *bars,
        viewBox=f"0 0 {max(len(row.cells), 1)} 1",
        preserveAspectRatio="none",
        cls=f"cells k{int(kind)}",
        role="img",
        aria_label=row.note,
    )
