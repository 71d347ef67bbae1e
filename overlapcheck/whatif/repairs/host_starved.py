"""Threads that have no input to work on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT
from overlapcheck.grouping import distinct
from overlapcheck.ledger import Reason
from overlapcheck.step_graph import OF_SYSTEM, StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, into

WAITS_NS = 100_000
"""A shorter call of the operating system is no wait for input."""
AWAY_NS = 1_000_000
"""A launching thread that is away for longer without a call prepares or waits for input."""
FETCHES_NS = 50_000
"""What taking a batch that lies ready costs."""
WAKES_NS = 2_000


@dataclass(frozen=True)
class LoaderInTime(Repair):
    """Input is ready when it is asked for: waits for it take no time."""

    reason: Reason = Reason.HOST_STARVED
    what: str = "input ready in time: more loader workers, or prefetched"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph without waits for input."""
        ops, events = graph.operations, graph.events
        threads = distinct(events.tid[ops.event[ops.event != ABSENT]])
        launching = np.isin(events.tid, threads)
        long = events.end_ns - events.start_ns >= WAITS_NS
        waits = np.flatnonzero(launching & long & (events.kind == OF_SYSTEM))
        away = np.flatnonzero(launching & (events.gap_ns > AWAY_NS))
        if waits.size + away.size == 0:
            return None
        ends = graph.call_end(waits)
        graph = graph.without_links(into(graph, ends, Why.HAND_OFF, Why.OUTSIDE))
        graph = graph.with_own_time(waits, np.full(waits.size, WAKES_NS)).without_residual(ends)
        return Repaired(graph.with_gaps(away, np.full(away.size, FETCHES_NS)))
