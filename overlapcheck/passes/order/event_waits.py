"""What operations had to wait for through events: proven by rows, or by adjacency in time alone.

A wait is paired with its record by `eventSyncId`, else, where that is not exported, with the latest
record of the same event that was made before it. Stream ids are unique in a process, device ids of
these rows are not to be trusted, so that a wait on another device's event is found like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, ABSENT_TIME, Index, Ints
from overlapcheck.grouping import distinct, ordered
from overlapcheck.order import Operations
from overlapcheck.passes.order.candidates import Launches, Pairs, StreamNumbers
from overlapcheck.passes.process import ProcessTables
from overlapcheck.searches import last_before, position_of, taken
from overlapcheck.trace_tables import EventRecords, Syncs


@dataclass(frozen=True)
class EventWaits:
    """Orders through cudaStreamWaitEvent."""

    exact: Pairs
    """The record is known."""
    waiting: Index
    """Operations behind a wait whose record is not known."""


@dataclass(frozen=True)
class Finder:
    """What finding operations by stream needs, made once, and only where something is sought."""

    process: ProcessTables
    ops: Operations
    numbers: StreamNumbers

    @cached_property
    def in_stream(self) -> Launches:
        """The operations by stream and launch."""
        return Launches(self.ops, self.ops.stream)


def event_waits(find: Finder) -> EventWaits:
    """Orders through cudaStreamWaitEvent."""
    process = find.process
    calls, syncs = process.calls, process.syncs
    rows = np.flatnonzero(process.call_kind == ApiKind.WAIT_EVENT)
    if rows.size == 0:
        return EventWaits(Pairs.none(), rows)
    sync = sync_rows(process, rows)
    stream = _waiting_streams(find, rows, sync)
    after = find.in_stream.first_from(stream, calls.start_ns[rows])
    record = records_of(process.event_records, syncs, sync)
    before = recorded_operations(find, record)
    known = after != ABSENT
    exact = known & (before != ABSENT)
    # A wait for an event that was never recorded does nothing.
    never = taken(syncs.never_recorded, sync, False)
    unknown = known & (record == ABSENT) & ~never
    return EventWaits(Pairs(after[exact], before[exact], rows[exact]), distinct(after[unknown]))


def sync_rows(process: ProcessTables, calls: Index) -> Index:
    """The synchronisation row of each of some calls; ABSENT for none.

    Rows are matched by correlation id, else by their identical start.
    """
    syncs = process.syncs
    sync = np.full(calls.shape, ABSENT, dtype=np.intp)
    for key, wanted in (
        (syncs.start_ns, process.calls.start_ns[calls]),
        (syncs.correlation_id, process.calls.correlation_id[calls]),
    ):
        order = ordered(key)
        at = position_of(key[order], wanted)
        hit = (at != ABSENT) & (wanted != ABSENT)
        sync[hit] = order[at[hit]]
    return sync


def records_of(records: EventRecords, syncs: Syncs, sync: Index) -> Index:
    """The event record that each of some synchronisation rows waits for; ABSENT where not known."""
    found = np.full(sync.shape, ABSENT, dtype=np.intp)
    if len(records) == 0:
        return found
    if (records.event_sync_id != ABSENT).any():
        usable = np.flatnonzero(records.event_sync_id != ABSENT)
        order = usable[ordered(records.event_sync_id[usable])]
        wanted = taken(syncs.event_sync_id, sync, ABSENT)
        return taken(order, position_of(records.event_sync_id[order], wanted), ABSENT)
    return latest_records(records, syncs, sync)


def latest_records(records: EventRecords, syncs: Syncs, sync: Index) -> Index:
    """The latest record of each row's event that was made before it, told by correlation ids."""
    event = taken(syncs.event_id, sync, ABSENT)
    keys = _event_and_time(records.event_id, records.correlation_id)
    order = ordered(keys)
    wanted = _event_and_time(event, taken(syncs.correlation_id, sync, ABSENT))
    at = last_before(keys[order], wanted)
    row = order[np.maximum(at, 0)]
    known = (at >= 0) & (event != ABSENT) & (records.event_id[row] == event)
    return np.where(known, row, ABSENT)


def _event_and_time(event_id: Ints, correlation_id: Ints) -> Ints:
    """Event and correlation id in one number: both have 32 bits, and ids are counted up."""
    return (event_id << 32) | np.maximum(correlation_id, 0)


def recorded_operations(find: Finder, record: Index) -> Index:
    """The last operation launched into the recording stream before the event was recorded."""
    process, records = find.process, find.process.event_records
    if len(records) == 0 or len(process.calls) == 0:
        return np.full(record.shape, ABSENT, dtype=np.intp)
    row = np.maximum(record, 0)
    call = process.launches.rows(records.correlation_id[row])
    stream = find.numbers.of(records.context_id[row], records.stream_id[row])
    known = (record != ABSENT) & (call != ABSENT) & (stream != ABSENT)
    time_ns = process.calls.start_ns[np.maximum(call, 0)]
    return np.where(known, find.in_stream.last_before(np.maximum(stream, 0), time_ns), ABSENT)


def _waiting_streams(find: Finder, wait_call: Index, sync: Index) -> Ints:
    """Dense stream of each wait; without a row, the stream its thread uses next."""
    calls, syncs, ops = find.process.calls, find.process.syncs, find.ops
    stream = np.full(wait_call.shape, ABSENT, dtype=np.int64)
    known = sync != ABSENT
    rows = sync[known]
    stream[known] = find.numbers.of(syncs.context_id[rows], syncs.stream_id[rows])
    if known.all():
        return stream
    launched = np.flatnonzero(ops.launch_start_ns != ABSENT_TIME)
    launched = launched[ordered(ops.launch_start_ns[launched])]
    for tid in distinct(calls.tid[wait_call[~known]]).tolist():
        own = launched[ops.tid[launched] == tid]
        mine = np.flatnonzero(~known & (calls.tid[wait_call] == tid))
        at = last_before(ops.launch_start_ns[own], calls.start_ns[wait_call[mine]]) + 1
        inside = at < own.size
        stream[mine[inside]] = ops.stream[own[at[inside]]]
    return stream
