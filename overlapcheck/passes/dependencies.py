"""What each device operation had to wait for on the device.

Of all predecessors an operation has, the one that ended last held it:

    s7    [ kernel A ]········[ kernel B ]      B's stream predecessor is A
    s13               [ copy ]↗                 B waits for an event behind the copy: binding
                 ↑ event behind A               the copy waits for an event behind A
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import (
    ABSENT,
    Bools,
    Codes,
    Columns,
    Index,
    Ints,
    Mask,
    Rows,
    compact,
    distinct,
    groups,
    ordered,
)
from overlapcheck.kinds import StreamKind
from overlapcheck.ledger import Relation, Work
from overlapcheck.passes.operations import Operations
from overlapcheck.passes.process import ABSENT_TIME, NO_CALL, ProcessTables
from overlapcheck.passes.streams import null_streams

NO_OPERATION = -1
# Device timestamps of neighbours may cross by this much.
CLOCK_SLACK_NS = 2_000
# An operation released by another one starts within this time.
ADJACENT_NS = 20_000
# Smaller copies pass through the engine faster than its queue can show.
_ENGINE_MIN_BYTES = 64 * 1024


@dataclass(frozen=True)
class Dependencies(Columns):
    """The binding predecessor of each operation, row for row."""

    predecessor: Rows
    """Row of the operation; NO_OPERATION for none."""
    relation: Codes
    """Relation."""
    inferred: Bools
    """Whether adjacency in time is the only proof of an event wait."""


@dataclass(frozen=True)
class _Edges:
    """Candidate predecessors: row `after` cannot start before row `before` ends."""

    after: Index
    before: Index


def dependencies(process: ProcessTables, ops: Operations) -> Dependencies:
    """The binding predecessor of every operation of a device.

    Args:
        process: the process's tables, for waits, records and stream kinds.
        ops: the device's operations.
    """
    found = _Best(ops)
    found.offer(_stream_order(ops), Relation.STREAM)
    exact, unresolved = _event_waits(process, ops)
    found.offer(exact, Relation.EVENT)
    found.offer(_null_stream_barriers(process, ops), Relation.NULL_STREAM)
    found.offer(_adjacent(ops, unresolved), Relation.EVENT, inferred=True)
    found.offer(_same_engine(ops), Relation.ENGINE)
    return Dependencies(found.predecessor, found.relation, compact(found.inferred))


class _Best:
    """Keeps the candidate that ended last; of equals, the one offered first."""

    def __init__(self, ops: Operations) -> None:
        self._ops = ops
        self.predecessor = np.full(len(ops), NO_OPERATION, dtype=np.int32)
        self.relation = np.full(len(ops), Relation.NONE, dtype=np.int8)
        self.inferred = np.zeros(len(ops), dtype=bool)
        self._end = np.full(len(ops), ABSENT_TIME, dtype=np.int64)

    def offer(self, edges: _Edges, relation: Relation, *, inferred: bool = False) -> None:
        ops = self._ops
        after, before = edges.after, edges.before
        possible = ops.end_ns[before] <= ops.start_ns[after] + CLOCK_SLACK_NS
        possible &= before < after  # rows are sorted by start: no chain can run in a circle
        after, before = after[possible], before[possible]
        if not (after[1:] > after[:-1]).all():
            # The last end per operation: sorted ascending, later assignments win.
            order = ordered(ops.end_ns[before])
            after, before = after[order], before[order]
        better = ops.end_ns[before] > self._end[after]
        after, before = after[better], before[better]
        self.predecessor[after] = before
        self._end[after] = ops.end_ns[before]
        self.relation[after] = relation
        self.inferred[after] = inferred


def _keyed(stream: Ints, time_ns: Ints, origin: int) -> Ints:
    """Stream and time in one sortable number: 48 bits of time hold three days."""
    limited = np.clip(time_ns - origin, -1, (1 << 48) - 2) + 1
    return (stream << 48) | limited


def _stream_order(ops: Operations) -> _Edges:
    """In each stream, the operation that ended last before each one started."""
    orderly = _one_after_another(ops)
    if orderly is not None:
        return orderly
    origin = int(ops.start_ns.min()) if len(ops) else 0
    keys = _keyed(ops.stream, ops.end_ns, origin)
    by_end = ordered(keys)
    wanted = _keyed(ops.stream, ops.start_ns, origin)
    at = np.searchsorted(keys[by_end], wanted, side="right") - 1
    before = by_end[np.maximum(at, 0)]
    # An operation of no length ends where it starts and would find itself.
    itself = before == np.arange(len(ops))
    before = np.where(itself, by_end[np.maximum(at - 1, 0)], before)
    valid = (at >= 0) & (ops.stream[before] == ops.stream) & (before != np.arange(len(ops)))
    valid &= ops.work != Work.MIGRATION
    after = np.flatnonzero(valid)
    return _Edges(after, before[after])


def _one_after_another(ops: Operations) -> _Edges | None:
    """The neighbours in each stream, where no operation starts before the one before it ended."""
    in_stream = ordered(ops.stream)
    stream, end = ops.stream[in_stream], ops.end_ns[in_stream]
    start = ops.start_ns[in_stream]
    same = stream[1:] == stream[:-1]
    # One of no length could follow itself; migrations belong to no stream.
    if (same & (start[1:] < end[:-1])).any() or (end <= start).any():
        return None
    if (ops.work == Work.MIGRATION).any():
        return None
    behind = np.flatnonzero(same)
    after, before = in_stream[behind + 1], in_stream[behind]
    order = ordered(after)
    return _Edges(after[order], before[order])


def _launched_first(ops: Operations, stream: Ints, time_ns: Ints, *, after: bool) -> Index:
    """First operation launched into a stream at or after a time, or last one before it."""
    known = np.flatnonzero(ops.launch_start_ns != ABSENT_TIME)
    if known.size == 0 or stream.size == 0:
        return np.full(stream.shape, NO_OPERATION, dtype=np.intp)
    origin = int(ops.launch_start_ns[known].min())
    keys = _keyed(ops.stream[known], ops.launch_start_ns[known], origin)
    order = ordered(keys)
    at = np.searchsorted(keys[order], _keyed(stream, time_ns, origin), side="left")
    at = at if after else at - 1
    inside = (at >= 0) & (at < known.size)
    rows = known[order[np.clip(at, 0, known.size - 1)]]
    return np.where(inside & (ops.stream[rows] == stream), rows, NO_OPERATION)


def _dense_stream(ops: Operations) -> dict[tuple[int, int], int]:
    """Dense stream number of each (context, stream) id pair of the device."""
    rows, _ = groups(ops.stream)
    keys = zip(ops.context_id[rows].tolist(), ops.stream_id[rows].tolist(), strict=True)
    return dict(zip(keys, ops.stream[rows].tolist(), strict=True))


def _event_waits(process: ProcessTables, ops: Operations) -> tuple[_Edges, _Edges]:
    """Edges through cudaStreamWaitEvent.

    Returns:
        Edges whose record is known, and (waiting operation, wait call) pairs whose record is not.
    """
    wait_call, sync = _wait_calls(process)
    numbers = _dense_stream(ops)
    waiting, event = _waiting_streams(process, ops, numbers, wait_call, sync)
    after = _launched_first(ops, waiting, process.calls.start_ns[wait_call], after=True)
    before = _recorded_operation(process, ops, numbers, event)
    target = (after != NO_OPERATION) & (waiting != ABSENT)
    known = target & (before != NO_OPERATION)
    # NOTE: event id 0 means that the event was never recorded: the wait does nothing.
    resolved = np.isin(event, process.event_records.event_sync_id) | (event == 0)
    open_ = target & ~resolved
    return _Edges(after[known], before[known]), _Edges(after[open_], wait_call[open_])


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


def _adjacent(ops: Operations, open_waits: _Edges) -> _Edges:
    """For waits without a known record: the operation whose end released the waiting one.

    It was launched before (or while) the wait was made, runs in another stream, and ended just
    before the waiting operation started.
    """
    waiting = distinct(open_waits.after)
    if waiting.size == 0:
        return _Edges(waiting, waiting)
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
    return _Edges(waiting[hit], found[hit])


def _null_stream_barriers(process: ProcessTables, ops: Operations) -> _Edges:
    """The null stream waits for all blocking streams, and they for it.

    Streams made with cudaStreamNonBlocking take no part: most side streams of frameworks.
    """
    numbers = _dense_stream(ops)
    nulls = [numbers[c, s] for c, s in null_streams(process) if (c, s) in numbers]
    described = zip(
        process.streams.context_id.tolist(),
        process.streams.stream_id.tolist(),
        process.streams.kind.tolist(),
        strict=True,
    )
    blocking = [
        numbers[c, s] for c, s, k in described if k == StreamKind.BLOCKING and (c, s) in numbers
    ]
    in_null = np.isin(ops.stream, nulls)
    in_blocking = np.isin(ops.stream, blocking) & ~in_null
    first, second = _last_before(ops, in_null, in_blocking), _last_before(ops, in_blocking, in_null)
    return _Edges(
        np.concatenate((first.after, second.after)), np.concatenate((first.before, second.before))
    )


def _last_before(ops: Operations, waiting: Mask, holding: Mask) -> _Edges:
    """For each waiting operation, the holding one launched before it that ended last."""
    if not waiting.any() or not holding.any():
        return _Edges(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
    order = ordered(ops.launch_start_ns)
    order = order[ops.launch_start_ns[order] != ABSENT_TIME]
    ends = np.where(holding[order], ops.end_ns[order], ABSENT_TIME)
    latest = np.maximum.accumulate(ends) if ends.size else ends
    fresh = np.flatnonzero((ends == latest) & holding[order])
    positions = np.flatnonzero(waiting[order])
    at = np.searchsorted(fresh, positions, side="left") - 1
    hit = at >= 0
    return _Edges(order[positions[hit]], order[fresh[at[hit]]])


def _same_engine(ops: Operations) -> _Edges:
    """Copies that began as soon as another one of their direction had ended."""
    after, before = [], []
    for work in (Work.H2D, Work.D2H):
        rows = np.flatnonzero((ops.work == work) & (ops.bytes >= _ENGINE_MIN_BYTES))
        if rows.size < 2:
            continue
        by_end = rows[ordered(ops.end_ns[rows])]
        at = (
            np.searchsorted(ops.end_ns[by_end], ops.start_ns[rows] + CLOCK_SLACK_NS, side="right")
            - 1
        )
        candidate = by_end[np.maximum(at, 0)]
        close = (
            (at >= 0)
            & (candidate != rows)
            & (ops.stream[candidate] != ops.stream[rows])
            & (ops.start_ns[rows] - ops.end_ns[candidate] <= ADJACENT_NS)
        )
        after.append(rows[close])
        before.append(candidate[close])
    if not after:
        return _Edges(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))
    return _Edges(np.concatenate(after), np.concatenate(before))
