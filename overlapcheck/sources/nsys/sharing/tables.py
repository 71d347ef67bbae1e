"""What is written of an export: the columns that the reader knows, and what their texts name.

A table or column that is not listed does not leave the export. Whoever teaches the reader a column
adds it here; a whole export that is shared must give the numbers that it gave before.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from overlapcheck.sources.nsys.schemas import (
    device_work,
    host_calls,
    nvtx,
    programming_models,
    target,
    unified_memory,
)


class Named(StrEnum):
    """What a text is the name of, which says how it is shared."""

    KERNEL = "kernel"
    CALL = "call"
    OS_CALL = "OS call"
    MPI_CALL = "MPI call"
    DIRECTIVE = "directive"
    OVERHEAD = "overhead"
    RANGE = "range"
    FILE = "file"
    THREAD = "thread"


_OPERATION = (
    "start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId",
)  # fmt: skip
_EVENT = ("eventId", "eventSyncId")
_CALL = ("start", "end", "globalTid")

DEVICE_WORK: Mapping[str, tuple[str, ...]] = {
    device_work.KERNEL: (
        *_OPERATION, "shortName", "graphNodeId",
        "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
    ),
    device_work.GRAPH: _OPERATION,
    device_work.MEMCPY: (
        *_OPERATION, "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId",
        "graphNodeId",
    ),
    device_work.MEMSET: (*_OPERATION, "bytes", "graphNodeId"),
}  # fmt: skip
"""Rows that a CUDA call made, by its correlation id."""
CALLS = (*_CALL, "nameId", "correlationId", "returnValue")
OF_CALLS: Mapping[str, tuple[str, ...]] = {
    host_calls.SYNC: (
        "start", "end", "globalPid", "contextId", "streamId", "correlationId", *_EVENT,
    ),
    host_calls.EVENT: (
        "globalPid", "deviceId", "contextId", "streamId", "correlationId", *_EVENT,
    ),
}  # fmt: skip
"""Further rows of CUDA calls."""
TIMED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(host_calls.OVERHEAD_TABLES, (*_CALL, "nameId", "overheadType")),
    **dict.fromkeys(programming_models.MPI_TABLES, (*_CALL, "textId")),
    **dict.fromkeys(
        programming_models.OPENACC_TABLES + programming_models.OPENMP_TABLES,
        (*_CALL, "nameId", "srcFile", "lineNo"),
    ),
    unified_memory.GPU_FAULTS: ("start", "globalPid", "deviceId", "numberOfPageFaults"),
}
"""Rows that are known by their time alone."""
OS_CALLS = (*_CALL, "nameId")
"""Of the operating system."""
RANGES = (*_CALL, "eventType", "textId")
"""Of NVTX; beside them the name itself, where it is not registered."""
_OF_PROCESS = ("processId", "vmId", "hwId", "contextId")
TARGET: Mapping[str, tuple[str, ...]] = {
    target.STREAM: (*_OF_PROCESS, "streamId", "priority", "flag"),
    target.CONTEXT: (*_OF_PROCESS, "deviceId", "nullStreamId"),
    target.OLD_NULL_STREAM: (*_OF_PROCESS, "deviceId", "streamId"),
    target.DEVICE: ("gpuId", "cudaId", "pid"),
    "TARGET_INFO_SESSION_START_TIME": ("utcEpochNs",),
}
"""Small tables of numbers, kept whole."""
THREADS = ("nameId", "globalTid", "priority")
NAME_COLUMNS: Mapping[str, Named] = {
    **dict.fromkeys((host_calls.OSRT,), Named.OS_CALL),
    **dict.fromkeys(host_calls.OVERHEAD_TABLES, Named.OVERHEAD),
    **dict.fromkeys(programming_models.MPI_TABLES, Named.MPI_CALL),
    **dict.fromkeys(
        programming_models.OPENACC_TABLES + programming_models.OPENMP_TABLES, Named.DIRECTIVE
    ),
    device_work.KERNEL: Named.KERNEL,
    host_calls.RUNTIME: Named.CALL,
    nvtx.NVTX: Named.RANGE,
    "ThreadNames": Named.THREAD,
}
"""What the names of a table's rows are of."""
TEXT_IDS = ("shortName", "nameId", "textId")
"""Columns that may hold them."""
