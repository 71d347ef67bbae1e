"""What operations had to wait for through events: proven by rows, or by adjacency in time alone."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Index, Ints, distinct, groups, ordered
from overlapcheck.passes.edges import (
    ADJACENT_NS,
    CLOCK_SLACK_NS,
    NO_OPERATION,
    Edges,
    dense_streams,
    keyed,
)
from overlapcheck.passes.operations import Operations
from overlapcheck.passes.process import ABSENT_TIME, NO_CALL, ProcessTables


def event_waits(process: ProcessTables, ops: Operations) -> tuple[Edges, Edges]:
    """Edges through cudaStreamWaitEvent.

    Returns:
        Edges whose record is known, and (waiting operation, wait call) pairs whose record is not.
    """
    wait_call, sync = _wait_calls(process)
    numbers = dense_streams(ops)
    waiting, event = _waiting_streams(process, ops, numbers, wait_call, sync)
    after = _launched_first(ops, waiting, process.calls.start_ns[wait_call], after=True)
    before = _recorded_operation(process, ops, numbers, event)
    target = (after != NO_OPERATION) & (waiting != ABSENT)
    known = target & (before != NO_OPERATION)
    # NOTE: event id 0 means that the event was never recorded: the wait does nothing.
    resolved = np.isin(event, process.event_records.event_sync_id) | (event == 0)
    open_ = target & ~resolved
    return Edges(after[known], before[known]), Edges(after[open_], wait_call[open_])


def _wait_calls(process: ProcessTables) -> tuple[Index, Index]:
    """Rows of the wait-event calls, and of the synchronisation row of each; -1 for none.

    Rows are matched by correlation id, else by their identical start.
    """
    calls, syncs = process.calls, process.syncs
    rows = np.flatnonzero(process.call_kind == ApiKind.WAIT_EVENT)
    sync = np.full(rows.shape, -1, dtype=np.intp)
    if rows.size == 0 or len(syncs) == 0:
        return rows, sync
    for key, wanted in (
        (syncs.start_ns, calls.start_ns[rows]),
        (syncs.correlation_id, calls.correlation_id[rows]),
    ):
        order = ordered(key)
        at = np.minimum(np.searchsorted(key[order], wanted), key.size - 1)
        hit = (key[order][at] == wanted) & (wanted != ABSENT)
        sync[hit] = order[at[hit]]
    return rows, sync


def _waiting_streams(
    process: ProcessTables,
    ops: Operations,
    numbers: dict[tuple[int, int], int],
    wait_call: Index,
    sync: Index,
) -> tuple[Ints, Ints]:
    """Dense stream and event of each wait; without a row, the stream its thread uses next."""
    calls, syncs = process.calls, process.syncs
    stream = np.full(wait_call.shape, ABSENT, dtype=np.int64)
    event = np.full(wait_call.shape, ABSENT, dtype=np.int64)
    known = sync >= 0
    rows = sync[known]
    stream[known] = _numbers(numbers, syncs.context_id[rows], syncs.stream_id[rows])
    event[known] = syncs.event_sync_id[rows]
    if known.all():
        return stream, event
    launched = np.flatnonzero(ops.launch_start_ns != ABSENT_TIME)
    launched = launched[ordered(ops.launch_start_ns[launched])]
    for tid in distinct(calls.tid[wait_call[~known]]).tolist():
        own = launched[ops.tid[launched] == tid]
        mine = np.flatnonzero(~known & (calls.tid[wait_call] == tid))
        at = np.searchsorted(ops.launch_start_ns[own], calls.start_ns[wait_call[mine]])
        inside = at < own.size
        stream[mine[inside]] = ops.stream[own[at[inside]]]
    return stream, event


def _numbers(numbers: dict[tuple[int, int], int], context: Ints, stream: Ints) -> Ints:
    first, group = groups(context, stream)
    pairs = zip(context[first].tolist(), stream[first].tolist(), strict=True)
    return np.array([numbers.get(pair, ABSENT) for pair in pairs], dtype=np.int64)[group]


def _recorded_operation(
    process: ProcessTables,
    ops: Operations,
    numbers: dict[tuple[int, int], int],
    event_sync_id: Ints,
) -> Index:
    """The last operation launched into the recording stream before the event was recorded."""
    records = process.event_records.rows(process.event_records.event_sync_id > 0)
    if len(records) == 0:
        return np.full(event_sync_id.shape, NO_OPERATION, dtype=np.intp)
    order = ordered(records.event_sync_id)
    ids = records.event_sync_id[order]
    at = np.minimum(np.searchsorted(ids, event_sync_id), ids.size - 1)
    record = order[at]
    call = process.launches.rows(records.correlation_id[record])
    stream = _numbers(numbers, records.context_id[record], records.stream_id[record])
    known = (ids[at] == event_sync_id) & (call != NO_CALL) & (stream != ABSENT)
    time_ns = process.calls.start_ns[np.maximum(call, 0)] if len(process.calls) else event_sync_id
    row = _launched_first(ops, np.maximum(stream, 0), time_ns, after=False)
    return np.where(known, row, NO_OPERATION)


def adjacent(ops: Operations, open_waits: Edges) -> Edges:
    """For waits without a known record: the operation whose end released the waiting one.

    It was launched before (or while) the wait was made, runs in another stream, and ended just
    before the waiting operation started.
    """
    waiting = distinct(open_waits.after)
    if waiting.size == 0:
        return Edges(waiting, waiting)
    by_end = ordered(ops.end_ns)
    ends = ops.end_ns[by_end]
    at = np.searchsorted(ends, ops.start_ns[waiting] + CLOCK_SLACK_NS, side="right") - 1
    found = np.full(waiting.shape, NO_OPERATION, dtype=np.intp)
    for _ in range(8):  # memsets and tails of other streams may stand in between
        row = by_end[np.maximum(at, 0)]
        fits = (
            (found == NO_OPERATION)
            & (at >= 0)
            & (ops.stream[row] != ops.stream[waiting])
            & (ops.launch_start_ns[row] < ops.launch_start_ns[waiting])
            & (ops.start_ns[waiting] - ops.end_ns[row] <= ADJACENT_NS)
        )
        found[fits] = row[fits]
        at = at - 1
    hit = found != NO_OPERATION
    return Edges(waiting[hit], found[hit])


def _launched_first(ops: Operations, stream: Ints, time_ns: Ints, *, after: bool) -> Index:
    """First operation launched into a stream at or after a time, or last one before it."""
    known = np.flatnonzero(ops.launch_start_ns != ABSENT_TIME)
    if known.size == 0 or stream.size == 0:
        return np.full(stream.shape, NO_OPERATION, dtype=np.intp)
    origin = int(ops.launch_start_ns[known].min())
    keys = keyed(ops.stream[known], ops.launch_start_ns[known], origin)
    order = ordered(keys)
    at = np.searchsorted(keys[order], keyed(stream, time_ns, origin), side="left")
    at = at if after else at - 1
    inside = (at >= 0) & (at < known.size)
    rows = known[order[np.clip(at, 0, known.size - 1)]]
    return np.where(inside & (ops.stream[rows] == stream), rows, NO_OPERATION)
