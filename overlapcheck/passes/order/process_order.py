"""The order of a process: all its operations, and all edges between them with their proof."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import Index, Mask
from overlapcheck.grouping import distinct
from overlapcheck.order import Operations, Order, Relation
from overlapcheck.passes.order.adjacency import adjacent, graph_order
from overlapcheck.passes.order.candidates import Pairs, StreamNumbers, edges
from overlapcheck.passes.order.dependencies import run_begins
from overlapcheck.passes.order.device_order import null_stream_barriers, same_engine
from overlapcheck.passes.order.event_waits import Finder, event_waits
from overlapcheck.passes.order.host_waits import host_waits
from overlapcheck.passes.order.operations import operations
from overlapcheck.passes.order.stream_order import stream_order
from overlapcheck.passes.process import ProcessTables
from overlapcheck.selection import Selection
from overlapcheck.thresholds import Thresholds


class Orders:
    """The order of each process, found when it is first asked for."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._found: dict[int, Order] = {}

    def of(self, process: ProcessTables) -> Order:
        """The order of a process."""
        if process.number not in self._found:
            names = process.kernels.name_id
            communication = process.strings.matching(names, self._selection.is_communication)
            limits = self._selection.thresholds
            self._found[process.number] = process_order(process, communication, limits)
        return self._found[process.number]


def process_order(process: ProcessTables, communication: Mask, limits: Thresholds) -> Order:
    """The operations of a process and the edges between them.

    Args:
        process: its tables.
        communication: which of its kernels are communication, shape (kernels,).
        limits: what counts as adjacent.
    """
    ops = operations(process, communication)
    numbers = StreamNumbers(ops)
    find = Finder(process, ops, numbers)
    events = event_waits(find)
    devices = [(_rows(ops, device_id)) for device_id in distinct(ops.device_id).tolist()]
    barriers, inferred, engines, graphs = [], [], [], []
    for rows in devices:
        own = ops if rows is None else ops.rows(rows)
        waiting = _within(events.waiting, rows)
        barriers.append(null_stream_barriers(process, own, numbers).on_rows(rows))
        inferred.append(adjacent(own, waiting, limits).on_rows(rows))
        engines.append(same_engine(own, limits).on_rows(rows))
        graphs.append(graph_order(own, process.call_kind, limits).on_rows(rows))
    if len(devices) > 1:
        # What no operation of its own device released may have waited for another device.
        released = np.concatenate([pairs.after for pairs in inferred])
        alone = np.setdiff1d(events.waiting, released)
        inferred.append(adjacent(ops, alone, limits))
    known = edges(
        [
            (Relation.STREAM, False, stream_order(ops)),
            (Relation.EVENT, False, events.exact),
            (Relation.NULL_STREAM, False, Pairs.joined(barriers)),
            (Relation.EVENT, True, Pairs.joined(inferred)),
            (Relation.GRAPH, True, Pairs.joined(graphs)),
            (Relation.ENGINE, True, Pairs.joined(engines)),
            (Relation.HOST, False, host_waits(find)),
        ]
    )
    return Order(ops, known, run_begins(ops, known, limits))


def _rows(ops: Operations, device_id: int) -> Index | None:
    """Rows that occupy a device; None for all."""
    mine = ops.on_device(device_id)
    return None if mine.all() else np.flatnonzero(mine)


def _within(rows: Index, device: Index | None) -> Index:
    """Where some ascending rows stand among those of a device, which are left out else."""
    if device is None:
        return rows
    at = np.searchsorted(device, rows)
    inside = at < device.size
    found: Index = at[inside][device[at[inside]] == rows[inside]]
    return found
