"""What ran where: devices, contexts, streams, processes and threads.

The null stream is named by TARGET_INFO_CUDA_NULL_STREAM up to 2023.3 and by
TARGET_INFO_CUDA_CONTEXT_INFO.nullStreamId from 2023.4; trimmed exports have neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.kinds import DeviceKey
from overlapcheck.recorder import Content
from overlapcheck.sources.nsys.processes import process_key, system_pid
from overlapcheck.sources.nsys.schemas import enums
from overlapcheck.sources.nsys.schemas.select import column, integers, select, text, texts
from overlapcheck.trace import Gpu, Missing
from overlapcheck.trace_tables import Contexts, Streams

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlapcheck.sources.nsys.database import Database

STREAM = "TARGET_INFO_CUDA_STREAM"
CONTEXT = "TARGET_INFO_CUDA_CONTEXT_INFO"
OLD_NULL_STREAM = "TARGET_INFO_CUDA_NULL_STREAM"
GPU = "TARGET_INFO_GPU"
OLD_GPU = "TARGET_INFO_CUDA_GPU"
DEVICE = "TARGET_INFO_CUDA_DEVICE"

_UINT32 = 1 << 32


def _process_of_target(db: Database, table: str) -> str:
    """SQL for the process key from the split ids (processId, vmId, hwId) of target tables."""
    vm = column(db, table, "vmId", 0)
    hardware = column(db, table, "hwId", 0)
    # hwId is the top byte of a signed 64-bit globalPid, so 128 and up shift down negative.
    signed = f"(CASE WHEN {hardware} >= 128 THEN {hardware} - 256 ELSE {hardware} END)"
    return f"processId | ({vm} << 24) | ({signed} << 32)"


def read_streams(db: Database) -> Streams | Missing:
    """Streams with priority and kind."""
    if not db.has(STREAM, "streamId", "processId", "contextId"):
        return Missing(Content.STREAMS, "the report holds no stream rows")
    columns = select(
        db,
        STREAM,
        {
            "process": _process_of_target(db, STREAM),
            "context_id": "contextId",
            "stream_id": "streamId",
            "priority": column(db, STREAM, "priority", 0),
            "kind": column(db, STREAM, "flag", 0),
        },
    )
    priority = columns["priority"]  # a signed int, exported as uint32
    columns["priority"] = np.where(priority >= _UINT32 // 2, priority - _UINT32, priority)
    columns["kind"] = enums.stream_kinds(columns["kind"])
    return Streams(**columns)


def read_contexts(db: Database) -> Contexts | Missing:
    """Null stream of each context."""
    for table, stream in ((CONTEXT, "nullStreamId"), (OLD_NULL_STREAM, "streamId")):
        if db.has(table, stream, "processId", "contextId"):
            return Contexts(
                **select(
                    db,
                    table,
                    {
                        "process": _process_of_target(db, table),
                        "device_id": column(db, table, "deviceId", 0),
                        "context_id": "contextId",
                        "null_stream_id": column(db, table, stream),
                    },
                )
            )
    return Missing(Content.CONTEXTS, "the report does not name the null stream")


def read_gpus(db: Database) -> tuple[Gpu, ...]:
    """Devices with name, and what they have of copy engines and multiprocessors."""
    for table, number in ((GPU, "id"), (GPU, "deviceId"), (OLD_GPU, "deviceId")):
        if db.has(table, number):
            engines = "asyncEngines" if table == GPU else "numMemcpyEngines"
            name = text("name" if db.has(table, "name") else "NULL")
            rows = db.query(
                f"SELECT {number} AS id, {name} AS name,"
                f" {column(db, table, engines, 0)} AS engines,"
                f" {column(db, table, 'smCount', 0)} AS multiprocessors,"
                f" {column(db, table, 'computeMajor', 0)} AS capability"
                f' FROM "{db.resolve(table)}"'
            )
            found = zip(
                integers(rows, "id").tolist(),
                texts(rows, "name"),
                *(
                    [number or None for number in integers(rows, name).tolist()]
                    for name in ("engines", "multiprocessors", "capability")
                ),
                strict=True,
            )
            return tuple(Gpu(*values) for values in found)
    return ()


def read_gpu_of(db: Database, shifted_pids: Iterable[int]) -> dict[DeviceKey, int]:
    """GPU number for each (process, CUDA device number), where CUDA_VISIBLE_DEVICES renumbers."""
    if not db.has(DEVICE, "gpuId", "cudaId", "pid"):
        return {}
    table = select(db, DEVICE, {"gpu": column(db, DEVICE, "gpuId"), "cuda": "cudaId", "pid": "pid"})
    known = {system_pid(shifted): process_key(shifted) for shifted in shifted_pids}
    rows = zip(table["pid"].tolist(), table["cuda"].tolist(), table["gpu"].tolist(), strict=True)
    return {
        DeviceKey(known[system_pid(pid)].pid, cuda, known[system_pid(pid)].host): gpu
        for pid, cuda, gpu in rows
        if system_pid(pid) in known and gpu >= 0
    }


def read_process_names(db: Database, shifted_pids: Iterable[int]) -> dict[int, str]:
    """Executable of each traced process; nsys lists every process of the machine."""
    if not db.has("PROCESSES", "globalPid", "name"):
        return {}
    wanted = set(shifted_pids)
    rows = db.query(
        f"SELECT ifnull(globalPid >> 24, -1) AS pid, {text('name')} AS name FROM PROCESSES"
    )
    pairs = zip(integers(rows, "pid").tolist(), texts(rows, "name"), strict=True)
    return {pid: name for pid, name in pairs if pid in wanted}


def read_thread_name_ids(db: Database, shifted_pids: Iterable[int]) -> dict[tuple[int, int], int]:
    """Name id of each thread; the last name given to a thread wins."""
    if not db.has("ThreadNames", "nameId", "globalTid"):
        return {}
    columns = select(
        db,
        "ThreadNames",
        {
            "process": "globalTid >> 24",
            "tid": "globalTid & 16777215",
            "name_id": "nameId",
            "priority": column(db, "ThreadNames", "priority", 0),
        },
        "globalTid IS NOT NULL",
    )
    order = np.lexsort((columns["name_id"], columns["priority"]))
    rows = ((columns["process"][i], columns["tid"][i], columns["name_id"][i]) for i in order)
    wanted = set(shifted_pids)
    return {(int(p), int(t)): int(n) for p, t, n in rows if int(p) in wanted}
