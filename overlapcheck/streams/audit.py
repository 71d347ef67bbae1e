"""What the order of declared buffers rests on, step by step.

A buffer of n slots is written by one stream and read by another. Each step's reader must come
behind its writer, and the writer of n steps later behind that reader. Which operation touches
which buffer is not recorded: the declaration says it, and this proves the order, or does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from overlapcheck.measurements import Measurements, Names
from overlapcheck.stream_audit import Hint, Ordering, StreamAudit
from overlapcheck.stream_contract import Buffer, EdgeKind, EdgeRule, Place, Role
from overlapcheck.stream_graph import Example, StreamGraph, StreamSeen
from overlapcheck.stream_waits import StreamWaits
from overlapcheck.streams.examples import Examples
from overlapcheck.streams.happens_before import HappensBefore, Link
from overlapcheck.streams.still_ordered import StillOrdered

_COPIES = (Role.H2D, Role.D2H, Role.P2P)


def audit(
    measured: Measurements, graphs: Sequence[StreamGraph], buffers: Sequence[Buffer]
) -> tuple[StreamAudit, ...]:
    """Audit every process of a report.

    Args:
        measured: with the waits of each process.
        graphs: what they show, their streams named as in the declarations.
        buffers: declared by the team.
    """
    waits = {one.process: one for one in measured.waits}
    found = []
    for graph in graphs:
        orderings: tuple[Ordering, ...] = ()
        if buffers and not graph.no_records:
            orderings = tuple(_orderings(graph, waits[graph.number], measured.names, buffers))
        found.append(
            StreamAudit(graph.process, graph.number, orderings, tuple(_hints(graph)), graph.unseen)
        )
    return tuple(found)


def _orderings(
    graph: StreamGraph, waits: StreamWaits, names: Names, buffers: Sequence[Buffer]
) -> Iterator[Ordering]:
    asked = _Asked(graph, waits, names)
    for buffer in buffers:
        if graph.stream(buffer.writes) is None or graph.stream(buffer.reads) is None:
            continue
        ready = _edge(graph, buffer.writes, buffer.reads, EdgeKind.READY)
        ahead = ready.distance if ready else 0
        yield asked.ordering(buffer, EdgeKind.READY, ready or EdgeRule(
            buffer.writes, buffer.reads, EdgeKind.READY, 0, places=(Place(0, 0),)))  # fmt: skip
        if buffer.slots is not None:
            # Work for a step may be handed over a step ahead: the way round is what counts.
            distance = -buffer.slots - ahead
            back = _edge(graph, buffer.reads, buffer.writes, EdgeKind.REUSE)
            places = back.places if back else (Place(0, 0),)
            yield asked.ordering(
                buffer,
                EdgeKind.REUSE,
                EdgeRule(buffer.reads, buffer.writes, EdgeKind.REUSE, distance, places=places),
            )


def _edge(graph: StreamGraph, source: str, target: str, kind: EdgeKind) -> EdgeRule | None:
    """The edge between two streams that leads to the latest step."""
    found = [
        seen.rule
        for seen in graph.edges
        if (seen.rule.source, seen.rule.target) == (source, target)
    ]
    return max(found, key=lambda rule: (rule.kind is kind, rule.distance), default=None)


class _Asked:
    """Asks for the order of both ends of an edge in every step."""

    def __init__(self, graph: StreamGraph, waits: StreamWaits, names: Names) -> None:
        self._graph, self._waits = graph, waits
        self._examples = Examples(waits, names)
        self._steps = StillOrdered(waits, waits.steps, names, graph)
        self._by_device = HappensBefore(waits, host=False)
        self._by_any = HappensBefore(waits)

    def ordering(self, buffer: Buffer, need: EdgeKind, edge: EdgeRule) -> Ordering:
        ordered = by_host = total = 0
        shown: tuple[int, int, int] | None = None
        open_: tuple[int, int, int] | None = None
        for step, before, after in self._steps.pairs(edge):
            total += 1
            if self._by_any.before(before, after):
                ordered += 1
                by_host += not self._by_device.before(before, after)
                shown = (step, before, after)
            elif open_ is None:
                open_ = (step, before, after)
        chosen = open_ or shown
        chain: tuple[str, ...] = ()
        example = None
        if chosen is not None:
            step, before, after = chosen
            operation = self._examples.operation
            example = Example(step, operation(before), operation(after))
            if open_ is None:
                proof = self._by_device if not by_host else self._by_any
                chain = tuple(self._told(link) for link in proof.chain(before, after) or ())
        return Ordering(
            buffer, need, edge.source, edge.target, edge.distance, ordered, total, by_host, chain,
            example,
        )  # fmt: skip

    def _told(self, link: Link) -> str:
        call = self._examples.call(link.call)
        if link.how == "null stream":
            return "the null stream's rule"
        on = self._examples.stream(link.stream) if link.stream >= 0 else "all streams"
        if link.how == "host":
            return f"the host waited for {on} ({call})"
        return f"an event recorded on {on}, awaited by {call}"


def _hints(graph: StreamGraph) -> Iterator[Hint]:
    """Streams of copies whose data nothing recorded hands on, or brings."""
    if graph.no_records or len(graph.streams) < 2:
        return
    whole = any(host.rule.of is None for host in graph.host)
    for seen in graph.streams:
        if seen.role not in _COPIES or seen.rule.carries or whole:
            continue
        name = seen.name
        given = seen.role is not Role.D2H
        edges = [e for e in graph.edges if name == (e.rule.source if given else e.rule.target)]
        awaited = any(host.rule.of == name for host in graph.host)
        if edges or (given and awaited):
            continue
        others = _others(graph, seen)
        text = (
            f"nothing recorded orders the copies of {name} and the work of {others} behind them"
            if given
            else f"nothing recorded orders the work of {others} and the copies of {name} behind it"
        )
        yield Hint(name, text)


def _others(graph: StreamGraph, seen: StreamSeen) -> str:
    return ", ".join(one.name for one in graph.streams if one.name != seen.name)
