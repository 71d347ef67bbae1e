"""Rows of graph nodes that are missing, where nodes are recorded one by one.

A launch of a graph leaves a row of each kernel, copy and memset in it, so launches compare:

    launch 1    [a][b][copy]
    launch 2    [a]   [copy]        b is lost
    launch 3    [a][b][copy]

The first and the last launch may be cut in two by the edges of the recording. Only where a program
makes conditions for nodes, or turns them off, may a node be missing from most launches.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from overlapcheck.capture_problem import CaptureFault, CaptureProblem
from overlapcheck.columns import ABSENT, Codes, Ints, is_constant
from overlapcheck.grouping import distinct, groups, numbered
from overlapcheck.passes.process import ProcessTables
from overlapcheck.passes.submissions import NEVER, HandedOver, while_capturing
from overlapcheck.quantities import count_of
from overlapcheck.recorder import Content
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Missing
from overlapcheck.trace_tables import Copies, Kernels, Memsets


def lost_nodes(
    process: ProcessTables,
    work: Codes,
    missing: Mapping[HandedOver, Missing],
    limits: Thresholds,
) -> CaptureProblem | None:
    """The problem of a process whose graph launches left fewer rows than they have nodes.

    Args:
        process: one process.
        work: what each of its calls hands over.
        missing: tables that are not there at all.
        limits: how many may be lost.
    """
    tables: dict[HandedOver, Kernels | Copies | Memsets] = {
        HandedOver.KERNEL: process.kernels,
        HandedOver.COPY: process.copies,
        HandedOver.MEMSET: process.memsets,
    }
    nodes = {kind: table for kind, table in tables.items() if _any(table.graph_node_id)}
    if not nodes:
        return None
    captured = distinct(work[while_capturing(process)]).tolist()
    for kind in tables:
        if kind in captured and kind not in nodes:
            why = f": {missing[kind].why}" if kind in missing else ""
            what = f"no graph launch left a row of the {_NOUNS[kind]} in it{why}"
            return _problem(process, what)
    node, launch, start = (
        np.concatenate([getattr(table, name) for table in nodes.values()])
        for name in ("graph_node_id", "correlation_id", "start_ns")
    )
    varying = process.strings.matching(process.calls.name_id, _makes_nodes_optional)
    columns = (column[node != ABSENT] for column in (node, launch, start))
    lost, expected = _compare(*columns, varying=bool(varying.any()))
    if lost <= limits.lost_share * max(expected, 1):
        return None
    return _problem(
        process, f"{lost} of {count_of(expected, 'graph node')} launched left no row on the device"
    )


def _makes_nodes_optional(call: str) -> bool:
    return "GraphConditionalHandleCreate" in call or "NodeSetEnabled" in call


_NOUNS = {HandedOver.KERNEL: "kernels", HandedOver.COPY: "copies", HandedOver.MEMSET: "memsets"}


def _problem(process: ProcessTables, what: str) -> CaptureProblem:
    return process.problem(CaptureFault.GRAPH_LAUNCHES_INVISIBLE, what, Content.ALL_ROWS)


def _compare(node: Ints, launch: Ints, start: Ints, *, varying: bool) -> tuple[int, int]:
    """Rows that are missing, and rows that there should be.

    Args:
        node: id of the graph's node of each row.
        launch: id of its launch.
        start: when it began.
        varying: whether nodes may be left out by a launch; then only those that most ran count.
    """
    first, pair = groups(node, launch)
    begin = np.full(first.size, NEVER, dtype=np.int64)
    np.minimum.at(begin, pair, start)
    node, launch = node[first], launch[first]
    lost = expected = 0
    # The upper half of a node's id is its graph's.
    graph = node >> 32
    for number in distinct(graph).tolist():
        mine = graph == number
        launches, at = numbered(launch[mine])
        began = np.full(launches.size, NEVER, dtype=np.int64)
        np.minimum.at(began, at, begin[mine])
        whole = np.ones(launches.size, dtype=bool)
        whole[[int(began.argmin()), int(began.argmax())]] = False
        ran = np.bincount(numbered(node[mine])[1], weights=whole[at])
        usual = ran * 2 > whole.sum() if varying else np.ones(ran.size, dtype=bool)
        there_should_be = int(usual.sum() * whole.sum())
        expected += there_should_be
        lost += there_should_be - int(ran[usual].sum())
    return lost, expected


def _any(node: Ints) -> bool:
    return node.size > 0 and bool((node[0] if is_constant(node) else node.max()) != ABSENT)
