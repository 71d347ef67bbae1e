"""Many small launches, handed over as one graph."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Mask
from overlapcheck.ledger import Reason
from overlapcheck.order import Work
from overlapcheck.step_graph import OF_SYSTEM, StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, copies, into
from overlapcheck.whatif_thresholds import WHAT_IF

_IN_GRAPH = (
    ApiKind.LAUNCH, ApiKind.MEMSET, ApiKind.OTHER, ApiKind.QUERY, ApiKind.RECORD_EVENT,
    ApiKind.WAIT_EVENT, ApiKind.CODE_QUERY, ApiKind.CAPTURE, ApiKind.GRAPH_LAUNCH, OF_SYSTEM,
)  # fmt: skip


class LaunchAsGraph(Repair):
    """What a thread hands over between two waits goes in one CUDA graph."""

    reason = Reason.LAUNCH_BOUND
    what = "launch as one CUDA graph"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph with launches of whole runs."""
        ops, events = graph.operations, graph.events
        inside = _may_be_captured(graph)
        follows = events.previous != ABSENT
        runs_on = follows & inside & inside[events.previous] & ~_new_step(graph)
        if not (inside & (events.kind == ApiKind.LAUNCH)).any():
            return None
        first = inside & ~runs_on
        launch = events.kind == ApiKind.LAUNCH
        own = np.where(
            launch,
            WHAT_IF.graph_node_ns,
            np.where(events.kind == ApiKind.GRAPH_LAUNCH, events.own_ns, 0),
        )
        own = np.where(first, WHAT_IF.graph_launch_ns, own)
        chosen = np.flatnonzero(inside)
        joined = np.flatnonzero(runs_on & (events.gap_ns < WHAT_IF.other_work_ns))
        graph = graph.with_own_time(chosen, own[chosen]).with_gaps(
            joined, np.zeros(joined.size, dtype=np.int64)
        )
        graph = graph.without_residual(graph.call_end(chosen))
        starts = graph.start_of(np.arange(len(ops)))
        graph = graph.with_lags_below(into(graph, starts, Why.STREAM), WHAT_IF.graph_node_gap_ns)
        graph = graph.with_lags_below(into(graph, starts, Why.LAUNCH), WHAT_IF.starts_within_ns)
        rest = graph.residual_ns[starts]
        waited = starts[(rest > 0) & (rest < WHAT_IF.graph_waits_ns)]
        return Repaired(graph.without_residual(waited))


def _may_be_captured(graph: StepGraph) -> Mask:
    """Events that wait for nothing and that a stream capture allows, or would make needless."""
    ops, events = graph.operations, graph.events
    held = np.isin(
        graph.call_end(np.arange(len(events))), graph.links.after[graph.links.of(Why.WAIT)]
    )
    system = (events.kind == OF_SYSTEM) & (events.end_ns - events.start_ns > WHAT_IF.graph_waits_ns)
    crosses = np.zeros(len(events), dtype=bool)
    crosses[ops.event[copies(graph) & (ops.event != ABSENT)]] = True
    within = np.zeros(len(events), dtype=bool)
    within[ops.event[(ops.work == Work.D2D) & (ops.event != ABSENT)]] = True
    kinds = np.isin(events.kind, _IN_GRAPH) | ((events.kind == ApiKind.COPY) & within & ~crosses)
    mask: Mask = kinds & ~held & ~system
    return mask


def _new_step(graph: StepGraph) -> Mask:
    """Events with which a thread begins to hand over another step."""
    ops, events = graph.operations, graph.events
    step = np.full(len(events), ABSENT, dtype=np.int64)
    known = np.flatnonzero(ops.event != ABSENT)
    step[ops.event[known]] = ops.step[known]
    new = np.zeros(len(events), dtype=bool)
    for tid in np.unique(events.tid[ops.event[known]]).tolist():
        mine = np.flatnonzero((events.tid == tid) & (step != ABSENT))
        new[mine[1:]] = step[mine[1:]] != step[mine[:-1]]
    return new
