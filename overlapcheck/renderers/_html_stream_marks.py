"""Waits of streams and of the host, to be marked in the timeline by their examples."""

from __future__ import annotations

from typing import Any

from overlapcheck.clean import clean
from overlapcheck.quantities import duration
from overlapcheck.renderers.streams._words import distance, edge_label
from overlapcheck.stream_graph import EdgeSeen, HostSeen, OperationSeen, StreamGraph
from overlapcheck.timeline import RowRole, Timeline

_AROUND = 4
"""A wait is shown with this part of its length before and after it."""
_LEAST_VIEW_NS = 100_000

Mark = list[int | str]
"""Row, start, end, role, text; see `_html_timeline`."""


def edge_key(graph: StreamGraph, number: int) -> str:
    """What the button of an edge asks the timeline for."""
    return f"edge {number} of {graph.number}"


def host_key(graph: StreamGraph, number: int) -> str:
    """What the button of a wait of the host asks the timeline for."""
    return f"host {number} of {graph.number}"


def host_label(seen: HostSeen) -> str:
    """What the host waits for, and how."""
    rule = seen.rule
    back = "" if rule.distance is None else f" {distance(rule.distance)}"
    times = f"{rule.count}× " if rule.count > 1 else ""
    return f"{rule.of or 'all streams'} → host: {times}{rule.call}{back}"


def wait_instances(graph: StreamGraph, timeline: Timeline) -> list[dict[str, Any]]:
    """For the script: what each edge and each wait of the host marks in the timeline."""
    found = [_edge(edge_key(graph, n), edge, timeline) for n, edge in enumerate(graph.edges)]
    found += [_host(host_key(graph, n), host, timeline) for n, host in enumerate(graph.host)]
    return [one for one in found if one is not None]


def _edge(key: str, edge: EdgeSeen, timeline: Timeline) -> dict[str, Any] | None:
    first, second = edge.example.before, edge.example.after
    if first is None or second is None:
        return None
    marks = [_stream(first, "waited for", timeline), _stream(second, "waits", timeline)]
    span = (first.end_ns, max(second.start_ns, first.end_ns))
    label = f"{edge.rule.source} → {edge.rule.target}, {edge_label(edge.rule)}"
    said = f"{label}: step {edge.example.step}, {duration(span[1] - span[0])} between"
    return _instance(key, said, span, marks, timeline)


def _host(key: str, seen: HostSeen, timeline: Timeline) -> dict[str, Any] | None:
    call, first = seen.example.waited, seen.example.before
    if call is None:
        return None
    start, end = call.start_ns + timeline.host_moved_ns, call.end_ns + timeline.host_moved_ns
    marks = [_stream(first, "waited for", timeline)] if first else []
    for row, shown in enumerate(timeline.rows):
        if shown.role is RowRole.THREAD and shown.tid == call.tid:
            zero = timeline.start_ns
            text = clean(f"{seen.rule.call}, {duration(end - start)}")
            marks.append([row, start - zero, end - zero, "host waits", text])
    said = f"{host_label(seen)}: step {seen.example.step}, held {duration(end - start)}"
    return _instance(key, said, (start, end), marks, timeline)


def _instance(
    key: str, said: str, span: tuple[int, int], marks: list[Mark | None], timeline: Timeline
) -> dict[str, Any] | None:
    """Something to show; None where its rows are not drawn, or it lies outside the window."""
    zero, end = timeline.start_ns, timeline.end_ns
    drawn = sorted((mark for mark in marks if mark is not None), key=_times)
    times = [_times(mark) for mark in drawn]
    first = min((start for start, _ in times), default=0)
    last = max((stop for _, stop in times), default=0)
    if last <= 0 or first >= end - zero:
        return None
    room = max(_LEAST_VIEW_NS, (span[1] - span[0]) // _AROUND)
    return {
        "cause": key,
        "said": clean(said),
        "span": [span[0] - zero, span[1] - zero],
        "view": [max(0, first - room), min(end - zero, last + room)],
        "marks": drawn,
    }


def _times(mark: Mark) -> tuple[int, int]:
    return int(mark[1]), int(mark[2])


def _stream(operation: OperationSeen, role: str, timeline: Timeline) -> Mark | None:
    name = f"s{operation.stream_id}"
    for row, shown in enumerate(timeline.rows):
        if shown.role is RowRole.STREAM and shown.label.split()[-1] == name:
            zero = timeline.start_ns
            times = (operation.start_ns - zero, operation.end_ns - zero)
            return [row, *times, role, clean(operation.text)]
    return None
