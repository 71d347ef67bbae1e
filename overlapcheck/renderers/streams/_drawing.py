"""A graph in 80 columns: a line down for each stream, a row for each edge between them.

h2d        compute      d2h        host
 │            │          │          │
 ├──ready 0──▶│          │          │
 │◀─reuse −2──┤          │          │  2 buffers
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from overlapcheck.renderers._terminal_text import BOLD, DIM, INDENT, clip, styled, text_of
from overlapcheck.renderers.formats.page import columns
from overlapcheck.renderers.streams._words import distance, edge_label, edge_note, how_often
from overlapcheck.stream_contract import Often, Role
from overlapcheck.stream_graph import HostSeen, StreamGraph, StreamSeen

HOST = "host"
NOTE_WIDTH = 20
"""Room for what stands beside a row."""
MOST_LINES = 6
"""Streams that find room side by side."""
_FLOW = (Role.H2D, Role.P2P, Role.MIXED, Role.COMPUTE, Role.COLLECTIVE, Role.D2H)
_LEAST, _MOST = 10, 17


def in_order(graph: StreamGraph) -> list[StreamSeen]:
    """The streams in the direction in which data flows."""
    return sorted(graph.streams, key=lambda s: (s.device, _FLOW.index(s.role), s.name))


def drawing(graph: StreamGraph) -> list[Text]:
    """The rows of the drawing; empty where there is nothing to draw, or too much."""
    streams = in_order(graph)
    waited = [host for host in graph.host if host.rule.of and not host.rule.timer]
    lines = [seen.name for seen in streams] + (
        [HOST] if any(not host.rule.timer for host in graph.host) else []
    )
    if not 2 <= len(lines) <= MOST_LINES:
        return []
    apart = max(_LEAST, min(_MOST, (columns() - INDENT - NOTE_WIDTH - 8) // (len(lines) - 1)))
    canvas = _Canvas(lines, apart)
    rows = [canvas.head(), canvas.plain()]
    for edge in graph.edges:
        label = edge_label(edge.rule)
        rows.append(canvas.arrow(edge.rule.source, edge.rule.target, label, edge_note(edge)))
    for host in waited:
        label = "waits" if host.rule.distance is None else f"waits {distance(host.rule.distance)}"
        rows.append(canvas.arrow(str(host.rule.of), HOST, label, _often(host), dashed=True))
    rows += [
        canvas.all_to(HOST, "waits for all", _often(host))
        for host in graph.host
        if host.rule.of is None
    ]
    return rows


def unplaced(graph: StreamGraph) -> Iterator[str]:
    """The edges in words, for a graph too wide to draw."""
    for edge in graph.edges:
        note = edge_note(edge)
        text = f"{edge.rule.source} ─{edge_label(edge.rule)}▶ {edge.rule.target}"
        yield f"{text}   {note}" if note else text


def _often(host: HostSeen) -> str:
    return "" if host.rule.often is Often.EVERY else how_often(host)


class _Canvas:
    def __init__(self, lines: Sequence[str], apart: int) -> None:
        self._lines, self._apart = lines, apart
        first = INDENT + 5
        self._column = {name: first + apart * place for place, name in enumerate(lines)}
        self._end = max(self._column.values()) + 3

    def head(self) -> Text:
        row = ""
        for name in self._lines:
            text = clip(name, self._apart - 1)
            row = row.ljust(max(0, self._column[name] - len(text) // 2)) + text
        return styled(row, BOLD)

    def plain(self) -> Text:
        return text_of("".join(self._cells()).rstrip())

    def arrow(
        self, source: str, target: str, label: str, note: str, *, dashed: bool = False
    ) -> Text:
        cells = self._cells()
        a, b = self._column[source], self._column[target]
        low, high = min(a, b), max(a, b)
        dash = "┄" if dashed else "─"
        for x in range(low + 1, high):
            cells[x] = dash
        cells[a] = "├" if a < b else "┤"
        if b > a:
            cells[b - 1] = "▶"
        else:
            cells[b + 1] = "◀"
        if low == high:
            cells[low] = "↻"
        label = clip(label, max(high - low - 4, 0))
        start = low + 1 + (high - low - 1 - len(label)) // 2
        for offset, char in enumerate(label):
            cells[start + offset] = char
        return self._with_note(cells, note)

    def all_to(self, target: str, label: str, note: str) -> Text:
        cells = self._cells()
        b = self._column[target]
        first = min(self._column.values())
        for x in range(first, b - 1):
            cells[x] = "┄" if cells[x] == " " else "┼"
        cells[first] = "├"
        cells[b - 1] = "▶"
        label = clip(label, max(self._apart - 4, 0))
        start = b - self._apart + 1 + (self._apart - 2 - len(label)) // 2
        for offset, char in enumerate(label):
            cells[start + offset] = char
        return self._with_note(cells, note)

    def _cells(self) -> list[str]:
        cells = [" "] * self._end
        for column in self._column.values():
            cells[column] = "│"
        return cells

    def _with_note(self, cells: Sequence[str], note: str) -> Text:
        row = "".join(cells)
        if not note:
            return text_of(row.rstrip())
        return text_of(row, styled(clip(note, columns() - len(row)), DIM))
