"""Orders that no row proves: an operation started just when another one had ended."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Codes, Index
from overlapcheck.grouping import ordered
from overlapcheck.order import Operations
from overlapcheck.passes.order.candidates import Pairs
from overlapcheck.searches import last_at_or_before, taken
from overlapcheck.thresholds import Thresholds


def adjacent(ops: Operations, waiting: Index, limits: Thresholds) -> Pairs:
    """For waits without a known record: the operation whose end released the waiting one.

    It was launched before (or while) the wait was made, runs in another stream, and ended just
    before the waiting operation started.
    """
    return _released(ops, waiting, limits, in_graph=False)


def graph_order(ops: Operations, kinds: Codes, limits: Thresholds) -> Pairs:
    """The same between the nodes of one graph launch, whose edges are not recorded.

    Args:
        ops: operations of one device.
        kinds: ApiKind of each call of the process.
        limits: what counts as adjacent.
    """
    node = np.flatnonzero(taken(kinds, ops.call, ApiKind.OTHER) == ApiKind.GRAPH_LAUNCH)
    if node.size == 0:
        return Pairs.none()
    by_call = node[ordered(ops.call[node])]
    call, stream = ops.call[by_call], ops.stream[by_call]
    first = np.flatnonzero(np.append(True, call[1:] != call[:-1]))
    several = np.minimum.reduceat(stream, first) != np.maximum.reduceat(stream, first)
    branched = np.repeat(several, np.diff(np.append(first, call.size)))
    return _released(ops, np.sort(by_call[branched]), limits, in_graph=True)


def _released(ops: Operations, waiting: Index, limits: Thresholds, *, in_graph: bool) -> Pairs:
    if waiting.size == 0:
        return Pairs.none()
    by_end = ordered(ops.end_ns)
    at = last_at_or_before(ops.end_ns[by_end], ops.start_ns[waiting] + limits.clock_slack_ns)
    found = np.full(waiting.shape, ABSENT, dtype=np.intp)
    for _ in range(limits.adjacent_tries):
        row = by_end[np.maximum(at, 0)]
        same_call = ops.call[row] == ops.call[waiting]
        earlier = ops.launch_start_ns[row] < ops.launch_start_ns[waiting]
        fits = (
            (found == ABSENT)
            & (at >= 0)
            & (ops.stream[row] != ops.stream[waiting])
            & (same_call if in_graph else earlier)
            & (ops.start_ns[waiting] - ops.end_ns[row] <= limits.start_latency_ns)
        )
        found[fits] = row[fits]
        at = at - 1
    hit = found != ABSENT
    return Pairs.of(waiting[hit], found[hit])
