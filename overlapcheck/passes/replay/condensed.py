"""Leaves out calls that nothing hangs on: they become part of the gap before the next call.

before   [ launch ]gap[ query ]gap[ launch ]
after    [ launch ]...... gap .....[ launch ]
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Index, Ints, Mask
from overlapcheck.grouping import ordered
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.searches import taken
from overlapcheck.step_graph import HostEvents, StepGraph

_CONCERN_REPAIRS = (
    *(ApiKind.SYNC, ApiKind.SYNC_COPY, ApiKind.ALLOCATION, ApiKind.MODULE_LOAD),
    *(ApiKind.GRAPH_BUILD, ApiKind.CAPTURE),
)


def condensed(graph: StepGraph) -> StepGraph:
    """The graph with as few host events as give the same times."""
    events = graph.events
    keep = _kept(graph)
    number = np.where(keep, np.cumsum(keep) - 1, ABSENT)
    rows = np.flatnonzero(keep)
    previous, gap = _chained(events, rows)
    fewer = replace(
        events.rows(rows), previous=taken(number, previous, ABSENT).astype(np.int32), gap_ns=gap
    )
    half = 2 * len(graph.operations)
    node = np.arange(graph.nodes)
    of_event = (node[half:] - half) // 2
    node[half:] = np.where(keep[of_event], half + 2 * number[of_event] + node[half:] % 2, ABSENT)
    links = graph.links
    ops = replace(
        graph.operations, event=taken(number, graph.operations.event, ABSENT).astype(np.int32)
    )
    return replace(
        graph,
        operations=ops,
        events=fewer,
        links=replace(
            links,
            before=taken(node, links.before, ABSENT).astype(np.int32),
            after=node[links.after].astype(np.int32),
        ),
        residual_ns=graph.residual_ns[node != ABSENT],
    )


def _kept(graph: StepGraph) -> Mask:
    """Events that begin a thread, hand over, wait or are waited for, or that a repair concerns."""
    events, half = graph.events, 2 * len(graph.operations)
    keep: Mask = events.previous == ABSENT
    keep |= events.end_ns - events.start_ns > REPLAY.concerns_repair_ns
    keep |= np.isin(events.kind, _CONCERN_REPAIRS)
    handed = graph.operations.event
    keep[handed[handed != ABSENT]] = True
    ends = np.concatenate((graph.links.before, graph.links.after))
    keep[(ends[ends >= half] - half) // 2] = True
    return keep


def _chained(events: HostEvents, rows: Index) -> tuple[Ints, Ints]:
    """The event before each kept one, and the gap with what is left out in between."""
    order = ordered(events.tid)
    reached = np.empty(len(events), dtype=np.int64)
    reached[order] = np.cumsum((events.own_ns + events.gap_ns)[order])
    previous = np.full(len(events), ABSENT, dtype=np.int64)
    kept = np.zeros(len(events), dtype=bool)
    kept[rows] = True
    mine = order[kept[order]]
    same = events.tid[mine[1:]] == events.tid[mine[:-1]]
    previous[mine[1:][same]] = mine[:-1][same]
    before = previous[rows]
    gap = reached[rows] - events.own_ns[rows] - taken(reached, before, 0)
    return before, np.where(before == ABSENT, events.gap_ns[rows], gap)
