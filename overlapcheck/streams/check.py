"""Whether a recording keeps the contract of its streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from overlapcheck.columns import ABSENT
from overlapcheck.measurements import Measurements
from overlapcheck.quantities import count_of
from overlapcheck.recorder import Content
from overlapcheck.stream_audit import Ordering, StreamAudit, sentence
from overlapcheck.stream_changes import Change, ChangeKind, StreamCheck
from overlapcheck.stream_contract import Pipeline, StreamContract
from overlapcheck.stream_graph import StreamGraph
from overlapcheck.stream_waits import HandOverSteps, StreamWaits
from overlapcheck.streams.differences import Differences, differences
from overlapcheck.streams.infer import graph_of
from overlapcheck.streams.renaming import assignments
from overlapcheck.streams.still_ordered import StillOrdered
from overlapcheck.verdict import Outcome

FEWEST_STEPS = 2
"""Steady steps that tell a habit from chance."""
MOST_CUTS = 64
"""Places at which a step may be said to begin that are tried."""


def check(
    measured: Measurements, graphs: Sequence[StreamGraph], contract: StreamContract
) -> tuple[StreamCheck, ...]:
    """Hold every process of a report against the contract."""
    waits = {one.process: one for one in measured.waits}
    return tuple(_check(measured, graph, waits[graph.number], contract) for graph in graphs)


def _check(
    measured: Measurements, graph: StreamGraph, waits: StreamWaits, contract: StreamContract
) -> StreamCheck:
    doubt = _doubt(measured, graph)
    if doubt is not None:
        return doubt
    best: tuple[Differences, StreamGraph, HandOverSteps] | None = None
    for pipeline, steps, one in _readings(measured, graph, waits, contract):
        for named in assignments(pipeline, one):
            found = differences(pipeline, named, marked=contract.ranges and graph.ranges)
            if best is None or _weight(found) < _weight(best[0]):
                best = (found, named, steps)
            if not found.changes:
                break
        if best is not None and not best[0].changes:
            break
    if best is None:
        return _answer(graph, Outcome.INCONCLUSIVE, "the contract describes no process")
    found, named, steps = best
    return _judged(measured, found, named, StillOrdered(waits, steps, measured.names, named))


def _weight(found: Differences) -> tuple[int, int]:
    return len(found.changes), len(found.notes)


def _answer(graph: StreamGraph, outcome: Outcome, reason: str, settle: str = "") -> StreamCheck:
    return StreamCheck(graph.process, graph.number, outcome, reason, settle_with=settle)


def _doubt(measured: Measurements, graph: StreamGraph) -> StreamCheck | None:
    recorder = measured.recorder
    for problem in measured.problems:
        if problem.process in (ABSENT, graph.number):
            return _answer(
                graph,
                Outcome.INCONCLUSIVE,
                f"the recording is incomplete: {problem.what}",
                problem.settle_with,
            )
    if graph.no_records:
        return _answer(
            graph,
            Outcome.INCONCLUSIVE,
            "streams wait for events, and the recording does not say which record",
            recorder.record_again(Content.EVENT_RECORDS),
        )
    if graph.steps < FEWEST_STEPS:
        return _answer(
            graph,
            Outcome.INCONCLUSIVE,
            f"{count_of(graph.steps, 'steady step')}, too few to tell a habit",
            "record more steps, or mark them with NVTX ranges ('step 3')",
        )
    return None


def _readings(
    measured: Measurements, graph: StreamGraph, waits: StreamWaits, contract: StreamContract
) -> Iterator[tuple[Pipeline, HandOverSteps, StreamGraph]]:
    """What may be compared: the recording with each process of the contract.

    Where no range says where a step begins, it may be said to begin anywhere.
    """
    for pipeline in contract.pipelines:
        yield pipeline, waits.steps, graph
    if contract.ranges and graph.ranges:
        return
    for steps in _cuts(waits, graph):
        shifted = graph_of(waits, measured.names, graph.process, steps)
        for pipeline in contract.pipelines:
            yield pipeline, steps, shifted


def _cuts(waits: StreamWaits, graph: StreamGraph) -> Iterator[HandOverSteps]:
    """Steps that begin elsewhere: before any operation, of many those that an edge touches."""
    steps, ops = waits.steps, waits.operations
    if len(steps) < FEWEST_STEPS:
        return
    middle = int(np.flatnonzero(steps.steady)[len(np.flatnonzero(steps.steady)) // 2])
    begin, end = int(steps.start_ns[middle]), int(steps.end_ns[middle])
    table = waits.waits
    touched = np.concatenate((table.before, table.after, waits.barriers.before,
                              waits.barriers.after))  # fmt: skip
    launch = ops.launch_start_ns[touched[touched >= 0]]
    launch = np.unique(launch[(launch >= begin) & (launch < end)])
    own = ops.launch_start_ns[waits.order]
    own = np.unique(own[(own >= begin) & (own < end)])
    behind = np.searchsorted(own, launch, side="right")
    cuts = np.unique(np.concatenate((launch, own[behind[behind < own.size]])))
    cuts = own if own.size <= MOST_CUTS else cuts
    cuts = cuts[cuts > begin][:MOST_CUTS]
    for cut in cuts.tolist():
        yield _begun_at(waits, steps, middle, cut)


def _begun_at(waits: StreamWaits, steps: HandOverSteps, middle: int, cut: int) -> HandOverSteps:
    """Every step begun at the same operation, counted within the step."""
    own = np.sort(waits.operations.launch_start_ns[waits.order])
    place = int(np.searchsorted(own, cut) - np.searchsorted(own, steps.start_ns[middle]))
    first = np.searchsorted(own, steps.start_ns)
    starts = own[np.minimum(first + place, own.size - 1)]
    ends = np.append(starts[1:], steps.end_ns[-1])
    steady = steps.steady.copy()
    steady[-1] = False
    return replace(steps, start_ns=starts, end_ns=np.maximum(ends, starts), steady=steady)


def _judged(
    measured: Measurements, found: Differences, graph: StreamGraph, still: StillOrdered
) -> StreamCheck:
    never = {one.target for one in graph.never_recorded if 2 * one.steps > graph.steps}
    unknown = {one.target for one in graph.unknown}
    gained_hosts = [change for change in found.changes if change.host is not None
                    and change.kind is ChangeKind.GAINED]  # fmt: skip
    changes, doubts, notes = [], [], list(found.notes)
    waiting_for_nothing = set()
    for raw in found.changes:
        change, edge = still.shown(raw), raw.edge
        if edge is None or raw.kind is not ChangeKind.LOST:
            changes.append(change)
            continue
        how = still.holds(edge)
        if how == "event":
            notes.append(f"{change.text}, and what it held is ordered by other waits")
        elif edge.target in unknown:
            doubts.append(change)
        elif how == "host":
            by = next((one.host.text for one in gained_hosts if one.host), "a wait of the host")
            text = f"{change.text}: now held by {by}"
            changes.append(replace(change, kind=ChangeKind.BY_HOST, text=text))
        elif edge.target in never:
            waiting_for_nothing.add(edge.target)
            why = f"{edge.target} waits for an event that is never recorded"
            changes.append(replace(change, text=f"{change.text}: {why}"))
        else:
            changes.append(change)
    outcome = Outcome.FAIL if changes else Outcome.INCONCLUSIVE if doubts else Outcome.PASS
    return StreamCheck(
        graph.process,
        graph.number,
        outcome,
        _reason(outcome, changes, doubts),
        tuple(changes),
        tuple(doubts),
        tuple(notes),
        measured.recorder.record_again(Content.EVENT_RECORDS)
        if outcome is Outcome.INCONCLUSIVE
        else "",
        tuple(sorted(waiting_for_nothing)),
    )


def _reason(outcome: Outcome, changes: Sequence[Change], doubts: Sequence[Change]) -> str:
    if outcome is Outcome.PASS:
        return "streams wait for each other as agreed"
    if outcome is Outcome.FAIL:
        more = f" (and {len(changes) - 1} more)" if len(changes) > 1 else ""
        return f"{changes[0].text}{more}"
    return f"{doubts[0].text}, or its record was not recorded"


def with_buffers(
    checks: Sequence[StreamCheck], audits: Sequence[StreamAudit]
) -> tuple[StreamCheck, ...]:
    """The checks, failing too where nothing orders the use of a declared buffer."""
    orderings = {audit.number: audit.orderings for audit in audits}
    return tuple(_with_buffers(one, orderings.get(one.number, ())) for one in checks)


def _with_buffers(check: StreamCheck, orderings: Sequence[Ordering]) -> StreamCheck:
    if check.outcome is Outcome.INCONCLUSIVE and not check.doubts:
        return check
    more = [
        Change(
            ChangeKind.NOT_ORDERED,
            f"{one.buffer.text}: {sentence(one)}",
            buffer=one.buffer,
            example=one.example,
        )
        for one in orderings
        if not one.holds
    ]
    if not more:
        return check
    changes = (*check.changes, *more)
    reason = _reason(Outcome.FAIL, changes, ())
    return replace(check, outcome=Outcome.FAIL, reason=reason, changes=changes)
