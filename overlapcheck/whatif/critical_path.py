"""What a step's length is made of: the chain of things of which each waited for the one before."""

from __future__ import annotations

from collections import Counter

import numpy as np

from overlapcheck.order import Work
from overlapcheck.prediction import Bound, BoundName
from overlapcheck.step_graph import OF_SYSTEM, ORIGIN, StepGraph, Why
from overlapcheck.whatif.replay import SETTLING_STEPS, Replayed

_OF_WORK: dict[Work, BoundName] = {
    Work.COMPUTE: "compute",
    Work.MEMSET: "compute",
    Work.D2D: "compute",
    Work.COMMUNICATION: "collectives",
    Work.H2D: "h2d",
    Work.D2H: "d2h",
    Work.P2P: "p2p",
}


def next_bound(replayed: Replayed) -> Bound:
    """What most of the longest chain of the steady steps is."""
    graph, time = replayed.graph, replayed.time_ns
    ops = graph.operations
    ends = replayed.step_ends_ns
    kernels = np.flatnonzero(ops.work == Work.COMPUTE)
    if ends.size < 2 or kernels.size == 0:
        return Bound("compute", 0)
    first = min(SETTLING_STEPS, ends.size - 2)
    since = int(ends[first])
    nodes = graph.end_of(kernels)
    node = int(nodes[np.argmax(time[nodes])])
    spent: Counter[BoundName] = Counter()
    while node != ORIGIN and time[node] > since:
        before, why = int(replayed.bound_by[node]), int(replayed.bound_why[node])
        if before == ORIGIN:
            spent["input" if why == Why.OUTSIDE else "host"] += int(time[node]) - since
            break
        spent[_what(graph, node, why)] += int(time[node]) - max(int(time[before]), since)
        node = before
    what, ns = spent.most_common(1)[0]
    return Bound(what, ns // (ends.size - 1 - first))


def _what(graph: StepGraph, node: int, why: int) -> BoundName:
    """What a link's time was spent on."""
    operation = node < 2 * len(graph.operations)
    if operation and why in (Why.LENGTH, Why.STREAM, Why.GRAPH, Why.READY):
        work = Work(int(graph.operations.work[node // 2]))
        return _OF_WORK.get(work, "compute")
    event = node // 2 - len(graph.operations)
    if not operation and why == Why.LENGTH and graph.events.kind[event] == OF_SYSTEM:
        return "input"
    return "host"
