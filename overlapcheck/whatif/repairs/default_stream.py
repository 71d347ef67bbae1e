"""Work on the legacy default stream, which blocking streams wait for."""

from __future__ import annotations

from overlapcheck.ledger import Reason
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired


class NonBlockingStreams(Repair):
    """Streams that neither wait for the default stream nor make it wait."""

    reason = Reason.DEFAULT_STREAM
    what = "non-blocking streams, ordered by events"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph without the default stream's barriers."""
        barriers = graph.links.of(Why.NULL_STREAM)
        if not barriers.any():
            return None
        said = ("copy → its kernels, kernels → copy two steps later (event)",)
        return Repaired(graph.without_links(barriers), said)
