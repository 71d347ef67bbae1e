"""Kernels, graph-launch blocks, copies and memsets.

Since 2020 these tables only gained columns. CUPTI_ACTIVITY_KIND_GRAPH_TRACE (one row per graph
launch) came in 2024; before, graph launches at graph granularity left no rows at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import ABSENT, Ints, compact, constant
from overlapcheck.ingest.schemas import enums
from overlapcheck.ingest.schemas._select import (
    ANY_PROCESS,
    TIMES,
    Source,
    by_start,
    fetch,
    joined,
    kept,
)
from overlapcheck.trace import Copies, Kernels, Memsets, Missing

if TYPE_CHECKING:
    from overlapcheck.ingest.database import Database

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
GRAPH = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"

_OPERATION = TIMES | {
    "pid": Source("globalPid", ABSENT, ANY_PROCESS << 24),
    "device_id": Source("deviceId", 0),
    "context_id": Source("contextId", 0),
    "stream_id": Source("streamId"),
    "correlation_id": Source("correlationId"),
}
_GRID = ("gridX", "gridY", "gridZ")
_BLOCK = ("blockX", "blockY", "blockZ")


def _operations(db: Database, table: str, extra: dict[str, Source]) -> dict[str, Ints]:
    """Rows with a usable time: CUPTI writes start = end = 0 where it could not take one."""
    columns = fetch(db, table, _OPERATION | extra)
    start, end = columns["start_ns"], columns["end_ns"]
    columns = kept(columns, (end >= start) & ((start != 0) | (end != 0)))
    columns["pid"] = compact(columns["pid"] >> 24)
    return columns


def read_kernels(db: Database) -> Kernels | Missing:
    """Kernels and graph blocks in one table, for both are work of a stream."""
    parts = []
    if db.has(KERNEL, "start", "end"):
        parts.append(_kernels(db))
    if db.has(GRAPH, "start", "end"):
        blocks = _operations(db, GRAPH, {})
        count = blocks["start_ns"].size
        blocks |= dict.fromkeys(("name_id", "graph_node_id"), constant(ABSENT, count))
        blocks |= dict.fromkeys(("grid_count", "block_count"), constant(0, count))
        parts.append(blocks | {"opaque": constant(1, count)})
    if not parts:
        return Missing("kernels", "the report holds no kernel rows", "--trace=cuda")
    columns = by_start(joined(parts))
    opaque = compact(columns.pop("opaque").astype(np.bool_))
    return Kernels(**columns, opaque=opaque)


def _kernels(db: Database) -> dict[str, Ints]:
    extra = {"name_id": Source("shortName"), "graph_node_id": Source("graphNodeId")}
    columns = _operations(db, KERNEL, extra | {axis: Source(axis, 1) for axis in (*_GRID, *_BLOCK)})
    for name, axes in (("grid_count", _GRID), ("block_count", _BLOCK)):
        x, y, z = (columns.pop(axis) for axis in axes)
        columns[name] = compact(x * y * z)
    return columns | {"opaque": constant(0, columns["start_ns"].size)}


def read_copies(db: Database) -> Copies | Missing:
    """Copies with nsys's memory kinds, resolved by label where the export has labels."""
    if not db.has(MEMCPY, "start", "end"):
        return Missing("copies", "the report holds no copy rows", "--trace=cuda")
    extra = {
        "bytes": Source("bytes", 0),
        "kind": Source("copyKind", 0),
        "source": Source("srcKind"),
        "destination": Source("dstKind"),
        "source_device_id": Source("srcDeviceId"),
        "destination_device_id": Source("dstDeviceId"),
        "graph_node_id": Source("graphNodeId"),
    }
    columns = by_start(_operations(db, MEMCPY, extra))
    columns["kind"] = enums.copy_kinds(db, columns["kind"])
    columns["source"] = enums.memory_kinds(db, columns["source"])
    columns["destination"] = enums.memory_kinds(db, columns["destination"])
    return Copies(**columns)


def read_memsets(db: Database) -> Memsets | Missing:
    """Memory sets."""
    if not db.has(MEMSET, "start", "end"):
        return Missing("memsets", "the report holds no memset rows", "--trace=cuda")
    extra = {"bytes": Source("bytes", 0), "graph_node_id": Source("graphNodeId")}
    return Memsets(**by_start(_operations(db, MEMSET, extra)))


def count_untimed(db: Database, timed_rows: int) -> int:
    """GPU rows that were left out because they carry no usable time.

    Args:
        db: the export.
        timed_rows: GPU rows that were read.
    """
    tables = [t for t in (KERNEL, GRAPH, MEMCPY, MEMSET) if db.has(t, "start", "end")]
    return sum(db.count(db.resolve(table) or table) for table in tables) - timed_rows
