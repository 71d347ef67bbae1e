"""Copies whose call waits, as asynchronous ones."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT
from overlapcheck.ledger import Reason
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, copies
from overlapcheck.whatif.repairs.host_sync import without_waits


class AsynchronousCopy(Repair):
    """cudaMemcpyAsync from pinned memory; streams wait by events, the thread does not."""

    reason = Reason.SYNC_COPY
    what = "copy asynchronously, ordered by events"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph with asynchronous copies."""
        ops, events = graph.operations, graph.events
        held = np.unique(graph.links.after[graph.links.of(Why.WAIT)])
        event = np.unique(ops.event[copies(graph) & (ops.event != ABSENT)]).astype(np.intp)
        event = event[events.kind[event] == ApiKind.SYNC_COPY]
        event = event[np.isin(graph.call_end(event), held)]
        return without_waits(graph, event, event[:0]) if event.size else None
