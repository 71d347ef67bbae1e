"""Threads that wait for the device only to go on."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Index
from overlapcheck.ledger import Reason
from overlapcheck.order import Work
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, into
from overlapcheck.whatif.repairs._joins import joins_as_events
from overlapcheck.whatif_thresholds import WHAT_IF


class NoHostSync(Repair):
    """Results are read back some steps later; the thread does not wait, streams do by events.

    What the thread did with bulk results that it waited for, the device does instead.
    """

    reason = Reason.HOST_SYNC
    what = "no wait for the device: read results back later"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph without waits."""
        reads = _reads_back(graph)
        waiting = _waiting(graph, reads)
        if waiting.size == 0:
            return None
        return without_waits(graph, waiting, reads)


def _waiting(graph: StepGraph, reads: Index) -> Index:
    """Events that wait: synchronisations, and calls that copy results."""
    events = graph.events
    held = np.unique(graph.links.after[graph.links.of(Why.WAIT)])
    may = np.union1d(np.flatnonzero(events.kind == ApiKind.SYNC), reads)
    found: Index = may[np.isin(graph.call_end(may), held)].astype(np.intp)
    return found


def _reads_back(graph: StepGraph) -> Index:
    """Events that copy from the device."""
    ops = graph.operations
    found: Index = np.unique(ops.event[(ops.work == Work.D2H) & (ops.event != ABSENT)])
    return found


def without_waits(graph: StepGraph, waiting: Index, reads: Index) -> Repaired:
    """The graph in which some events return at once.

    Args:
        graph: the steps.
        waiting: the events.
        reads: those that copy bulk results, or bring them; what follows is work on the results.
    """
    events = graph.events
    added, said = joins_as_events(graph, waiting)
    ends = graph.call_end(waiting)
    own = np.minimum(events.own_ns[waiting], REPLAY.returns_ns)
    repaired = graph.without_links(into(graph, ends, Why.WAIT)).with_own_time(waiting, own)
    next_event = _work_on_results(graph, waiting, reads)
    gap = np.minimum(events.gap_ns[next_event], 2 * WHAT_IF.starts_within_ns)
    return Repaired(repaired.with_gaps(next_event, gap).with_links(*added), said)


def _work_on_results(graph: StepGraph, waiting: Index, reads: Index) -> Index:
    """Events before which a thread worked on bulk results that it had waited for."""
    ops, events = graph.operations, graph.events
    bulk = (ops.work == Work.D2H) & (ops.bytes >= WHAT_IF.bulk_bytes) & (ops.event != ABSENT)
    bulky = set(ops.event[bulk].tolist()) & set(reads.tolist())
    follows = {int(p): e for e, p in enumerate(events.previous.tolist()) if p != ABSENT}
    found = []
    for event in waiting.tolist():
        before, after = int(events.previous[event]), follows.get(event)
        if event not in bulky and before not in bulky:
            continue
        if after is not None and events.kind[after] != ApiKind.SYNC:
            found.append(after)
    return np.array(found, dtype=np.intp)
