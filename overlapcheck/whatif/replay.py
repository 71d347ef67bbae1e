"""Replays a graph: when every call and operation happens if each starts as soon as it may."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Index, Ints
from overlapcheck.order import Work
from overlapcheck.step_graph import ORIGIN, StepGraph, Why

SETTLING_STEPS = 2
"""Steps until a change has worked through queues and buffers; they are not counted."""


@dataclass(frozen=True)
class Replayed:
    """A replay's times."""

    graph: StepGraph
    time_ns: Ints
    """By node."""
    bound_by: Index
    """By node, the node that came last; ORIGIN where the recorded time was kept."""
    bound_why: Ints
    """By node, the Why of that link."""

    @property
    def step_ends_ns(self) -> Ints:
        """When the last kernel of each step ended."""
        ops = self.graph.operations
        kernels = np.flatnonzero((ops.work == Work.COMPUTE) & (ops.step != ABSENT))
        ends = np.full(self.graph.steps, np.iinfo(np.int64).min)
        np.maximum.at(ends, ops.step[kernels], self.time_ns[self.graph.end_of(kernels)])
        return ends[ends != np.iinfo(np.int64).min]

    @property
    def step_times_ns(self) -> Ints:
        """Distances of the ends of consecutive steps, without those in which things settle."""
        distances = np.diff(self.step_ends_ns)
        return distances[min(SETTLING_STEPS, max(distances.size - 2, 0)) :]

    @property
    def step_ns(self) -> int:
        """The median step."""
        return int(np.median(self.step_times_ns))

    @property
    def mean_step_ns(self) -> int:
        """The mean step."""
        return int(np.mean(self.step_times_ns))


def replay(graph: StepGraph) -> Replayed:
    """When each node happens.

    Every node is looked at once, after all that it waits for.

    Raises:
        ValueError: nodes wait for each other in a circle.
    """
    before, after, lag, why = _all_links(graph)
    order = np.argsort(after, kind="stable")
    first = np.searchsorted(after[order], np.arange(graph.nodes + 1)).tolist()
    before_of, lag_of, why_of = before[order].tolist(), lag[order].tolist(), why[order].tolist()
    recorded, residual = graph.recorded_ns.tolist(), graph.residual_ns.tolist()
    time: list[int | None] = [None] * graph.nodes
    bound, sort = [ORIGIN] * graph.nodes, [ABSENT] * graph.nodes
    origin, waiting = graph.origin_ns, bytearray(graph.nodes)
    for root in np.argsort(graph.recorded_ns, kind="stable").tolist():
        stack = [root]
        while stack:
            node = stack[-1]
            if time[node] is not None:
                stack.pop()
                continue
            low, high = first[node], first[node + 1]
            if low == high or recorded[node] <= origin:
                time[node] = recorded[node]
                stack.pop()
                continue
            unknown = [b for b in before_of[low:high] if b != ORIGIN and time[b] is None]
            if unknown:
                if waiting[node]:
                    raise ValueError(f"node {node} waits for itself")
                waiting[node] = 1
                stack.extend(unknown)
                continue
            best, at = None, low
            for link in range(low, high):
                b = before_of[link]
                known = 0 if b == ORIGIN else time[b]
                reached = (known or 0) + lag_of[link]
                if best is None or reached > best:
                    best, at = reached, link
            time[node] = (best or 0) + residual[node]
            bound[node], sort[node] = before_of[at], why_of[at]
            stack.pop()
    return Replayed(
        graph, np.array(time, dtype=np.int64), np.array(bound), np.array(sort, dtype=np.int64)
    )


def _all_links(graph: StepGraph) -> tuple[Ints, Ints, Ints, Ints]:
    """The graph's links, and those that lengths and gaps stand for."""
    ops, events, links = graph.operations, graph.events, graph.links
    op, event = np.arange(len(ops)), np.arange(len(events))
    follows = np.flatnonzero(events.previous != ABSENT)
    before = (
        links.before,
        graph.start_of(op),
        graph.call_start(event),
        graph.call_end(events.previous[follows]),
    )
    after = (links.after, graph.end_of(op), graph.call_end(event), graph.call_start(follows))
    lag = (links.lag_ns, ops.length_ns, events.own_ns, events.gap_ns[follows])
    own = np.full(len(ops) + len(events), Why.LENGTH)
    why = (links.why, own, np.full(follows.size, Why.GAP))
    return np.concatenate(before), np.concatenate(after), np.concatenate(lag), np.concatenate(why)
