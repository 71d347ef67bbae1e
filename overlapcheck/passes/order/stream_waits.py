"""Every wait of streams and host threads of a process, as it was handed over."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import (
    ABSENT,
    ABSENT_TIME,
    Index,
    Ints,
    Rows,
    constant,
    narrow,
)
from overlapcheck.grouping import distinct, ordered
from overlapcheck.kinds import StreamKind
from overlapcheck.order import Operations, Order
from overlapcheck.passes.order.candidates import StreamNumbers
from overlapcheck.passes.order.event_waits import (
    Finder,
    recorded_operations,
    records_of,
    sync_rows,
)
from overlapcheck.passes.process import ProcessTables
from overlapcheck.passes.streams import null_streams
from overlapcheck.searches import last_before, taken
from overlapcheck.stream_waits import (
    Barriers,
    HandOverSteps,
    Joins,
    Record,
    Records,
    StreamTable,
    StreamWaits,
    Waits,
)

_OF_STREAM = re.compile(r"(cuda|cu)StreamSynchronize")
_OF_EVENT = re.compile(r"(cuda|cu)EventSynchronize")
_UNSEEN = re.compile(r"(cuda|cu)(LaunchHostFunc|StreamAddCallback|Stream(Wait|Write)Value).*")


def stream_waits(process: ProcessTables, order: Order, steps: HandOverSteps) -> StreamWaits:
    """The waits of a process.

    Args:
        process: its tables.
        order: its operations and their edges.
        steps: its steps by hand-over.
    """
    ops = order.operations
    find = Finder(process, ops, StreamNumbers(ops))
    known = np.flatnonzero(ops.launch_start_ns != ABSENT_TIME)
    by_hand = known[ordered(ops.stream[known], ops.launch_start_ns[known])]
    position = _positions(ops.stream, by_hand)
    table, number_of = _streams(process, order)
    records = process.event_records
    record_call = process.launches.rows(records.correlation_id)
    record_ns = taken(process.calls.start_ns, record_call, ABSENT_TIME)
    record_on = _numbers(number_of, records.context_id, records.stream_id)
    record_before = recorded_operations(find, np.arange(len(records)))
    awaited = np.zeros(len(records), dtype=np.bool_)

    calls, kinds = process.calls, process.call_kind
    rows = np.flatnonzero((kinds == ApiKind.WAIT_EVENT) & calls.succeeded)
    rows = rows[ordered(calls.start_ns[rows])]
    sync = sync_rows(process, rows)
    record = records_of(records, process.syncs, sync)
    awaited[record[record != ABSENT]] = True
    never = taken(process.syncs.never_recorded, sync, False)
    state = np.where(record != ABSENT, Record.KNOWN, np.where(never, Record.NEVER, Record.UNKNOWN))
    stream = _numbers(
        number_of,
        taken(process.syncs.context_id, sync, ABSENT),
        taken(process.syncs.stream_id, sync, ABSENT),
    )
    after = find.in_stream.first_from(stream, calls.start_ns[rows])
    waits = Waits(
        call=narrow(rows),
        name_id=calls.name_id[rows],
        time_ns=calls.start_ns[rows],
        stream=narrow(stream),
        recorded_on=narrow(taken(record_on, record, ABSENT)),
        record=state.astype(np.int8),
        record_row=narrow(record),
        before=narrow(taken(record_before, record, ABSENT)),
        after=narrow(after),
        through=narrow(constant(ABSENT, rows.size)),
    )
    last = taken(ops.launch_start_ns, record_before, ABSENT_TIME)
    waits = _with_relays(waits, record, record_on, record_ns, last)
    joins, joined = _joins(find, number_of)
    awaited[joined] = True
    return StreamWaits(
        process=process.number,
        operations=ops,
        streams=table,
        waits=waits,
        joins=joins,
        barriers=_barriers(ops, table, by_hand),
        records=Records(record_ns, narrow(record_on), narrow(record_before), awaited),
        steps=steps,
        order=by_hand,
        position=position,
        graph_launches=int((kinds == ApiKind.GRAPH_LAUNCH).sum()),
        host_functions=int(
            process.strings.matching(calls.name_id, lambda n: bool(_UNSEEN.fullmatch(n))).sum()
        ),
    )


def _positions(stream: Ints, by_hand: Index) -> Rows:
    position: Rows = np.full(stream.shape, ABSENT, dtype=np.int32)
    if by_hand.size:
        own = stream[by_hand]
        opens = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
        length = np.diff(np.append(opens, own.size))
        position[by_hand] = np.arange(own.size) - np.repeat(opens, length)
    return position


def _streams(
    process: ProcessTables, order: Order
) -> tuple[StreamTable, dict[tuple[int, int], int]]:
    """The streams, and the number of each (context, stream)."""
    ops = order.operations
    count = int(ops.stream.max()) + 1
    first = np.zeros(count, dtype=np.intp)
    first[ops.stream[::-1]] = np.arange(len(ops) - 1, -1, -1)
    keys = list(zip(ops.context_id[first].tolist(), ops.stream_id[first].tolist(), strict=True))
    number_of = {key: number for number, key in enumerate(keys) if key[1] != ABSENT}
    for named in (process.event_records, process.syncs):
        pairs = set(zip(named.context_id.tolist(), named.stream_id.tolist(), strict=True))
        for key in sorted(pairs - number_of.keys()):
            if key[1] != ABSENT:
                number_of[key] = len(keys)
                keys.append(key)
    contexts = process.contexts
    of_context = dict(zip(contexts.context_id.tolist(), contexts.device_id.tolist(), strict=True))
    streams, nulls = process.streams, null_streams(process)
    described = {
        (c, s): (kind, priority)
        for c, s, kind, priority in zip(
            streams.context_id.tolist(),
            streams.stream_id.tolist(),
            streams.kind.tolist(),
            streams.priority.tolist(),
            strict=True,
        )
    }
    devices = ops.device_id[first].tolist() + [ABSENT] * (len(keys) - count)
    unknown = (int(StreamKind.UNKNOWN), 0)
    rows = [
        (
            *key,
            device if device != ABSENT else of_context.get(key[0], ABSENT),
            int(StreamKind.NULL) if key in nulls else described.get(key, unknown)[0],
            described.get(key, unknown)[1],
            key in described,
        )
        for key, device in zip(keys, devices, strict=True)
    ]
    context, stream, device, kind, priority, known = np.array(rows, dtype=np.int64).T
    table = StreamTable(context, stream, device, kind, priority, known == 1)
    return table, number_of


def _numbers(number_of: dict[tuple[int, int], int], context_id: Ints, stream_id: Ints) -> Ints:
    pairs = zip(context_id.tolist(), stream_id.tolist(), strict=True)
    return np.array([number_of.get(pair, ABSENT) for pair in pairs], dtype=np.int64)


def _with_relays(
    waits: Waits, record: Index, record_on: Ints, record_ns: Ints, last_ns: Ints
) -> Waits:
    """The waits, and what streams that ran nothing in between handed on from others.

    Args:
        waits: direct waits, in order of time.
        record: row of each one's record; ABSENT.
        record_on: stream of each record.
        record_ns: when each was made.
        last_ns: when the last operation before it was handed over; ABSENT_TIME for none.
    """
    relaying = set(record_on[record[record != ABSENT]].tolist()) & set(waits.stream.tolist())
    relaying.discard(ABSENT)
    if not relaying:
        return waits
    held: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    """By relaying stream: what it waits for, by stream: operation and time of the wait."""
    events = sorted(
        [(int(record_ns[r]), 0, int(r)) for r in set(record[record != ABSENT].tolist())
         if int(record_on[r]) in relaying]
        + [(int(t), 1, i) for i, t in enumerate(waits.time_ns.tolist())
           if int(waits.stream[i]) in relaying or int(waits.recorded_on[i]) in relaying]
    )  # fmt: skip
    handed: dict[int, dict[int, int]] = {}
    told: set[tuple[int, int]] = set()
    found: list[tuple[int, int, int]] = []
    for _, is_wait, row in events:
        if not is_wait:
            since = int(last_ns[row])
            holding = held[int(record_on[row])]
            handed[row] = {s: op for s, (op, at) in holding.items() if at > since}
            continue
        mine, source, made = int(waits.stream[row]), int(waits.recorded_on[row]), int(record[row])
        if made == ABSENT:
            continue
        passed = handed.get(made, {})
        time_ns = int(waits.time_ns[row])
        if mine in relaying:
            before = int(waits.before[row])
            new = dict(passed) if before == ABSENT else {**passed, source: before}
            for stream, op in new.items():
                if stream != mine:
                    held[mine][stream] = (op, time_ns)
        for stream, op in passed.items():
            if stream != mine and (op, mine) not in told and waits.after[row] != ABSENT:
                told.add((op, mine))
                found.append((row, stream, op))
    if not found:
        return waits
    rows = np.array([row for row, _, _ in found], dtype=np.intp)
    more = waits.rows(rows)
    relayed = Waits(
        call=more.call,
        name_id=more.name_id,
        time_ns=more.time_ns,
        stream=more.stream,
        recorded_on=np.array([stream for _, stream, _ in found], dtype=np.int32),
        record=more.record,
        record_row=more.record_row,
        before=np.array([op for _, _, op in found], dtype=np.int32),
        after=more.after,
        through=more.recorded_on,
    )
    both = zip(waits.columns, relayed.columns, strict=True)
    joined = Waits(*(np.concatenate(pair) for pair in both))
    return joined.rows(ordered(joined.time_ns))


def _joins(find: Finder, number_of: dict[tuple[int, int], int]) -> tuple[Joins, Index]:
    """Waits of host threads, and the rows of the records that they waited for."""
    process, ops = find.process, find.ops
    calls, syncs = process.calls, process.syncs
    waits = np.flatnonzero((process.call_kind == ApiKind.SYNC) & calls.succeeded)
    waits = _outermost(waits, calls.end_ns, calls.tid)
    sync = sync_rows(process, waits)
    names = calls.name_id[waits]
    of_stream = process.strings.matching(names, lambda name: bool(_OF_STREAM.match(name)))
    of_event = process.strings.matching(names, lambda name: bool(_OF_EVENT.match(name)))
    stream = _numbers(
        number_of,
        taken(syncs.context_id, sync, ABSENT),
        taken(syncs.stream_id, sync, ABSENT),
    )
    stream[~of_stream] = ABSENT
    before = find.in_stream.last_before(stream, calls.start_ns[waits])
    record = np.full(waits.shape, ABSENT, dtype=np.intp)
    record[of_event] = records_of(process.event_records, syncs, sync[of_event])
    before[of_event] = recorded_operations(find, record[of_event])
    records = process.event_records
    on = _numbers(number_of, records.context_id, records.stream_id)
    stream[of_event] = taken(on, record[of_event], ABSENT)
    copies = np.flatnonzero(taken(process.call_kind, ops.call, ApiKind.OTHER) == ApiKind.SYNC_COPY)
    copies = copies[ops.launch_end_ns[copies] >= ops.end_ns[copies]]
    call = np.concatenate((waits, ops.call[copies].astype(np.intp)))
    nothing = np.zeros(copies.shape, dtype=np.bool_)
    joins = Joins(
        call=narrow(call),
        name_id=calls.name_id[call],
        start_ns=calls.start_ns[call],
        end_ns=calls.end_ns[call],
        tid=calls.tid[call],
        stream=narrow(np.concatenate((stream, ops.stream[copies]))),
        record_row=narrow(np.concatenate((record, np.full(copies.shape, ABSENT)))),
        of_event=np.concatenate((of_event, nothing)),
        whole=np.concatenate((~of_stream & ~of_event, nothing)),
        copy=np.concatenate((np.zeros(waits.shape, dtype=np.bool_), ~nothing)),
        before=narrow(np.concatenate((before, copies))),
    )
    return joins.rows(ordered(joins.start_ns)), record[record != ABSENT]


def _outermost(rows: Index, end_ns: Ints, tid: Ints) -> Index:
    """Calls that lie in no other of their thread: a runtime call may show its driver calls, too.

    Args:
        rows: of the calls, in order of their start, outer ones first.
        end_ns: when each call of the process returned.
        tid: thread of each.
    """
    outer = [rows[:0]]
    for thread in distinct(tid[rows]).tolist():
        mine = rows[tid[rows] == thread]
        reach = np.maximum.accumulate(end_ns[mine])
        outer += [mine[:1], mine[1:][end_ns[mine[1:]] > reach[:-1]]]
    return np.sort(np.concatenate(outer))


def _barriers(ops: Operations, table: StreamTable, by_hand: Index) -> Barriers:
    """Of each stream's operations, those that the null stream's rule holds anew.

    By hand-over alone: which of several that had to end did so last is chance.
    """
    own = ops.stream[by_hand]
    launch = ops.launch_start_ns[by_hand]
    found: list[tuple[Index, Index]] = [(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))]
    nulls = np.flatnonzero(table.kind == StreamKind.NULL)
    blocking = np.flatnonzero(table.kind == StreamKind.BLOCKING)
    rows = {int(s): np.flatnonzero(own == s) for s in (*nulls, *blocking)}
    for null in nulls.tolist():
        for other in blocking[table.context_id[blocking] == table.context_id[null]].tolist():
            for waiting, holding in ((rows[null], rows[other]), (rows[other], rows[null])):
                at = last_before(launch[holding], launch[waiting])
                fresh = at != np.concatenate(([ABSENT], at[:-1]))
                found.append((by_hand[holding[at[fresh]]], by_hand[waiting[fresh]]))
    return Barriers(
        narrow(np.concatenate([before for before, _ in found])),
        narrow(np.concatenate([after for _, after in found])),
    )
