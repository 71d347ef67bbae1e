"""Launches that wait because CUDA_LAUNCH_BLOCKING is set."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT
from overlapcheck.ledger import Reason
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, into
from overlapcheck.whatif_thresholds import WHAT_IF


class NoLaunchBlocking(Repair):
    """CUDA_LAUNCH_BLOCKING unset: launches return at once."""

    reason = Reason.LAUNCH_BLOCKING
    what = "unset CUDA_LAUNCH_BLOCKING"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph with launches that do not wait."""
        ops, events = graph.operations, graph.events
        mine = np.flatnonzero(ops.event != ABSENT)
        mine = mine[events.kind[ops.event[mine]] == ApiKind.LAUNCH]
        if mine.size == 0:
            return None
        waited = events.end_ns[ops.event[mine]] >= ops.end_ns[mine]
        if waited.mean() < WHAT_IF.blocked_launches_share:
            return None
        event = np.unique(ops.event[mine]).astype(np.intp)
        ends = graph.call_end(event)
        graph = graph.without_links(into(graph, ends, Why.WAIT, Why.QUEUE))
        own = np.minimum(events.own_ns[event], WHAT_IF.unblocked_launch_ns)
        return Repaired(graph.with_own_time(event, own).without_residual(ends))
