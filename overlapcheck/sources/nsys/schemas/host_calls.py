"""CUDA calls, synchronisations, event records, OS calls and the profiler's own overhead.

CUDA runtime and driver calls share one table in every version. Names carry an ABI suffix
(cudaMemcpyAsync_v3020) and, with per-thread default streams, _ptsz or _ptds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import ABSENT, Index, Ints, compact
from overlapcheck.grouping import distinct, numbered, ordered, repeated
from overlapcheck.recorder import Content
from overlapcheck.sources.nsys.processes import ANY_PROCESS
from overlapcheck.sources.nsys.schemas.select import (
    TIMES,
    Source,
    by_start,
    by_start_outer_first,
    fetch,
    ids,
    joined,
    kept,
    split_thread,
)
from overlapcheck.trace import Missing
from overlapcheck.trace_tables import ApiCalls, EventRecords, OsCalls, Overheads, Syncs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overlapcheck.sources.nsys.database import Database
    from overlapcheck.sources.nsys.excerpt import Keep

RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
SYNC = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
EVENT = "CUPTI_ACTIVITY_KIND_CUDA_EVENT"
OSRT = "OSRT_API"
OVERHEAD_TABLES = ("PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD")

_NOT_APPLICABLE = 4294967295
_ABI_SUFFIX = re.compile(r"(_v\d+)?(_ptsz|_ptds)?(_v\d+)?$")
# Loading and JIT compiling happen with or without a profiler (ENUM_CUPTI_OVERHEAD_TYPE).
_PROGRAM_OVERHEAD_TYPES = (2, 6, 7, 8)


def plain_api_name(name: str) -> str:
    """An API name without its ABI suffix."""
    return _ABI_SUFFIX.sub("", name)


_PLACE = TIMES | {"thread": Source("globalTid")}


def host_rows(
    db: Database,
    table: str,
    extra: dict[str, Source],
    keep: Keep | None = None,
    name: str = "nameId",
) -> dict[str, Ints]:
    """Rows of a thread with a begin and an end; `name` is the column of their name."""
    columns = fetch(db, table, _PLACE | {"name_id": Source(name)} | extra, keep)
    columns = kept(columns, columns["end_ns"] >= columns["start_ns"])
    split_thread(columns, known=db.has(table, "globalTid"))
    return columns


def read_api_calls(db: Database, keep: Keep | None = None) -> ApiCalls | Missing:
    """CUDA calls; `name_id` is still the raw one (see `merge_api_names`)."""
    if not db.has(RUNTIME, "start", "end"):
        return Missing(Content.CALLS, f"no table {RUNTIME}")
    extra = {
        "correlation_id": Source("correlationId"),
        "returned": Source("returnValue", 0),
        "callchain_id": Source("callchainId"),
    }
    columns = host_rows(db, RUNTIME, extra, keep)
    ids(columns, "correlation_id", "callchain_id")
    columns = by_start_outer_first(columns)
    succeeded = compact(columns.pop("returned") == 0)
    return ApiCalls(**columns, succeeded=succeeded)


def merge_api_names(name_ids: Ints, texts: Mapping[int, str]) -> tuple[Ints, dict[int, str]]:
    """One id per plain name.

    Args:
        name_ids: raw ids, shape (n,).
        texts: text of each id.

    Returns:
        Merged ids, shape (n,), and the plain name of each.
    """
    found = distinct(name_ids)
    first: dict[str, int] = {}
    merged = [
        first.setdefault(plain_api_name(texts.get(i, "")), i) if i != ABSENT else ABSENT
        for i in found.tolist()
    ]
    ids = name_ids
    if merged != found.tolist():
        ids = np.array(merged, dtype=np.int64)[numbered(name_ids)[1]]
    return ids, {number: name for name, number in first.items()}


def without_repeats(calls: ApiCalls) -> ApiCalls:
    """Calls without the inner record that nsys adds to each call it takes a backtrace of.

    cudaMemcpyAsync and, inside it, cudaMemcpyAsync_v3020 with the same correlation id are one call.
    """
    several = _with_repeated_id(calls)
    if several.size == 0:
        return calls
    keys = (calls.process, calls.correlation_id, calls.name_id)
    order = several[ordered(*(key[several] for key in keys))]
    same = np.zeros(len(calls), dtype=bool)
    previous, following = order[:-1], order[1:]
    same[following] = (
        (calls.correlation_id[following] != ABSENT)
        & (calls.correlation_id[following] == calls.correlation_id[previous])
        & (calls.process[following] == calls.process[previous])
        & (calls.tid[following] == calls.tid[previous])
        & (calls.name_id[following] == calls.name_id[previous])
    )
    return calls.rows(~same) if same.any() else calls


def _with_repeated_id(calls: ApiCalls) -> Index:
    """Rows whose correlation id their process used more than once."""
    codes = numbered(calls.process)[1]
    numbers = calls.correlation_id
    # Unique as long as correlation ids are the 32-bit numbers that CUPTI makes them.
    key = numbers if codes.strides == (0,) else numbers + (codes << 34)
    if (key[1:] > key[:-1]).all():
        return np.empty(0, dtype=np.intp)
    return repeated(key)


def read_syncs(db: Database) -> Syncs | Missing:
    """Ids only: syncType changed its meaning twice, so kinds come from the API name."""
    if not db.has(SYNC, "start", "end"):
        return Missing(Content.SYNCS, f"no table {SYNC}")
    sources = TIMES | {
        "process": Source("globalPid", ABSENT, ANY_PROCESS << 24),
        "context_id": Source("contextId", 0),
        "stream_id": Source("streamId"),
        "correlation_id": Source("correlationId"),
        "event_id": Source("eventId"),
        "event_sync_id": Source("eventSyncId"),
    }
    columns = fetch(db, SYNC, sources)
    columns["process"] = compact(columns["process"] >> 24)
    columns = by_start(columns)
    for name in ("stream_id", "event_id", "event_sync_id"):
        columns[name] = _applicable(columns[name])
    never = compact(columns["event_sync_id"] == 0)
    ids(columns, "stream_id", "correlation_id", "event_sync_id")
    return Syncs(**columns, never_recorded=never)


def _applicable(ids: Ints) -> Ints:
    return compact(np.where(ids == _NOT_APPLICABLE, ABSENT, ids))


def read_event_records(db: Database) -> EventRecords | Missing:
    """Event records; a table since 2022, with eventSyncId since schema 3.20."""
    if not db.has(EVENT, "streamId", "correlationId"):
        return Missing(Content.EVENT_RECORDS, f"no table {EVENT}")
    sources = {
        "process": Source("globalPid", ABSENT, ANY_PROCESS << 24),
        "device_id": Source("deviceId", 0),
        "context_id": Source("contextId", 0),
        "stream_id": Source("streamId"),
        "correlation_id": Source("correlationId"),
        "event_id": Source("eventId"),
        "event_sync_id": Source("eventSyncId"),
    }
    columns = fetch(db, EVENT, sources)
    ids(columns, "stream_id", "correlation_id", "event_sync_id")
    columns["process"] = compact(columns["process"] >> 24)
    order = ordered(columns["process"], columns["correlation_id"])
    return EventRecords(**{name: compact(values[order]) for name, values in columns.items()})


def read_os_calls(
    db: Database, calls: ApiCalls | Missing, keep: Keep | None = None
) -> OsCalls | Missing:
    """OS calls of the threads that also call CUDA: no other thread's calls can explain a gap."""
    if not db.has(OSRT, "start", "end"):
        return Missing(Content.OS_CALLS, "the report holds no OS runtime rows")
    columns = host_rows(db, OSRT, {}, keep)
    known = db.has(OSRT, "globalTid") and db.has(RUNTIME, "globalTid")
    if known and not isinstance(calls, Missing):
        callers = distinct(_thread(calls.process, calls.tid))
        thread = _thread(columns["process"], columns["tid"])
        columns = kept(columns, np.isin(thread, callers[callers != ABSENT]))
    return OsCalls(**by_start_outer_first(columns))


def _thread(pid: Ints, tid: Ints) -> Ints:
    """Process and thread in one number; ABSENT where the thread is."""
    return compact((pid << 24) | tid)


def read_overheads(db: Database) -> Overheads | Missing:
    """Profiler overhead from both tables that have held it."""
    parts = []
    for table in OVERHEAD_TABLES:
        if db.has(table, "start", "end"):
            columns = host_rows(db, table, {"type": Source("overheadType", 0)})
            program = np.isin(columns["type"], _PROGRAM_OVERHEAD_TYPES)
            columns = kept(columns, ~program)
            del columns["type"]
            parts.append(columns)
    if not parts:
        return Missing(Content.OVERHEADS, "the report holds no overhead rows")
    return Overheads(**by_start(joined(parts)))
