"""CUDA calls, synchronisations, event records, OS calls and the profiler's own overhead.

CUDA runtime and driver calls share one table in every version. Names carry an ABI suffix
(cudaMemcpyAsync_v3020) and, with per-thread default streams, _ptsz or _ptds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import ABSENT, Ints
from overlapcheck.ingest.schemas._select import (
    by_start,
    by_start_outer_first,
    column,
    process,
    select,
    thread,
)
from overlapcheck.trace import ApiCalls, EventRecords, Missing, OsCalls, Overheads, Syncs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overlapcheck.ingest.database import Database

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


def _host_call(db: Database, table: str) -> dict[str, str]:
    return {
        "start_ns": "start",
        "end_ns": '"end"',
        "pid": process(db, table, thread=True),
        "tid": thread(db, table),
        "name_id": column(db, table, "nameId"),
    }


def read_api_calls(db: Database) -> ApiCalls | Missing:
    """CUDA calls; `name_id` is still the raw one (see `merge_api_names`)."""
    if not db.has(RUNTIME, "start", "end"):
        return Missing("CUDA calls", "the report holds no CUDA API rows", "--trace=cuda")
    extra = {
        "correlation_id": column(db, RUNTIME, "correlationId"),
        "succeeded": f"{column(db, RUNTIME, 'returnValue', 0)} = 0",
        "callchain_id": f"nullif({column(db, RUNTIME, 'callchainId', 0)}, 0)",
    }
    extra["callchain_id"] = f"ifnull({extra['callchain_id']}, {ABSENT})"
    columns = by_start_outer_first(
        select(db, RUNTIME, _host_call(db, RUNTIME) | extra, '"end" >= start')
    )
    succeeded = columns.pop("succeeded").astype(np.bool_)
    return ApiCalls(**columns, succeeded=succeeded)


def merge_api_names(name_ids: Ints, texts: Mapping[int, str]) -> tuple[Ints, dict[int, str]]:
    """One id per plain name.

    Args:
        name_ids: raw ids, shape (n,).
        texts: text of each id.

    Returns:
        Merged ids, shape (n,), and the plain name of each.
    """
    distinct, inverse = np.unique(name_ids, return_inverse=True)
    first: dict[str, int] = {}
    merged = [
        first.setdefault(plain_api_name(texts.get(i, "")), i) if i != ABSENT else ABSENT
        for i in distinct.tolist()
    ]
    ids = np.array(merged, dtype=np.int64)[inverse] if merged else name_ids
    return ids, {number: name for name, number in first.items()}


def without_repeats(calls: ApiCalls) -> ApiCalls:
    """Calls without the inner record that nsys adds to each call it takes a backtrace of.

    cudaMemcpyAsync and, inside it, cudaMemcpyAsync_v3020 with the same correlation id are one call.
    """
    order = np.lexsort((np.arange(len(calls)), calls.name_id, calls.correlation_id, calls.pid))
    same = np.zeros(len(calls), dtype=bool)
    previous, following = order[:-1], order[1:]
    same[following] = (
        (calls.correlation_id[following] > 0)
        & (calls.correlation_id[following] == calls.correlation_id[previous])
        & (calls.pid[following] == calls.pid[previous])
        & (calls.tid[following] == calls.tid[previous])
        & (calls.name_id[following] == calls.name_id[previous])
    )
    return calls.rows(~same) if same.any() else calls


def read_syncs(db: Database) -> Syncs | Missing:
    """Ids only: syncType changed its meaning twice, so kinds come from the API name."""
    if not db.has(SYNC, "start", "end"):
        return Missing("synchronisations", "the report holds no such rows", "--trace=cuda")
    columns = by_start(
        select(
            db,
            SYNC,
            {
                "start_ns": "start",
                "end_ns": '"end"',
                "pid": process(db, SYNC, thread=False),
                "context_id": column(db, SYNC, "contextId", 0),
                "stream_id": column(db, SYNC, "streamId"),
                "correlation_id": column(db, SYNC, "correlationId"),
                "event_id": column(db, SYNC, "eventId"),
                "event_sync_id": column(db, SYNC, "eventSyncId"),
            },
        )
    )
    for name in ("stream_id", "event_id", "event_sync_id"):
        columns[name] = np.where(columns[name] == _NOT_APPLICABLE, ABSENT, columns[name])
    return Syncs(**columns)


def read_event_records(db: Database) -> EventRecords | Missing:
    """Event records; a table since 2022, with eventSyncId since schema 3.20."""
    if not db.has(EVENT, "streamId", "correlationId"):
        return Missing("event records", "the report holds no event rows", "--cuda-event-trace=true")
    columns = select(
        db,
        EVENT,
        {
            "pid": process(db, EVENT, thread=False),
            "device_id": column(db, EVENT, "deviceId", 0),
            "context_id": column(db, EVENT, "contextId", 0),
            "stream_id": column(db, EVENT, "streamId"),
            "correlation_id": column(db, EVENT, "correlationId"),
            "event_id": column(db, EVENT, "eventId"),
            "event_sync_id": column(db, EVENT, "eventSyncId"),
        },
    )
    order = np.lexsort((columns["correlation_id"], columns["pid"]))
    return EventRecords(**{name: values[order] for name, values in columns.items()})


def read_os_calls(db: Database) -> OsCalls | Missing:
    """OS calls of the threads that also call CUDA: no other thread's calls can explain a gap."""
    if not db.has(OSRT, "start", "end"):
        return Missing("OS calls", "the report holds no OS runtime rows", "--trace=osrt")
    where = '"end" >= start'
    if db.has(OSRT, "globalTid") and db.has(RUNTIME, "globalTid"):
        where += f' AND globalTid IN (SELECT DISTINCT globalTid FROM "{db.resolve(RUNTIME)}")'
    return OsCalls(**by_start_outer_first(select(db, OSRT, _host_call(db, OSRT), where)))


def read_overheads(db: Database) -> Overheads | Missing:
    """Profiler overhead from both tables that have held it."""
    parts = []
    for table in OVERHEAD_TABLES:
        if db.has(table, "start", "end"):
            kind = column(db, table, "overheadType", 0)
            excluded = ", ".join(map(str, _PROGRAM_OVERHEAD_TYPES))
            where = f'"end" >= start AND {kind} NOT IN ({excluded})'
            parts.append(select(db, table, _host_call(db, table), where))
    if not parts:
        return Missing("profiler overhead", "the report holds no overhead rows", "--trace=cuda")
    return Overheads(
        **by_start({name: np.concatenate([p[name] for p in parts]) for name in parts[0]})
    )
