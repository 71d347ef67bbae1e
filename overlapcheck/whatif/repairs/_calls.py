"""Calls that are not made any more."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import Index
from overlapcheck.step_graph import StepGraph, Why
from overlapcheck.whatif.repair import into


def without_calls(graph: StepGraph, event: Index) -> StepGraph:
    """The graph in which some calls take no time and wait for nothing."""
    ends = graph.call_end(event)
    graph = graph.without_links(into(graph, ends, Why.WAIT, Why.QUEUE, Why.HAND_OFF))
    none = np.zeros(event.size, dtype=np.int64)
    return graph.with_own_time(event, none).without_residual(ends)
