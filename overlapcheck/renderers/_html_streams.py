"""Which stream waits for which, as an SVG and as a list that leads to the timeline."""

from __future__ import annotations

from collections.abc import Sequence

from overlapcheck.quantities import duration
from overlapcheck.renderers._html_markup import Html, el, html
from overlapcheck.renderers._html_stream_marks import edge_key, host_key, host_label
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
from overlapcheck.stream_graph import StreamGraph
from overlapcheck.stream_report import StreamReport
from overlapcheck.timeline import Timeline
from overlapcheck.verdict import Outcome

_APART, _ROW, _TOP, _LEFT = 170, 30, 40, 80


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
    """The edges and the waits of the host, each with the way to its example."""
    items = []
    for number, edge in enumerate(graph.edges):
        label = f"{edge.rule.source} → {edge.rule.target}: {edge_label(edge.rule)}"
        said = f", {how_often(edge)}; {example_text(edge.example)} "
        show = _show(edge_key(graph, number)) if timeline else None
        items.append(el("li", el("b", label), said, show))
    for number, host in enumerate(graph.host):
        held = f"{how_often(host)}, {duration(host.held_ns)} a step"
        said = f", {held}; {example_text(host.example)} "
        show = _show(host_key(graph, number)) if timeline else None
        items.append(el("li", el("b", host_label(host)), said, show))
    return el("ul", *items, cls="edges") if items else None


def _show(key: str) -> Html:
    return el(
        "button", "show in the timeline", el("span", "", cls="turn"), type="button", cls="show",
        data_cause=key,
    )  # fmt: skip


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
