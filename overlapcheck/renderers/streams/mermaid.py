"""Streams as a Mermaid flowchart, as GitHub and GitLab draw it in a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from overlapcheck.clean import clean
from overlapcheck.quantities import duration
from overlapcheck.renderers.streams._words import edge_label, edge_note, steps_text
from overlapcheck.stream_contract import Often
from overlapcheck.stream_graph import EdgeSeen, StreamGraph
from overlapcheck.stream_report import StreamReport


class MermaidRenderer:
    """See `StreamRenderer`."""

    name = "mermaid"
    suffix = ".mmd"

    def render(self, report: StreamReport, /) -> str:
        """See `StreamRenderer.render`."""
        lines = ["flowchart LR"]
        for number, graph in enumerate(report.graphs):
            several = len(report.graphs) > 1
            if several:
                lines.append(f'  subgraph p{number} ["{_text(graph.process)}"]')
            lines += _graph(graph, f"p{number}_" if several else "")
            if several:
                lines.append("  end")
        return "\n".join(lines) + "\n"


def _graph(graph: StreamGraph, prefix: str) -> Iterator[str]:
    yield f"  %% {_text(steps_text(graph))}"
    for seen in graph.streams:
        busy = duration(sum(seen.work_ns.values()))
        yield f'  {prefix}{_id(seen.name)}["{seen.name}<br/>{seen.rule.kind}, {busy} a step"]'
    if graph.host:
        yield f'  {prefix}host(["host"])'
    for edge in graph.edges:
        source, target = prefix + _id(edge.rule.source), prefix + _id(edge.rule.target)
        yield f'  {source} {_arrow(edge)}|"{_label(edge)}"| {target}'
    for wait in graph.host:
        if wait.rule.of is not None:
            label = _text(wait.rule.call) + (
                f" {wait.rule.distance}" if wait.rule.distance is not None else ""
            )
            yield f'  {prefix}{_id(wait.rule.of)} -.->|"{label}"| {prefix}host'
        else:
            yield f'  {prefix}host -.-|"{_text(wait.rule.call)}"| {prefix}host'


def _arrow(edge: EdgeSeen) -> str:
    return "-->" if edge.rule.often is Often.EVERY else "-.->"


def _label(edge: EdgeSeen) -> str:
    note = edge_note(edge)
    label = edge_label(edge.rule)
    return _text(f"{label}, {note}" if note else label)


def _id(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _text(text: str) -> str:
    """A text that cannot end a label."""
    return clean(text).replace('"', "'").replace("|", "/").replace("%%", "%")


RENDERER = MermaidRenderer()
