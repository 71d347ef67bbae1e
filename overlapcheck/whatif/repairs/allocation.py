"""Memory that is allocated and freed in every step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.ledger import Reason
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif.repair import Repaired, into


@dataclass(frozen=True)
class KeepMemory:
    """Memory is kept between steps: no call allocates, and none waits for the device to free."""

    reason: Reason = Reason.ALLOCATION
    what: str = "allocate once and keep the memory"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph without allocations."""
        event = np.flatnonzero(graph.events.kind == ApiKind.ALLOCATION)
        if event.size == 0:
            return None
        ends = graph.call_end(event)
        graph = graph.without_links(into(graph, ends, Why.WAIT, Why.QUEUE, Why.HAND_OFF))
        return Repaired(
            graph.with_own_time(event, np.zeros(event.size, dtype=np.int64)).without_residual(ends)
        )
