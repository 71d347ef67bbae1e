"""Kernels, graph-launch blocks, copies and memsets.

Since 2020 these tables only gained columns. CUPTI_ACTIVITY_KIND_GRAPH_TRACE (one row per graph
launch) came in 2024; before, graph launches at graph granularity left no rows at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import ABSENT, Ints, compact, constant
from overlapcheck.recorder import Content
from overlapcheck.sources.nsys.processes import ANY_PROCESS
from overlapcheck.sources.nsys.schemas import enums
from overlapcheck.sources.nsys.schemas.select import (
    TIMES,
    Source,
    by_start,
    fetch,
    ids,
    joined,
    kept,
)
from overlapcheck.trace import Missing
from overlapcheck.trace_tables import Copies, Kernels, Memsets

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database
    from overlapcheck.sources.nsys.excerpt import Excerpt, Keep

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
GRAPH = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"

_OPERATION = TIMES | {
    "process": Source("globalPid", ABSENT, ANY_PROCESS << 24),
    "device_id": Source("deviceId", 0),
    "context_id": Source("contextId", 0),
    "stream_id": Source("streamId"),
    "correlation_id": Source("correlationId"),
}
_NO_KERNELS = Missing(Content.KERNELS, f"no table {KERNEL}")
_LATEST = TIMES["start_ns"].null
_GRID = ("gridX", "gridY", "gridZ")
_BLOCK = ("blockX", "blockY", "blockZ")


@dataclass(frozen=True)
class DeviceWork:
    """What ran on devices."""

    kernels: Kernels | Missing
    copies: Copies | Missing
    memsets: Memsets | Missing
    untimed: int
    """Rows that were left out because they carry no time."""
    backward: int = 0
    """Rows that were left out because they end before they start."""
    single_kernels: Missing | None = None
    """Why there are blocks of whole graphs alone, where it is so."""


def read_device_work(db: Database, excerpt: Excerpt | None = None) -> DeviceWork:
    """All of it, or what touches an excerpt."""
    reader = _Reader(db, excerpt.device_work if excerpt else None)
    kernels, copies, memsets = reader.kernels(), reader.copies(), reader.memsets()
    missing = None if db.has(KERNEL, "start", "end") else _NO_KERNELS
    return DeviceWork(kernels, copies, memsets, reader.untimed, reader.backward, missing)


def span_ns(db: Database) -> tuple[int, int] | None:
    """First start and last end of kernels; None where there are none."""
    for table in (KERNEL, GRAPH):
        if db.has(table, "start", "end"):
            times = fetch(db, table, TIMES)
            timed = times["end_ns"] > 0
            if timed.any():
                return int(times["start_ns"][timed].min()), int(times["end_ns"].max())
    return None


class _Reader:
    """Reads the tables, and counts what has no usable time."""

    def __init__(self, db: Database, keep: Keep | None) -> None:
        self._db = db
        self._keep = keep
        self.untimed = 0
        self.backward = 0

    def _operations(self, table: str, extra: dict[str, Source]) -> dict[str, Ints]:
        """Rows with a usable time: CUPTI writes start = end = 0 where it could not take one."""
        columns = fetch(self._db, table, _OPERATION | extra, self._keep)
        start, end = columns["start_ns"], columns["end_ns"]
        usable = (end >= start) & ((start != 0) | (end != 0))
        dropped = ~usable
        if dropped.any():
            start, end = start[dropped], end[dropped]
            timed = (end < start) & (start != _LATEST) & (end != 0) & (end != -_LATEST)
            self.backward += int(np.count_nonzero(timed))
            self.untimed += int(np.count_nonzero(~timed))
        columns = kept(columns, usable)
        # Migrations of unified memory have a stream 0, too: they run on none.
        ids(columns, "stream_id", "correlation_id")
        columns["process"] = compact(columns["process"] >> 24)
        return columns

    def kernels(self) -> Kernels | Missing:
        """Kernels and graph blocks in one table, for both are work of a stream."""
        parts = []
        if self._db.has(KERNEL, "start", "end"):
            parts.append(self._kernels())
        if self._db.has(GRAPH, "start", "end"):
            blocks = self._operations(GRAPH, {})
            count = blocks["start_ns"].size
            blocks |= dict.fromkeys(("name_id", "graph_node_id"), constant(ABSENT, count))
            blocks |= dict.fromkeys(("grid_count", "block_count"), constant(0, count))
            parts.append(blocks | {"opaque": constant(1, count)})
        if not parts:
            return _NO_KERNELS
        columns = by_start(joined(parts))
        opaque = compact(columns.pop("opaque").astype(np.bool_))
        return Kernels(**columns, opaque=opaque)

    def _kernels(self) -> dict[str, Ints]:
        extra = {"name_id": Source("shortName"), "graph_node_id": Source("graphNodeId")}
        columns = self._operations(
            KERNEL, extra | {axis: Source(axis, 1) for axis in (*_GRID, *_BLOCK)}
        )
        for name, axes in (("grid_count", _GRID), ("block_count", _BLOCK)):
            x, y, z = (columns.pop(axis) for axis in axes)
            columns[name] = compact(x * y * z)
        return columns | {"opaque": constant(0, columns["start_ns"].size)}

    def copies(self) -> Copies | Missing:
        """Copies with nsys's memory kinds, resolved by label where the export has labels."""
        if not self._db.has(MEMCPY, "start", "end"):
            return Missing(Content.COPIES, f"no table {MEMCPY}")
        extra = {
            "bytes": Source("bytes", 0),
            "kind": Source("copyKind", 0),
            "source": Source("srcKind"),
            "destination": Source("dstKind"),
            "source_device_id": Source("srcDeviceId"),
            "destination_device_id": Source("dstDeviceId"),
            "graph_node_id": Source("graphNodeId"),
        }
        columns = by_start(self._operations(MEMCPY, extra))
        columns["kind"] = enums.copy_kinds(self._db, columns["kind"])
        columns["source"] = enums.memory_kinds(self._db, columns["source"])
        columns["destination"] = enums.memory_kinds(self._db, columns["destination"])
        return Copies(**columns)

    def memsets(self) -> Memsets | Missing:
        """Memory sets."""
        if not self._db.has(MEMSET, "start", "end"):
            return Missing(Content.MEMSETS, f"no table {MEMSET}")
        extra = {"bytes": Source("bytes", 0), "graph_node_id": Source("graphNodeId")}
        return Memsets(**by_start(self._operations(MEMSET, extra)))
