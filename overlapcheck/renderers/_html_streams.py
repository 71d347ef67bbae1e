"""Which stream waits for which, as an SVG, and its edges to be shown in the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overlapcheck.clean import clean
from overlapcheck.quantities import duration
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers.streams._drawing import HOST, in_order
from overlapcheck.renderers.streams._words import (
    distance,
    edge_label,
    edge_note,
    example_text,
    how_often,
    steps_text,
)
from overlapcheck.sanitizer_run import SanitizerRun
from overlapcheck.stream_audit import StreamAudit, sentence
from overlapcheck.stream_changes import StreamCheck
from overlapcheck.stream_graph import EdgeSeen, OperationSeen, StreamGraph
from overlapcheck.stream_report import StreamReport
from overlapcheck.timeline import RowRole, Timeline
from overlapcheck.verdict import Outcome

_APART, _ROW, _TOP, _LEFT = 170, 30, 40, 80
_AROUND = 4
"""How many times its length an edge is shown with, before and after it."""
_LEAST_VIEW_NS = 100_000


def graph_of(streams: StreamReport | None, process: str) -> StreamGraph | None:
    """The graph of a process by its title; None where there is none, or nothing in it."""
    if streams is None:
        return None
    found = (graph for graph in streams.graphs if graph.process == process)
    return next((graph for graph in found if graph.streams), None)


def streams_block(streams: StreamReport, graph: StreamGraph, timeline: Timeline | None) -> Html:
    """The section of a device."""
    check = next((one for one in streams.checks if one.number == graph.number), None)
    audit = next((one for one in streams.audits if one.number == graph.number), None)
    return el(
        "section",
        el("h3", "Which stream waits for which"),
        el("p", steps_text(graph), cls="dim"),
        _drawing(graph),
        _edges(graph, timeline),
        _changes(check) if check else None,
        _audit(audit) if audit else None,
        _sanitizer(streams.sanitizer) if streams.sanitizer else None,
        cls="streams",
    )


def edge_instances(graph: StreamGraph, timeline: Timeline) -> list[dict[str, Any]]:
    """For the script: the operations of each edge's example, to be marked in the timeline."""
    found = []
    for number, edge in enumerate(graph.edges):
        one = _instance(_key(graph, number), edge, timeline)
        if one is not None:
            found.append(one)
    return found


def _key(graph: StreamGraph, number: int) -> str:
    return f"edge {number} of {graph.number}"


