"""The rows of one process, and which host call launched each device operation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Columns, Index, Ints, Mask
from overlapcheck.trace import (
    ApiCalls,
    Contexts,
    Copies,
    EventRecords,
    Kernels,
    Memsets,
    Missing,
    OsCalls,
    Overheads,
    Ranges,
    Streams,
    Syncs,
    Table,
    Trace,
    rows_or_none,
)

NO_CALL = -1
"""Row number that stands for "launched by no recorded call"."""


@dataclass(frozen=True)
class ProcessTables:
    """The tables of one process; a table that was not recorded has no rows here."""

    pid: int
    kernels: Kernels
    copies: Copies
    memsets: Memsets
    calls: ApiCalls
    syncs: Syncs
    event_records: EventRecords
    ranges: Ranges
    os_calls: OsCalls
    overheads: Overheads
    streams: Streams
    contexts: Contexts


def process_tables(trace: Trace, pid: int) -> ProcessTables:
    """Select one process's rows of every table, order kept."""

    def own(table: Table | Missing, kind: type[Table]) -> Table:
        rows = rows_or_none(table, kind)
        mine = getattr(rows, "pid") == pid  # noqa: B009
        return rows if mine.all() else rows.rows(mine)

    return ProcessTables(
        pid=pid,
        kernels=own(trace.kernels, Kernels),
        copies=own(trace.copies, Copies),
        memsets=own(trace.memsets, Memsets),
        calls=own(trace.api_calls, ApiCalls),
        syncs=own(trace.syncs, Syncs),
        event_records=own(trace.event_records, EventRecords),
        ranges=own(trace.ranges, Ranges),
        os_calls=own(trace.os_calls, OsCalls),
        overheads=own(trace.overheads, Overheads),
        streams=own(trace.streams, Streams),
        contexts=own(trace.contexts, Contexts),
    )


class CallIndex:
    """Finds a call by correlation id; of a runtime and its inner driver call, the outer."""

    def __init__(self, calls: ApiCalls) -> None:
        usable = np.flatnonzero(calls.correlation_id > 0)
        # Calls are sorted outer first, and the sort is stable.
        order = usable[np.argsort(calls.correlation_id[usable], kind="stable")]
        ids = calls.correlation_id[order]
        first = np.ones(ids.size, dtype=bool)
        first[1:] = ids[1:] != ids[:-1]
        self._ids = ids[first]
        self._rows = order[first]

    def rows(self, correlation_ids: Ints) -> Index:
        """Row of the call with each correlation id, shape (n,); NO_CALL where there is none."""
        if self._ids.size == 0:
            return np.full(correlation_ids.shape, NO_CALL, dtype=np.intp)
        at = np.minimum(np.searchsorted(self._ids, correlation_ids), self._ids.size - 1)
        hit = (self._ids[at] == correlation_ids) & (correlation_ids > 0)
        return np.where(hit, self._rows[at], NO_CALL).astype(np.intp)


def launch_start_ns(operations: Kernels, calls: ApiCalls, index: CallIndex) -> Ints:
    """Start of the call that launched each kernel, shape (n,); ABSENT_TIME where unknown."""
    rows = index.rows(operations.correlation_id)
    if len(calls) == 0:
        return np.full(rows.shape, ABSENT_TIME, dtype=np.int64)
    return np.where(rows == NO_CALL, ABSENT_TIME, calls.start_ns[np.maximum(rows, 0)])


ABSENT_TIME = np.iinfo(np.int64).min
"""Earlier than any time: a launch that was not recorded."""


def on_device(table: Columns, device_id: int) -> Mask:
    """Mask of the rows on one device."""
    mask: Mask = getattr(table, "device_id") == device_id  # noqa: B009
    return mask


def copies_on_device(copies: Copies, device_id: int) -> Copies:
    """Copies that occupy a device: its own, and peer copies from or to it, each once."""
    from overlapcheck.trace import CopyKind

    peer = copies.kind == CopyKind.PEER_TO_PEER
    touches = peer & (
        (copies.source_device_id == device_id) | (copies.destination_device_id == device_id)
    )
    mine = copies.rows((copies.device_id == device_id) | touches)
    # NOTE: CUPTI has two kinds of peer-copy records; the same copy must not count twice.
    repeated = np.zeros(len(mine), dtype=bool)
    if (mine.kind == CopyKind.PEER_TO_PEER).any():
        keys = np.stack(
            (mine.start_ns, mine.end_ns, mine.correlation_id, mine.bytes, mine.kind), axis=1
        )
        _, first = np.unique(keys, axis=0, return_index=True)
        repeated[:] = True
        repeated[first] = False
        repeated &= mine.kind == CopyKind.PEER_TO_PEER
    return mine.rows(~repeated) if repeated.any() else mine


__all__ = [
    "ABSENT",
    "ABSENT_TIME",
    "NO_CALL",
    "CallIndex",
    "ProcessTables",
    "copies_on_device",
    "launch_start_ns",
    "on_device",
    "process_tables",
]
