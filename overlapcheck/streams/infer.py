"""What one recording shows of a process: streams by role, edges per step, waits of the host."""

from __future__ import annotations

from overlapcheck.measurements import Measurements, Names
from overlapcheck.redaction import names_no_one
from overlapcheck.stream_graph import StreamGraph
from overlapcheck.stream_waits import HandOverSteps, Record, StreamWaits
from overlapcheck.streams.edges import Edges
from overlapcheck.streams.examples import Examples
from overlapcheck.streams.hosts import host_waits
from overlapcheck.streams.roles import streams_by_role
from overlapcheck.streams.step_work import StepWork


def graphs(measured: Measurements) -> tuple[StreamGraph, ...]:
    """The graph of each process of a report whose waits were measured."""
    return tuple(
        graph_of(waits, measured.names, measured.processes[waits.process].title)
        for waits in measured.waits
    )


def graph_of(
    waits: StreamWaits, names: Names, process: str, steps: HandOverSteps | None = None
) -> StreamGraph:
    """The graph of one process.

    Args:
        waits: its waits.
        names: texts.
        process: what to call it.
        steps: where its steps begin, if elsewhere than `waits` says.
    """
    work = StepWork(waits, steps or waits.steps)
    streams = streams_by_role(work)
    examples = Examples(waits, names)
    edges = Edges(work, streams, examples)
    found, once = edges.found()
    hosts, once_more = host_waits(work, streams, examples, names)
    steady = work.steps.steady
    numbers = work.steps.numbers[steady]
    records = waits.records
    recorded = work.steps.of(records.time_ns)
    inside = recorded >= 0
    lonely = inside & work.steady[recorded] & ~records.awaited
    count = int(steady.sum())
    return StreamGraph(
        process=process,
        number=waits.process,
        streams=streams,
        edges=tuple(found),
        host=tuple(hosts),
        steps=count,
        first_step=int(numbers[0]) if count else None,
        last_step=int(numbers[-1]) if count else None,
        ranges=work.steps.ranges,
        family=work.steps.family and names_no_one(work.steps.family),
        never_recorded=edges.unpaired(Record.NEVER),
        unknown=edges.unpaired(Record.UNKNOWN),
        unawaited_events=float(lonely.sum()) / count if count else 0.0,
        once=once + once_more,
        idle_streams=len(waits.streams) - sum(len(seen.numbers) for seen in streams),
        no_records=waits.no_records,
        unseen=_unseen(waits),
    )


def _unseen(waits: StreamWaits) -> tuple[str, ...]:
    found = ["which buffer an operation touches", "events shared between processes"]
    if waits.graph_launches:
        found.append("waits inside CUDA graphs")
    if waits.host_functions:
        found.append("host functions and stream memory operations")
    return tuple(found)
