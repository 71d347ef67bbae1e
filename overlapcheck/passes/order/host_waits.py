"""Orders that the host made: a thread waited for the device, and only then submitted more.

s7    [ kernel A ]
host     [ sync...]  [launch B]      B, and all that the thread submits later, comes after A
"""

from __future__ import annotations

import re

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, ABSENT_TIME, Index, Ints, chosen, joined
from overlapcheck.grouping import distinct, numbered, ordered
from overlapcheck.passes.order.candidates import Launches, Pairs, neighbours
from overlapcheck.passes.order.event_waits import (
    Finder,
    recorded_operations,
    records_of,
    sync_rows,
)
from overlapcheck.searches import taken

_OF_STREAM = re.compile(r"(cuda|cu)StreamSynchronize")
_OF_EVENT = re.compile(r"(cuda|cu)EventSynchronize")


def host_waits(find: Finder) -> Pairs:
    """Orders through calls that return when the device is done.

    Synchronisations of a stream, an event, or a whole context, whichever streams have had work
    since the thread last waited for them all; and copies that return when they are done.
    """
    process, ops = find.process, find.ops
    waits = np.flatnonzero(process.call_kind == ApiKind.SYNC)
    synchronous, copy_call = _synchronous(find)
    if waits.size + copy_call.size == 0:
        return Pairs.none()
    sync = sync_rows(process, waits)
    names = process.calls.name_id[waits]
    of_stream = process.strings.matching(names, lambda name: bool(_OF_STREAM.match(name)))
    of_event = process.strings.matching(names, lambda name: bool(_OF_EVENT.match(name)))
    whole = ~of_stream & ~of_event
    parts = [
        (_last_of_streams(find, waits[of_stream], sync[of_stream]), waits[of_stream]),
        (_recorded(find, sync[of_event]), waits[of_event]),
        _last_of_all_streams(find, waits[whole], sync[whole]),
        (synchronous, copy_call),
    ]
    before = np.concatenate([rows for rows, _ in parts])
    call = np.concatenate([calls for _, calls in parts])
    (tid,) = joined([(ops.tid,), (process.calls.tid[call],)])
    threads, number = numbered(tid)
    if threads.size == 0:
        return Pairs.none()
    submitted = Launches(ops, number[: len(ops)])
    after = submitted.first_from(number[len(ops) :], process.calls.end_ns[call])
    known = (before != ABSENT) & (after != ABSENT)
    return Pairs(after[known], before[known], call[known])


def _last_of_streams(find: Finder, waits: Index, sync: Index) -> Index:
    syncs = find.process.syncs
    if len(syncs) == 0:
        return np.full(waits.shape, ABSENT, dtype=np.intp)
    row = np.maximum(sync, 0)
    stream = find.numbers.of(syncs.context_id[row], syncs.stream_id[row])
    known = (sync != ABSENT) & (stream != ABSENT)
    last = find.in_stream.last_before(np.maximum(stream, 0), find.process.calls.start_ns[waits])
    return np.where(known, last, ABSENT)


def _recorded(find: Finder, sync: Index) -> Index:
    record = records_of(find.process.event_records, find.process.syncs, sync)
    return recorded_operations(find, record)


def _last_of_all_streams(find: Finder, waits: Index, sync: Index) -> tuple[Index, Index]:
    """The last operation in each stream, of those launched since the thread waited for all.

    Each operation is looked at once per thread that waits for contexts, so that many streams and
    many waits do not multiply.
    """
    calls, ops = find.process.calls, find.ops
    launched = np.flatnonzero(ops.launch_start_ns != ABSENT_TIME)
    of = chosen(ops.context_id, launched)
    contexts = distinct(of).tolist()
    only = contexts[0] if len(contexts) == 1 else ABSENT
    context = taken(find.process.syncs.context_id, sync, only)
    befores, made = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    threads, thread = numbered(calls.tid[waits])
    for number in range(threads.size):
        for one in np.unique(context[thread == number]).tolist():
            mine = waits[(thread == number) & (context == one)]
            rows = launched[of == one]
            row, wait = _last_before_each(
                calls.start_ns[mine], chosen(ops.stream, rows), chosen(ops.launch_end_ns, rows)
            )
            befores.append(rows[row])
            made.append(mine[wait])
    return np.concatenate(befores), np.concatenate(made)


def _last_before_each(wait_ns: Ints, stream: Ints, launch_ns: Ints) -> tuple[Index, Index]:
    """Of the operations that the next wait is the first to wait for, the last in each stream."""
    order = ordered(launch_ns)
    waited = np.searchsorted(launch_ns[order], wait_ns, side="right")
    order = order[: waited[-1]]
    wait = np.repeat(np.arange(wait_ns.size), np.diff(waited, prepend=0))
    before = neighbours(stream[order])
    after = np.flatnonzero(before != ABSENT)
    before = before[after]
    last = np.ones(order.size, dtype=bool)
    last[before[wait[before] == wait[after]]] = False
    row, wait = order[last], wait[last]
    by_stream = ordered(stream[row])
    return row[by_stream], wait[by_stream].astype(np.intp)


def _synchronous(find: Finder) -> tuple[Index, Index]:
    """Copies whose call returned when they were done, and that call."""
    ops, kinds = find.ops, find.process.call_kind
    rows = np.flatnonzero(taken(kinds, ops.call, ApiKind.OTHER) == ApiKind.SYNC_COPY)
    rows = rows[ops.launch_end_ns[rows] >= ops.end_ns[rows]]
    return rows, ops.call[rows].astype(np.intp)
