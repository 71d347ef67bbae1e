"""Memory that is allocated and freed in every step."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.ledger import Reason
from overlapcheck.step_graph import StepGraph
from overlapcheck.whatif.repair import Repair, Repaired
from overlapcheck.whatif.repairs._calls import without_calls


class KeepMemory(Repair):
    """Memory is kept between steps: no call allocates, and none waits for the device to free."""

    reason = Reason.ALLOCATION
    what = "allocate once and keep the memory"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph without allocations."""
        event = np.flatnonzero(graph.events.kind == ApiKind.ALLOCATION)
        if event.size == 0:
            return None
        return Repaired(without_calls(graph, event))
