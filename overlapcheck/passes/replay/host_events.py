"""The host's part of a replay: what each thread called, one call after the other."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Codes, Index, Ints, Mask, Rows
from overlapcheck.grouping import distinct, ordered
from overlapcheck.passes.process import ProcessTables
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import OF_SYSTEM, HostEvents
from overlapcheck.trace_tables import ApiCalls, OsCalls


def host_events(process: ProcessTables, start_ns: int, end_ns: int) -> tuple[HostEvents, Ints]:
    """Calls of a process that touch a part of its time, in which none lies within another.

    Calls of the operating system count where no CUDA call is inside and they are inside of none.

    Returns:
        The events, and for each of the process's calls the event that it lies in; ABSENT.
    """
    calls, system = process.calls, _outside_of_cuda(process)
    rows = _outermost(calls.start_ns, calls.end_ns, calls.tid, start_ns, end_ns)
    waits = _outermost(system.start_ns, system.end_ns, system.tid, start_ns, end_ns)
    long = system.end_ns[waits] - system.start_ns[waits] >= REPLAY.shortest_os_call_ns
    waits = waits[long]
    waits = waits[_apart(calls.rows(rows), system.rows(waits))]
    tid = np.concatenate((calls.tid[rows], system.tid[waits]))
    start = np.concatenate((calls.start_ns[rows], system.start_ns[waits]))
    end = np.concatenate((calls.end_ns[rows], system.end_ns[waits]))
    kind: Codes = np.concatenate(
        (process.call_kind[rows], np.full(waits.size, OF_SYSTEM, dtype=np.int8))
    )
    name = np.concatenate((calls.name_id[rows], system.name_id[waits]))
    order = ordered(start)
    tid, start, end, name = (column[order] for column in (tid, start, end, name))
    kind = kind[order]
    previous, gap = _chained(tid, start, end)
    events = HostEvents(
        tid=tid,
        start_ns=start,
        end_ns=end,
        kind=kind,
        name_id=name,
        own_ns=end - start,
        previous=previous,
        gap_ns=gap,
        frees=(kind == ApiKind.ALLOCATION) & process.strings.matching(name, _frees_device_memory),
    )
    return events, _event_of_call(process, events)


def _outside_of_cuda(process: ProcessTables) -> OsCalls:
    """Calls of the operating system, and of MPI, which waits for other processes."""
    system, mpi = process.os_calls, process.mpi_calls
    if len(mpi) == 0:
        return system
    both = OsCalls(
        *(
            np.concatenate((getattr(system, name), getattr(mpi, name)))
            for name in ("start_ns", "end_ns", "process", "tid", "name_id")
        )
    )
    return both.rows(ordered(both.start_ns))


def _frees_device_memory(name: str) -> bool:
    return "Free" in name and "Async" not in name and "Host" not in name


def _outermost(start: Ints, end: Ints, tid: Ints, from_ns: int, to_ns: int) -> Index:
    """Rows that touch a part of the time and lie in no other of their thread."""
    inside = np.flatnonzero((end >= from_ns) & (start < to_ns))
    order = inside[ordered(tid[inside], start[inside])]
    keep = np.ones(order.size, dtype=bool)
    for thread in distinct(tid[order]).tolist():
        mine = np.flatnonzero(tid[order] == thread)
        reach = np.maximum.accumulate(end[order[mine]])
        keep[mine[1:]] = start[order[mine[1:]]] >= reach[:-1]
    return np.sort(order[keep])


def _apart(calls: ApiCalls, system: OsCalls) -> Mask:
    """Calls of the operating system that no CUDA call of their thread touches."""
    apart = np.ones(len(system), dtype=bool)
    for thread in distinct(system.tid).tolist():
        own = np.flatnonzero(calls.tid == thread)
        if own.size == 0:
            continue
        mine = np.flatnonzero(system.tid == thread)
        last = np.searchsorted(calls.start_ns[own], system.end_ns[mine]) - 1
        touched = (last >= 0) & (calls.end_ns[own[np.maximum(last, 0)]] > system.start_ns[mine])
        apart[mine] = ~touched
    return apart


def _chained(tid: Ints, start: Ints, end: Ints) -> tuple[Rows, Ints]:
    previous = np.full(tid.size, ABSENT, dtype=np.int32)
    order = ordered(tid)
    same = tid[order[1:]] == tid[order[:-1]]
    follows, before = order[1:][same], order[:-1][same]
    previous[follows] = before
    gap = np.zeros_like(start)
    gap[follows] = start[follows] - end[before]
    return previous, gap


def _event_of_call(process: ProcessTables, events: HostEvents) -> Ints:
    """The event that each call of the process lies in; ABSENT."""
    calls = process.calls
    found = np.full(len(calls), ABSENT, dtype=np.int64)
    cuda = np.flatnonzero(events.kind != OF_SYSTEM)
    if cuda.size == 0:
        return found
    low, high = int(events.start_ns[cuda[0]]), int(events.end_ns[cuda].max())
    some = np.flatnonzero((calls.start_ns >= low) & (calls.start_ns <= high))
    for thread in distinct(events.tid[cuda]).tolist():
        own = cuda[events.tid[cuda] == thread]
        mine = some[calls.tid[some] == thread]
        at = np.searchsorted(events.start_ns[own], calls.start_ns[mine], side="right") - 1
        event = own[np.maximum(at, 0)]
        inside = (at >= 0) & (calls.end_ns[mine] <= events.end_ns[event])
        found[mine[inside]] = event[inside]
    return found
