"""Threads that have no input to work on."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT
from overlapcheck.grouping import distinct
from overlapcheck.ledger import Reason
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import OF_SYSTEM, StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, into
from overlapcheck.whatif_thresholds import WHAT_IF


class LoaderInTime(Repair):
    """Input is ready when it is asked for: waits for it take no time."""

    reason = Reason.HOST_STARVED
    what = "input ready in time: more loader workers, or prefetched"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph without waits for input."""
        ops, events = graph.operations, graph.events
        threads = distinct(events.tid[ops.event[ops.event != ABSENT]])
        launching = np.isin(events.tid, threads)
        long = events.end_ns - events.start_ns >= WHAT_IF.input_wait_ns
        waits = np.flatnonzero(launching & long & (events.kind == OF_SYSTEM))
        away = np.flatnonzero(launching & (events.gap_ns > WHAT_IF.input_away_ns))
        if waits.size + away.size == 0:
            return None
        ends = graph.call_end(waits)
        graph = graph.without_links(into(graph, ends, Why.HAND_OFF, Why.OUTSIDE))
        wakes = np.full(waits.size, REPLAY.wakes_ns)
        graph = graph.with_own_time(waits, wakes).without_residual(ends)
        return Repaired(graph.with_gaps(away, np.full(away.size, WHAT_IF.fetches_ns)))
