"""Streams as one JSON object of less than 4 kB: who waits for whom, and what is not as agreed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from overlapcheck.brief import MOST_BYTES, SCHEMA
from overlapcheck.quantities import duration
from overlapcheck.renderers._brief_document import fitted
from overlapcheck.renderers.streams._words import edge_note, how_often, steps_text
from overlapcheck.stream_changes import StreamCheck
from overlapcheck.stream_graph import EdgeSeen, HostSeen, StreamGraph, StreamSeen
from overlapcheck.stream_report import StreamReport


@dataclass(frozen=True)
class _Size:
    graphs: int
    rows: int
    """Of each list."""
    text: int
    """Bytes of a sentence in JSON."""


_SIZES = (_Size(8, 20, 240), _Size(8, 10, 160), _Size(4, 8, 100), _Size(2, 5, 80), _Size(1, 4, 80))
"""The last one fits whatever there is to say."""


class BriefStreams:
    """See `StreamRenderer`."""

    name = "brief"
    suffix = ".brief.json"

    def render(self, report: StreamReport, /) -> str:
        """See `StreamRenderer.render`."""
        texts = (json.dumps(_document(report, size), ensure_ascii=False) + "\n" for size in _SIZES)
        return next(text for text in texts if len(text.encode()) < MOST_BYTES)


def _document(report: StreamReport, size: _Size) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": "streams",
        "verdict": None if report.outcome is None else report.outcome.value,
        "exit_code": int(report.exit_code),
        "processes": [_graph(graph, size) for graph in report.graphs[: size.graphs]],
        "processes_left_out": max(len(report.graphs) - size.graphs, 0),
        "checks": [_check(check, size) for check in report.checks[: size.graphs]],
        "next": fitted(_next(report), size.text) or None,
    }


def _next(report: StreamReport) -> str:
    settling = [check.settle_with for check in report.checks]
    if any(graph.no_records for graph in report.graphs):
        settling.append(report.settle_with)
    return next(filter(None, settling), "")


def _graph(graph: StreamGraph, size: _Size) -> dict[str, Any]:
    return {
        "process": fitted(graph.process, size.text),
        "judged": fitted(steps_text(graph), size.text),
        **_few("streams", [_stream(one, size) for one in graph.streams], size),
        **_few("edges", [_edge(one, size) for one in graph.edges], size),
        **_few("host_waits", [_host(one, size) for one in graph.host], size),
    }


def _few(name: str, rows: list[Any], size: _Size) -> dict[str, Any]:
    return {name: rows[: size.rows], f"{name}_left_out": max(len(rows) - size.rows, 0)}


def _stream(seen: StreamSeen, size: _Size) -> str:
    first, *others = seen.stream_ids or ("?",)
    number = f"{first} and {len(others)} more" if others else f"{first}"
    busy = duration(sum(seen.work_ns.values()))
    return fitted(f"{seen.name}: stream {number}, {seen.rule.kind}, {busy} per step", size.text)


def _edge(seen: EdgeSeen, size: _Size) -> str:
    note = edge_note(seen)
    times = f", {seen.rule.count} times per step" if seen.rule.count > 1 else ""
    return fitted(f"{seen.rule.text}{times}{f', {note}' if note else ''}", size.text)


def _host(seen: HostSeen, size: _Size) -> str:
    held = f"{how_often(seen)}, held {duration(seen.held_ns)}"
    return fitted(f"{seen.rule.text}, {held}", size.text)


def _check(check: StreamCheck, size: _Size) -> dict[str, Any]:
    return {
        "outcome": check.outcome.value,
        "reason": fitted(check.reason, size.text),
        **_few("changes", [fitted(change.text, size.text) for change in check.changes], size),
    }


RENDERER = BriefStreams()
