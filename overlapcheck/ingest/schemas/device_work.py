"""Kernels, graph-launch blocks, copies and memsets.

Since 2020 these tables only gained columns. CUPTI_ACTIVITY_KIND_GRAPH_TRACE (one row per graph
launch) came in 2024; before, graph launches at graph granularity left no rows at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import ABSENT, Ints
from overlapcheck.ingest.schemas import enums
from overlapcheck.ingest.schemas._select import by_start, column, process, select
from overlapcheck.trace import Copies, Kernels, Memsets, Missing

if TYPE_CHECKING:
    from overlapcheck.ingest.database import Database

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
GRAPH = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"

# NOTE: CUPTI writes start = end = 0 where it could not time an operation.
_TIMED = '"end" >= start AND NOT (start = 0 AND "end" = 0)'


def _operation(db: Database, table: str) -> dict[str, str]:
    return {
        "start_ns": "start",
        "end_ns": '"end"',
        "pid": process(db, table, thread=False),
        "device_id": column(db, table, "deviceId", 0),
        "context_id": column(db, table, "contextId", 0),
        "stream_id": column(db, table, "streamId"),
        "correlation_id": column(db, table, "correlationId"),
    }


def read_kernels(db: Database) -> Kernels | Missing:
    """Kernels and graph blocks in one table, for both are work of a stream."""
    parts = []
    if db.has(KERNEL, "start", "end"):
        name = column(db, KERNEL, "shortName", ABSENT)
        grid = " * ".join(column(db, KERNEL, f"grid{axis}", 1) for axis in "XYZ")
        block = " * ".join(column(db, KERNEL, f"block{axis}", 1) for axis in "XYZ")
        extra = {
            "name_id": name,
            "grid_count": grid,
            "block_count": block,
            "graph_node_id": column(db, KERNEL, "graphNodeId"),
            "opaque": "0",
        }
        parts.append(select(db, KERNEL, _operation(db, KERNEL) | extra, _TIMED))
    if db.has(GRAPH, "start", "end"):
        constants = dict.fromkeys(("name_id", "graph_node_id"), str(ABSENT))
        constants |= dict.fromkeys(("grid_count", "block_count"), "0") | {"opaque": "1"}
        parts.append(select(db, GRAPH, _operation(db, GRAPH) | constants, _TIMED))
    if not parts:
        return Missing("kernels", "the report holds no kernel rows", "--trace=cuda")
    columns = by_start({name: np.concatenate([p[name] for p in parts]) for name in parts[0]})
    opaque = columns.pop("opaque").astype(np.bool_)
    return Kernels(**columns, opaque=opaque)


def read_copies(db: Database) -> Copies | Missing:
    """Copies with nsys's memory kinds, resolved by label where the export has labels."""
    if not db.has(MEMCPY, "start", "end"):
        return Missing("copies", "the report holds no copy rows", "--trace=cuda")
    extra = {
        "bytes": column(db, MEMCPY, "bytes", 0),
        "kind": column(db, MEMCPY, "copyKind", 0),
        "source": column(db, MEMCPY, "srcKind"),
        "destination": column(db, MEMCPY, "dstKind"),
        "source_device_id": column(db, MEMCPY, "srcDeviceId"),
        "destination_device_id": column(db, MEMCPY, "dstDeviceId"),
        "graph_node_id": column(db, MEMCPY, "graphNodeId"),
    }
    columns = by_start(select(db, MEMCPY, _operation(db, MEMCPY) | extra, _TIMED))
    columns["kind"] = enums.copy_kinds(db, columns["kind"])
    columns["source"] = enums.memory_kinds(db, columns["source"])
    columns["destination"] = enums.memory_kinds(db, columns["destination"])
    return Copies(**columns)


def read_memsets(db: Database) -> Memsets | Missing:
    """Memory sets."""
    if not db.has(MEMSET, "start", "end"):
        return Missing("memsets", "the report holds no memset rows", "--trace=cuda")
    extra = {
        "bytes": column(db, MEMSET, "bytes", 0),
        "graph_node_id": column(db, MEMSET, "graphNodeId"),
    }
    return Memsets(**by_start(select(db, MEMSET, _operation(db, MEMSET) | extra, _TIMED)))


def count_untimed(db: Database) -> int:
    """GPU rows that were left out because they carry no usable time."""
    count = 0
    for table in (KERNEL, GRAPH, MEMCPY, MEMSET):
        if db.has(table, "start", "end"):
            found: Ints = select(db, table, {"n": "count(*)"}, f"NOT ({_TIMED})")["n"]
            count += int(found[0])
    return count
