"""Graphs that are built in every step."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.ledger import Reason
from overlapcheck.step_graph import StepGraph
from overlapcheck.whatif.repair import Repair, Repaired
from overlapcheck.whatif.repairs._calls import without_calls

BUILDS = (ApiKind.GRAPH_BUILD, ApiKind.CAPTURE)


class KeepGraph(Repair):
    """Each graph is built before the loop and launched again; launching it takes what it took.

    Calls that change one count as building it; launches that were captured are still made.

    before   thread [capture][instantiate][graph launch]    after   [graph launch]
    """

    reason = Reason.GRAPH_LAUNCH
    what = "build each graph once and keep it"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph without calls that build one."""
        event = np.flatnonzero(np.isin(graph.events.kind, BUILDS))
        return Repaired(without_calls(graph, event)) if event.size else None
