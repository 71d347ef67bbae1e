"""Collectives that wait for a rank that comes later."""

from __future__ import annotations

import numpy as np

from overlapcheck.ledger import Reason
from overlapcheck.order import Work
from overlapcheck.step_graph import StepGraph
from overlapcheck.whatif.repair import Repair, Repaired

LATE_RANK = "late-rank"


class RankInTime(Repair):
    """All ranks come when this one does: a collective takes what it takes to move its data.

    before   [ kernels ][ waits .... moves ]        after   [ kernels ][ moves ]
    """

    reason = Reason.EXPOSED_COLLECTIVE
    what = "balance the ranks: none comes late"

    @property
    def id(self) -> str:
        """A cause of its own to users: the collectives stay where they are."""
        return LATE_RANK

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph with the wait taken out of collectives in which ranks are known to have met."""
        ops = graph.operations
        late = np.flatnonzero((ops.work == Work.COMMUNICATION) & (ops.waited_ns > 0))
        if late.size == 0:
            return None
        moves = np.maximum(ops.length_ns[late] - ops.waited_ns[late], 0)
        return Repaired(graph.with_lengths(late, moves))
