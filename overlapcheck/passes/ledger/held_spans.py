"""What holds a thread and is no single CUDA call: polling, capture, MPI, a wait of another thread.

thread 1   L [q][q][q][q][q] L           asks until the device is done: one wait
thread 1   [begin capture] L L L [end]   the launches in between launch nothing
thread 1   L [ MPI_Waitall ] L
thread 1   L  [ pthread_cond_wait ] L    sleeps until thread 2 is back from its wait
thread 2      [ synchronize ]
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import HAND_OVERS, ApiKind
from overlapcheck.columns import ABSENT, Codes, Index, Ints, constant, is_in, narrow, one_of
from overlapcheck.grouping import distinct, ordered
from overlapcheck.ledger import Reason
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.process import ProcessTables
from overlapcheck.searches import last_at_or_before
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace_tables import ApiCalls, MpiCalls

# Those that return only when others have done their part.
_MPI_WAITS = re.compile(
    r"P?MPI_(Wait|Recv|Mrecv|Sendrecv|Send|Ssend|Bsend|Rsend|Probe|Mprobe|Barrier|Bcast|Gather"
    r"|Scatter|Allgather|Alltoall|Reduce|Allreduce|Scan|Exscan|Neighbor_|Win_(fence|wait|lock"
    r"|unlock|flush|complete|start)|Comm_(dup|split|create)|Init|Finalize|File_)\w*",
    re.IGNORECASE,
)
_MPI_ASKS = re.compile(r"P?MPI_(Test(all|any|some)?|Iprobe|Improbe)", re.IGNORECASE)
# A thread that asks between two of these does not stop waiting.
_BESIDE_POLLS = (ApiKind.OTHER, ApiKind.CODE_QUERY)


@dataclass(frozen=True)
class Host:
    """What the threads of a process did."""

    process: ProcessTables
    launching: Ints
    """Threads that launch on the device."""
    reason: Codes
    """Reason of each call that held its thread; ABSENT for others."""
    limits: Thresholds


def polling(host: Host) -> HeldCalls:
    """Runs of queries without anything else: the thread waits by asking."""
    calls, kinds, limits = host.process.calls, host.process.call_kind, host.limits
    is_query = kinds == ApiKind.QUERY
    if int(is_query.sum()) < limits.polls_least:
        return HeldCalls.none()
    asking = distinct(calls.tid[is_query])
    asking = asking[is_in(asking, host.launching)]
    short = calls.end_ns - calls.start_ns < limits.long_call_ns
    rows = np.flatnonzero(is_in(calls.tid, asking) & ~(one_of(kinds, _BESIDE_POLLS) & short))
    rows = rows[ordered(calls.tid[rows], calls.start_ns[rows])]
    if rows.size == 0:
        return HeldCalls.none()
    place = np.flatnonzero(is_query[rows])
    query, before = rows[place[1:]], rows[place[:-1]]
    goes_on = (np.diff(place) == 1) & (calls.tid[query] == calls.tid[before])
    goes_on &= calls.start_ns[query] - calls.end_ns[before] <= limits.poll_distance_ns
    first = np.flatnonzero(~np.append(False, goes_on))
    last = np.flatnonzero(~np.append(goes_on, False))
    opens, closes = rows[place[first]], rows[place[last]]
    long = calls.end_ns[closes] - calls.start_ns[opens] >= limits.long_call_ns
    run = (last - first + 1 >= limits.polls_least) & long
    return _spans(calls, opens[run], closes[run], Reason.HOST_SYNC)


def capturing(host: Host) -> HeldCalls:
    """From the beginning of a capture to its end: what is launched in between makes a graph."""
    calls = host.process.calls
    rows = np.flatnonzero(host.process.call_kind == ApiKind.CAPTURE)
    if rows.size < 2:
        return HeldCalls.none()
    rows = rows[ordered(calls.tid[rows], calls.start_ns[rows])]
    names = host.process.strings
    begins = names.matching(calls.name_id[rows], lambda name: "Begin" in name)
    pair = np.flatnonzero(begins[:-1] & ~begins[1:] & (np.diff(calls.tid[rows]) == 0))
    return _spans(calls, rows[pair], rows[pair + 1], Reason.GRAPH_LAUNCH)


def waiting_for_ranks(host: Host) -> HeldCalls:
    """Calls of MPI that return only when another process has done its part, and runs of tests."""
    mpi = host.process.mpi_calls
    mine = mpi.rows(is_in(mpi.tid, host.launching))
    names = host.process.strings
    waits = names.matching(mine.name_id, lambda name: _MPI_WAITS.fullmatch(name) is not None)
    asks = names.matching(mine.name_id, lambda name: _MPI_ASKS.fullmatch(name) is not None)
    spans = [_of_ranks(mine.tid[waits], mine.start_ns[waits], mine.end_ns[waits])]
    for tid in distinct(mine.tid[asks]).tolist():
        own = mine.rows(asks & (mine.tid == tid))
        start, end = _asked(own, host, tid)
        spans.append(_of_ranks(constant(tid, start.size), start, end))
    return together_of(spans)


def _asked(own: MpiCalls, host: Host, tid: int) -> tuple[Ints, Ints]:
    """Begin and end of runs of tests by one thread, between which it handed nothing over."""
    calls, limits = host.process.calls, host.limits
    hands_over = one_of(host.process.call_kind, HAND_OVERS) & (calls.tid == tid)
    handed = np.searchsorted(calls.start_ns[hands_over], own.start_ns)
    goes_on = (own.start_ns[1:] - own.end_ns[:-1] <= limits.poll_distance_ns) & (
        handed[1:] == handed[:-1]
    )
    first = np.flatnonzero(np.append(True, ~goes_on))
    last = np.append(first[1:], len(own)) - 1
    start, end = own.start_ns[first], own.end_ns[last]
    run = (last - first + 1 >= limits.polls_least) & (end - start >= limits.long_call_ns)
    return start[run], end[run]


def _of_ranks(tid: Ints, start_ns: Ints, end_ns: Ints) -> HeldCalls:
    count = start_ns.size
    reason = np.full(count, Reason.MPI_WAIT, dtype=np.int8)
    return HeldCalls(tid, start_ns, end_ns, reason, narrow(constant(ABSENT, count)))


def waiting_for_a_thread(host: Host) -> HeldCalls:
    """Sleep of a launching thread that ends with another thread's wait for the device."""
    calls, limits = host.process.calls, host.limits
    long = calls.end_ns - calls.start_ns >= limits.long_call_ns
    waits = np.flatnonzero(long & (host.reason == Reason.HOST_SYNC))
    if waits.size == 0 or distinct(calls.tid).size < 2:
        return HeldCalls.none()
    waits = waits[ordered(calls.end_ns[waits])]
    found = []
    for tid in host.launching.tolist():
        others = waits[calls.tid[waits] != tid]
        if others.size == 0:
            continue
        start, end = _sleeps(host, tid)
        at = last_at_or_before(calls.end_ns[others], end)
        known = np.flatnonzero(at != ABSENT)
        row, start, end = others[at[known]], start[known], end[known]
        together = end - calls.end_ns[row] <= limits.away_ns
        together &= calls.end_ns[row] > start
        row, start, end = row[together], start[together], end[together]
        start = np.maximum(start, calls.start_ns[row])
        reason = np.full(row.size, Reason.HOST_SYNC, dtype=np.int8)
        found.append(HeldCalls(constant(tid, row.size), start, end, reason, narrow(row)))
    return together_of(found)


