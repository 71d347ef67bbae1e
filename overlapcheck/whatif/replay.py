"""Replays a graph: when every call and operation happens if each starts as soon as it may."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Index, Ints, Whole
from overlapcheck.errors import NoSteadySteps
from overlapcheck.order import Work
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import ORIGIN, StepGraph, Why


class Circular(NoSteadySteps):
    """Nodes wait for each other, in a way that no program can have."""

    def __init__(self, node: int) -> None:
        super().__init__(
            f"calls and operations wait for each other (node {node}): their times cannot be",
            "record it again, or judge other steps: --window",
        )


class BeyondAllClocks(NoSteadySteps):
    """Times of damaged rows, which no clock can show."""

    def __init__(self) -> None:
        super().__init__(
            "calls and operations lie beyond all clocks: their times cannot be",
            "record it again, or judge other steps: --window",
        )


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
        never = np.iinfo(np.int64).min
        ends = np.full(self.graph.steps, never, dtype=np.int64)
        np.maximum.at(ends, ops.step[kernels], self.time_ns[self.graph.end_of(kernels)])
        found: Ints = ends[ends != never]
        return found

    @property
    def step_times_ns(self) -> Ints:
        """Distances of the ends of consecutive steps, without those in which things settle."""
        distances = np.diff(self.step_ends_ns)
        return distances[min(REPLAY.settling_steps, max(distances.size - 2, 0)) :]

    @property
    def is_uneven(self) -> bool:
        """Whether few steps are so long that the median says nothing of them."""
        times = self.step_times_ns
        return (
            abs(float(np.mean(times)) / max(1.0, float(np.median(times))) - 1) > REPLAY.uneven_share
        )

    def step_ns(self, *, mean: bool) -> int:
        """The mean or the median step."""
        return int(np.mean(self.step_times_ns) if mean else np.median(self.step_times_ns))


@dataclass(frozen=True)
class _Arrows:
    """All links, those that lengths and gaps stand for among them, by the node that they end at."""

    first: list[int]
    """By node, its first arrow; one more behind the last node."""
    before: list[int]
    lag_ns: list[int]
    why: Whole

    @classmethod
    def of(cls, graph: StepGraph) -> _Arrows:
        ops, events, links = graph.operations, graph.events, graph.links
        op, event = np.arange(len(ops)), np.arange(len(events))
        follows = np.flatnonzero(events.previous != ABSENT)
        before = np.concatenate(
            (
                links.before,
                graph.start_of(op),
                graph.call_start(event),
                graph.call_end(events.previous[follows]),
            )
        )
        after = np.concatenate(
            (links.after, graph.end_of(op), graph.call_end(event), graph.call_start(follows))
        )
        lag = np.concatenate((links.lag_ns, ops.length_ns, events.own_ns, events.gap_ns[follows]))
        length = np.full(len(ops) + len(events), Why.LENGTH)
        why = np.concatenate((links.why, length, np.full(follows.size, Why.GAP)))
        order = np.argsort(after, kind="stable")
        first = np.searchsorted(after[order], np.arange(graph.nodes + 1))
        return cls(first.tolist(), before[order].tolist(), lag[order].tolist(), why[order])


def replay(graph: StepGraph) -> Replayed:
    """When each node happens.

    Every node is looked at once, after all that it waits for.

    Raises:
        Circular: nodes wait for each other.
        BeyondAllClocks: times are out of all bounds.
    """
    arrows, recorded = _Arrows.of(graph), graph.recorded_ns
    bounds = np.array(arrows.first)
    kept = (bounds[1:] == bounds[:-1]) | (recorded <= graph.origin_ns)
    # The place behind the last node, which ORIGIN (-1) names, is time 0.
    time: list[int | None] = [None] * graph.nodes
    for node in np.flatnonzero(kept).tolist():
        time[node] = int(recorded[node])
    time.append(0)
    order = np.argsort(recorded, kind="stable")
    bound_at = _run(arrows, time, graph.residual_ns.tolist(), order[~kept[order]].tolist())
    at = np.array(bound_at, dtype=np.intp)
    by = np.where(at == ABSENT, ORIGIN, np.array([*arrows.before, ORIGIN])[at])
    why = np.where(at == ABSENT, ABSENT, np.append(arrows.why, ABSENT)[at])
    try:
        found = np.array(time[:-1], dtype=np.int64)
    except OverflowError:
        raise BeyondAllClocks from None
    return Replayed(graph, found, by, why.astype(np.int64))


def _run(
    arrows: _Arrows, time: list[int | None], residual: list[int], order: list[int]
) -> list[int]:
    """Fill in the missing times.

    Args:
        arrows: what waits for what.
        time: by node; None where it is to be found.
        residual: by node.
        order: nodes without a time, about in the order in which they happen.

    Returns:
        By node, the arrow that came last; ABSENT where there is none.
    """
    first, before, lag = arrows.first, arrows.before, arrows.lag_ns
    bound = [ABSENT] * len(residual)
    waiting: set[int] = set()
    for root in order:
        stack = [root]
        while stack:
            node = stack[-1]
            if time[node] is not None:
                stack.pop()
                continue
            at = low = first[node]
            high = first[node + 1]
            try:
                best = time[before[low]] + lag[low]  # type: ignore[operator]
                for arrow in range(low + 1, high):
                    reached = time[before[arrow]] + lag[arrow]  # type: ignore[operator]
                    if reached > best:
                        best, at = reached, arrow
            except TypeError:  # one of them is not known yet, which is rare
                if node in waiting:
                    raise Circular(node) from None
                waiting.add(node)
                stack.extend(b for b in before[low:high] if time[b] is None)
                continue
            time[node] = best + residual[node]
            bound[node] = at
            stack.pop()
    return bound
