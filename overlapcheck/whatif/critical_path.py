"""What a step's length is made of: the chain of things of which each waited for the one before."""

from __future__ import annotations

from typing import get_args

import numpy as np

from overlapcheck.columns import Index, Ints
from overlapcheck.order import Work
from overlapcheck.prediction import Bound, BoundName
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import OF_SYSTEM, ORIGIN, StepGraph, Why
from overlapcheck.whatif.replay import Replayed

_NAMES: tuple[BoundName, ...] = get_args(BoundName)
_OF_WORK: dict[Work, BoundName] = {
    Work.COMMUNICATION: "collectives",
    Work.H2D: "h2d",
    Work.D2H: "d2h",
    Work.P2P: "p2p",
    Work.MIGRATION: "h2d",  # which way pages go is not kept; most go to the device
}
"""All other work of the device is compute."""
_RUNS = (Why.LENGTH, Why.STREAM, Why.GRAPH, Why.READY)
"""Links into an operation in whose time the device works."""


def next_bound(replayed: Replayed) -> Bound:
    """What most of the longest chain of the steady steps is."""
    graph, time = replayed.graph, replayed.time_ns
    ops, ends = graph.operations, replayed.step_ends_ns
    kernels = np.flatnonzero(ops.work == Work.COMPUTE)
    if ends.size < 2 or kernels.size == 0:
        return Bound("compute", 0)
    first = min(REPLAY.settling_steps, ends.size - 2)
    since = int(ends[first])
    nodes = graph.end_of(kernels)
    path = _path(replayed, int(nodes[np.argmax(time[nodes])]), since)
    before = replayed.bound_by[path]
    began = np.where(before == ORIGIN, since, np.maximum(time[before], since))
    sort = _sorts(graph, path, replayed.bound_why[path])
    sort[(before == ORIGIN) & (replayed.bound_why[path] == Why.OUTSIDE)] = _NAMES.index("input")
    spent = np.bincount(sort, weights=time[path] - began, minlength=len(_NAMES))
    most = int(np.argmax(spent))
    return Bound(_NAMES[most], int(spent[most]) // (ends.size - 1 - first))


def _path(replayed: Replayed, last: int, since: int) -> Index:
    """The nodes of which each waited for the next, as far as they lie in a part of the time."""
    before, time = replayed.bound_by.tolist(), replayed.time_ns.tolist()
    path, node = [], last
    while node != ORIGIN and time[node] > since:
        path.append(node)
        node = before[node]
    return np.array(path, dtype=np.intp)


def _sorts(graph: StepGraph, path: Index, why: Ints) -> Ints:
    """Place among the names of what each node's time was spent on."""
    half = 2 * len(graph.operations)
    work_names = np.full(len(Work), _NAMES.index("compute"))
    for work, name in _OF_WORK.items():
        work_names[work] = _NAMES.index(name)
    found = np.full(path.size, _NAMES.index("host"))
    runs = np.flatnonzero((path < half) & np.isin(why, _RUNS))
    found[runs] = work_names[graph.operations.work[path[runs] // 2]]
    calls = np.flatnonzero((path >= half) & (why == Why.LENGTH))
    system = graph.events.kind[(path[calls] - half) // 2] == OF_SYSTEM
    found[calls[system]] = _NAMES.index("input")
    return found