def _instance(key: str, edge: EdgeSeen, timeline: Timeline) -> dict[str, Any] | None:
    first, second = edge.example.before, edge.example.after
    if first is None or second is None:
        return None
    marks = [
        mark
        for mark in (
            _mark(first, "waited for", timeline),
            _mark(second, "waits", timeline),
        )
        if mark is not None
    ]
    zero = timeline.start_ns
    start, end = first.end_ns, max(second.start_ns, first.end_ns)
    shown_from, shown_to = min(first.start_ns, second.start_ns), max(first.end_ns, second.end_ns)
    if not marks or shown_to <= zero or shown_from >= timeline.end_ns:
        return None
    room = max(_LEAST_VIEW_NS, (end - start) // _AROUND)
    label = f"{edge.rule.source} → {edge.rule.target}, {edge_label(edge.rule)}"
    return {
        "cause": key,
        "said": clean(f"{label}: step {edge.example.step}, {duration(end - start)} between"),
        "span": [start - zero, end - zero],
        "view": [
            max(0, shown_from - room - zero),
            min(timeline.end_ns, shown_to + room) - zero,
        ],
        "marks": marks,
    }


def _mark(operation: OperationSeen, role: str, timeline: Timeline) -> list[int | str] | None:
    names = (f"s{operation.stream_id}",)
    for row, shown in enumerate(timeline.rows):
        if shown.role is RowRole.STREAM and shown.label.split()[-1] in names:
            zero = timeline.start_ns
            times = (operation.start_ns - zero, operation.end_ns - zero)
            return [row, *times, role, clean(operation.text)]
    return None


def _drawing(graph: StreamGraph) -> Html | None:
    streams = in_order(graph)
    waits = [host for host in graph.host if not host.rule.timer]
    names = [seen.name for seen in streams] + ([HOST] if waits else [])
    if len(names) < 2 or not (graph.edges or waits):
        return None
    column = {name: _LEFT + _APART * place for place, name in enumerate(names)}
    rows: list[Html] = []
    for edge in graph.edges:
        said = ", ".join(filter(None, (edge_label(edge.rule), edge_note(edge))))
        places = column[edge.rule.source], column[edge.rule.target]
        rows.append(_arrow(places, len(rows), said, dashed=False))
    for host in waits:
        where = "" if host.rule.distance is None else f" {distance(host.rule.distance)}"
        places = column[host.rule.of or names[0]], column[HOST]
        rows.append(_arrow(places, len(rows), f"{host.rule.call}{where}", dashed=True))
    height = _TOP + _ROW * len(rows) + 20
    width = _LEFT * 2 + _APART * (len(names) - 1)
    lines = [
        html(
            el("text", name, x=x, y=20, text_anchor="middle", cls="lane"),
            el("line", x1=x, x2=x, y1=28, y2=height - 8, cls="lane"),
        )
        for name, x in column.items()
    ]
    return el(
        "svg",
        el("title", f"streams of {graph.process} and their waits"),
        *lines,
        *rows,
        viewBox=f"0 0 {width} {height}",
        width=width,
        role="img",
        cls="waits",
    )


def _arrow(places: tuple[int, int], row: int, said: str, *, dashed: bool) -> Html:
    (a, b), y = places, _TOP + _ROW * row + 18
    tip = b - 8 if b > a else b + 8
    half = 4
    return el(
        "g",
        el("line", x1=a, x2=tip, y1=y, y2=y, stroke_dasharray="5 4" if dashed else None),
        el("polygon", points=f"{b},{y} {tip},{y - half} {tip},{y + half}"),
        el("text", said, x=(a + b) // 2, y=y - 5, text_anchor="middle"),
    )


def _edges(graph: StreamGraph, timeline: Timeline | None) -> Html | None:
    if not graph.edges:
        return None
    items = []
    for number, edge in enumerate(graph.edges):
        show = el(
            "button", "show in the timeline", el("span", "", cls="turn"), type="button",
            cls="show", data_cause=_key(graph, number),
        )  # fmt: skip
        label = f"{edge.rule.source} → {edge.rule.target}: {edge_label(edge.rule)}"
        said = f", {how_often(edge)}; {example_text(edge.example)} "
        items.append(el("li", el("b", label), said, show if timeline else None))
    return el("ul", *items, cls="edges")


def _changes(check: StreamCheck) -> Html | None:
    if check.outcome is Outcome.PASS:
        return el("p", check.reason, cls="note")
    items = [
        el(
            "li",
            el("b", change.kind.value),
            f": {change.text}",
            f" ({example_text(change.example)})" if change.example else None,
        )
        for change in (*check.changes, *check.doubts)
    ]
    return html(el("p", check.reason, cls="note"), el("ul", *items, cls="changes"))


def _sanitizer(run: SanitizerRun) -> Html:
    said = "PyTorch's CUDA sanitizer, in a run of its own"
    if not run.found:
        return el("p", f"{said}: no report.", cls="note")
    items = []
    for one in run.found:
        at = one.allocated
        where = f"; the tensor was allocated at {at.file}:{at.line}" if at else ""
        items.append(el("li", f"{one.text}{where}"))
    return html(el("p", f"{said}:", cls="note"), el("ul", *items))


def _audit(audit: StreamAudit) -> Html | None:
    said: Sequence[str] = [f"{one.buffer.text}: {sentence(one)}" for one in audit.orderings]
    said = [*said, *(hint.text for hint in audit.hints)]
    unseen = f"A recording cannot tell: {'; '.join(audit.unseen)}."
    items = [el("li", text) for text in said]
    return html(el("ul", *items) if items else None, el("p", unseen, cls="dim note"))
