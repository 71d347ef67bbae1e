"""Copies that wait by an event for kernels that do not concern them."""

from __future__ import annotations

import numpy as np

from overlapcheck.ledger import Reason
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, copies, is_kernel


class NoEventWait(Repair):
    """Copies wait for the kernels that last read their buffer, a step ago, and for no others."""

    reason = Reason.EVENT_WAIT
    what = "copy before the kernels, without waiting for them"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph without those waits."""
        links, ops = graph.links, graph.operations
        between = links.of(Why.EVENT) & (links.before < 2 * len(ops))
        kernel = np.repeat(is_kernel(graph), 2)
        copy = np.repeat(copies(graph), 2)
        gone = between & (links.after < 2 * len(ops))
        at = np.flatnonzero(gone)
        gone[at] = kernel[links.before[at]] & copy[links.after[at]]
        if not gone.any():
            return None
        said = ("kernels → copy two steps later (event; two buffers)",)
        return Repaired(graph.without_links(gone), said)
