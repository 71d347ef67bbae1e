"""Copies of pageable memory from and to pinned memory."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Floats, Index
from overlapcheck.ledger import Reason
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, copies, hands_over_ns, into
from overlapcheck.whatif_thresholds import WHAT_IF


class PinMemory(Repair):
    """The host memory is pinned once: the link's rate, and the thread is not held.

    before   thread [ copy call, staging ........ ]     after   [call]
             copy        [ . . . . . . . . . . ]                   [   ]
    """

    reason = Reason.PAGEABLE_COPY
    what = "pin the host memory"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph with pinned copies."""
        ops = graph.operations
        staged = np.flatnonzero(ops.pageable & copies(graph) & (ops.bytes >= WHAT_IF.bulk_bytes))
        if staged.size == 0:
            return None
        moves_ns = ops.bytes[staged] / _rates(graph, staged)
        length = (moves_ns + WHAT_IF.copy_sets_up_ns).astype(np.int64)
        graph = graph.with_lengths(staged, np.minimum(length, ops.length_ns[staged]))
        return Repaired(_not_held(graph, staged))


def _rates(graph: StepGraph, staged: Index) -> Floats:
    """Bytes per ns of pinned copies in each one's direction: measured here, else the link's."""
    ops = graph.operations
    rates = np.empty(staged.size)
    for direction in np.unique(ops.work[staged]).tolist():
        pinned = (ops.work == direction) & ~ops.pageable & (ops.bytes >= WHAT_IF.large_bytes)
        seen = ops.bytes[pinned] / np.maximum(ops.end_ns - ops.start_ns, 1)[pinned]
        rate = float(np.median(seen)) if seen.size else graph.link_bytes_per_ns
        rates[ops.work[staged] == direction] = rate
    return rates


def _not_held(graph: StepGraph, staged: Index) -> StepGraph:
    """Calls that return at once, and copies that start when they are due."""
    ops, events = graph.operations, graph.events
    event = np.unique(ops.event[staged])
    event = event[event != ABSENT]
    event = event[events.kind[event] == ApiKind.COPY].astype(np.intp)
    ends, starts = graph.call_end(event), graph.start_of(staged)
    cost = hands_over_ns(graph)
    graph = graph.without_links(into(graph, ends, Why.WAIT))
    held = np.isin(ends, graph.links.after[graph.links.of(Why.WAIT)])
    own = np.where(held, np.minimum(events.own_ns[event], cost), cost)
    graph = graph.with_own_time(event, own).without_residual(np.concatenate((ends, starts)))
    return graph.with_lags_below(into(graph, starts, Why.LAUNCH), WHAT_IF.starts_within_ns)