def _sleeps(host: Host, tid: int) -> tuple[Ints, Ints]:
    """Long OS calls of a thread; where none were recorded, its long absences from CUDA."""
    os_calls, limits = host.process.os_calls, host.limits
    if len(os_calls):
        long = os_calls.end_ns - os_calls.start_ns >= limits.long_call_ns
        own = os_calls.rows(long & (os_calls.tid == tid))
        return own.start_ns, own.end_ns
    calls = host.process.calls
    rows = np.flatnonzero(calls.tid == tid)
    reach = np.maximum.accumulate(calls.end_ns[rows])[:-1]
    begin = calls.start_ns[rows[1:]]
    away = begin - reach >= limits.away_ns
    return reach[away], begin[away]


def _spans(calls: ApiCalls, first: Index, last: Index, reason: Reason) -> HeldCalls:
    reasons = np.full(first.size, reason, dtype=np.int8)
    start, end = calls.start_ns[first], calls.end_ns[last]
    return HeldCalls(calls.tid[first], start, end, reasons, narrow(last))


def together_of(tables: list[HeldCalls]) -> HeldCalls:
    """Rows of several tables, in no order."""
    filled = [table for table in tables if len(table)]
    if len(filled) < 2:
        return filled[0] if filled else HeldCalls.none()
    return HeldCalls(*(np.concatenate(c) for c in zip(*(t.columns for t in filled), strict=True)))
