"""Why the host was late: what the launching thread did until it launched.

    device     ####·············####
    thread     [ sync ]  free  [L]            a sync drained the device
    parts          |sync|restart|

Time inside a call that holds the thread is that call's. The free time after it is the restart:
it belongs to the call that drained the device if the host needs less time per step than the
device, for then it would have run ahead. The share by which the host needs more is its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from overlapcheck.columns import (
    ABSENT,
    Codes,
    Column,
    Columns,
    Ints,
    Mask,
    Rows,
    blocks,
    distinct,
    joined,
    sorted_by,
)
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.order import Operations
from overlapcheck.passes.ledger.held_calls import HeldCalls
from overlapcheck.passes.ledger.host_timeline import HostTimeline
from overlapcheck.passes.ledger.side_by_side import side_by_side
from overlapcheck.passes.ledger.splitting import NO_CUT, split


@dataclass(frozen=True)
class LatePieces(Columns):
    """Pieces of host-late time with their reason, in order of part and time."""

    part: Rows
    """Number of the host-late part a piece came from."""
    start_ns: Ints
    end_ns: Ints
    reason: Codes
    """Reason."""
    call: Rows
    """The call to blame: the one that held the thread, or that drained the device; ABSENT."""


_Rows = tuple[Rows, Ints, Ints, Codes, Rows]
"""Columns of `LatePieces`."""


@dataclass(frozen=True)
class Lateness:
    """Why the host was late, piece by piece and part by part."""

    pieces: LatePieces
    """They tile the parts."""
    reason: Codes
    """Of each part as a whole, for operations that were late in its wake: the reason of the call
    that drained the device, else of the longest piece."""
    call: Rows
    """The call to blame for each part; ABSENT."""


def explain_lateness(
    start_ns: Ints, end_ns: Ints, operation: Rows, ops: Operations, host: HostTimeline
) -> Lateness:
    """Give every host-late part to reasons.

    Args:
        start_ns: begin of each part, ascending, shape (n,).
        end_ns: its end.
        operation: the operation that was submitted too late.
        ops: the device's operations.
        host: the launching threads.

    Returns:
        Pieces that tile the parts, and the reason of each part as a whole.
    """
    if start_ns.size == 0:
        return Lateness(LatePieces.none(), LatePieces.none().reason, LatePieces.none().call)
    tid = ops.tid[operation]
    drain = _drains(start_ns, end_ns, tid, host)
    rows: list[tuple[Column, ...]] = []
    for thread in distinct(tid).tolist():
        own = np.flatnonzero(tid == thread)
        cut = partial(
            _cut,
            start_ns=start_ns,
            end_ns=end_ns,
            cuts=_Cuts.of_thread(thread, host),
            drain=drain,
            host=host,
        )
        rows += side_by_side(cut, [own[block] for block in blocks(own.size)])
    pieces = LatePieces(*joined(rows))
    pieces = sorted_by(pieces, pieces.part, pieces.start_ns)
    reason, call = _longest(pieces, start_ns.size)
    drained = drain >= 0
    reason[drained] = host.held.reason[drain[drained]]
    call[drained] = host.held.call[drain[drained]]
    return Lateness(pieces, reason, call)


def _longest(pieces: LatePieces, count: int) -> tuple[Codes, Rows]:
    """Reason and call of each part's longest piece."""
    if len(pieces) == count:
        return pieces.reason.copy(), pieces.call.copy()
    length = pieces.end_ns - pieces.start_ns
    first = np.flatnonzero(np.append(True, pieces.part[1:] != pieces.part[:-1]))
    longest = np.maximum.reduceat(length, first)
    rows = np.flatnonzero(length == longest[pieces.part])
    row = np.empty(count, dtype=np.intp)
    row[pieces.part[rows]] = rows  # of equally long ones the last
    return pieces.reason[row], pieces.call[row]


def _drains(start_ns: Ints, end_ns: Ints, tid: Ints, host: HostTimeline) -> Ints:
    """Row of `held` that drained the device before each part; -1 for none.

    A call that was open when the device ran dry drained it, and goes on being the reason for the
    late launches that follow until a launch is well ahead of its kernel again.
    """
    drain = np.full(start_ns.size, -1, dtype=np.int64)
    for thread in distinct(tid).tolist():
        first, last = np.searchsorted(host.held.tid, (thread, thread + 1)).tolist()
        drains = np.flatnonzero(
            (host.held.reason[first:last] != Reason.GRAPH_LAUNCH)
            & (host.held.reason[first:last] != Reason.DRIVER_LOCK)
        )
        if drains.size == 0:
            continue
        rows = first + drains
        mine = np.flatnonzero(tid == thread)
        at = np.searchsorted(host.held.start_ns[rows], start_ns[mine], side="left") - 1
        open_ = (at >= 0) & (
            host.held.end_ns[rows[np.maximum(at, 0)]] > start_ns[mine] - host.limits.drain_slack_ns
        )
        drain[mine[open_]] = rows[at[open_]]
    return _inherited(drain, start_ns, host.ahead_ns)


def _inherited(drain: Ints, start_ns: Ints, ahead_ns: Ints) -> Ints:
    own = np.where(drain >= 0, np.arange(drain.size), -1)
    latest = np.maximum.accumulate(own) if own.size else own
    caught_up = np.searchsorted(ahead_ns, start_ns)
    same_run = (latest >= 0) & (caught_up == caught_up[np.maximum(latest, 0)])
    return np.where(same_run, drain[np.maximum(latest, 0)], -1)


@dataclass(frozen=True)
class _Cuts:
    """What cuts the late parts of one thread, in the order of its certainty."""

    overhead: Intervals
    held: HeldCalls

    @classmethod
    def of_thread(cls, thread: int, host: HostTimeline) -> _Cuts:
        own = host.overheads.tid == thread
        overhead = Intervals.of(host.overheads.start_ns[own], host.overheads.end_ns[own])
        return cls(overhead, host.held.of_thread(thread))


def _cut(
    parts: Rows,
    start_ns: Ints,
    end_ns: Ints,
    cuts: _Cuts,
    drain: Ints,
    host: HostTimeline,
) -> _Rows:
    """Cut some parts of one thread along profiler overhead, held calls and absence."""
    overhead, held = cuts.overhead, cuts.held
    first = split(start_ns[parts], end_ns[parts], overhead.start_ns, overhead.end_ns)
    second = split(first.start_ns, first.end_ns, held.start_ns, held.end_ns)
    third = split(second.start_ns, second.end_ns, host.away.start_ns, host.away.end_ns)
    second_of = third.span
    first_of = second.span[second_of]
    part = parts[first.span[first_of]]
    held_row = second.cut[second_of]
    is_held = held_row != NO_CUT
    is_overhead = first.cut[first_of] != NO_CUT
    away = third.cut != NO_CUT
    reason, call = _restart_reasons(part, third.start_ns, third.end_ns, away, drain, host)
    if is_held.any():
        reason[is_held] = held.reason[held_row[is_held]]
        call[is_held] = held.call[held_row[is_held]]
    compiling = host.preparing.overlap_with(third.start_ns, third.end_ns) > 0
    reason[compiling & ~is_held] = Reason.MODULE_LOAD
    call[compiling & ~is_held] = ABSENT
    reason[is_overhead] = Reason.PROFILER_OVERHEAD
    call[is_overhead] = ABSENT
    pieces = (part, third.start_ns, third.end_ns, reason, call)
    free = ~is_held & ~is_overhead & ~compiling & (drain[part] >= 0)
    return _share_restart(pieces, free, away, host.excess_share)


def _restart_reasons(
    part: Rows,
    start_ns: Ints,
    end_ns: Ints,
    away: Mask,
    drain: Ints,
    host: HostTimeline,
) -> tuple[Codes, Rows]:
    """Reason of free time: the drain before it, else what the host did."""
    drained = drain[part] >= 0
    own = _own_reason(part, start_ns, end_ns, away, host)
    if len(host.held) == 0 or not drained.any():
        return own, np.full(part.shape, ABSENT, dtype=np.int32)
    row = np.maximum(drain[part], 0)
    reason = np.where(drained, host.held.reason[row], own)
    return reason, np.where(drained, host.held.call[row], ABSENT)


def _own_reason(
    part: Rows,
    start_ns: Ints,
    end_ns: Ints,
    away: Mask,
    host: HostTimeline,
) -> Codes:
    """Away from CUDA, launching too slowly, or late once by a few microseconds."""
    compute_before = np.searchsorted(host.ahead_ns, start_ns, side="left") - 1
    last_ahead = host.ahead_ns[np.maximum(compute_before, 0)] if host.ahead_ns.size else start_ns
    was_ahead = (compute_before >= 0) & (start_ns - last_ahead < host.limits.away_ns)
    short = (end_ns - start_ns <= host.limits.launch_distance_ns) & was_ahead
    reason = np.full(part.shape, Reason.LAUNCH_BOUND, dtype=np.int8)
    reason[short] = Reason.LAUNCH_LATENCY
    # The launch that ends an absence takes its few microseconds because of it.
    brief = np.flatnonzero(end_ns - start_ns <= host.limits.drain_slack_ns)
    absent = brief[np.isin(part[brief], part[away])] if away.any() else brief[:0]
    reason[away] = Reason.HOST_STARVED
    reason[absent] = Reason.HOST_STARVED
    return reason


def _share_restart(pieces: _Rows, free: Mask, away: Mask, excess_share: float) -> _Rows:
    """Cut the host's own share off the end of each free piece after a drain."""
    part, start, end, reason, call = pieces
    own_ns = np.where(free, np.round((end - start) * excess_share), 0).astype(np.int64)
    cut = own_ns > 0
    if not cut.any():
        return pieces
    tail_reason = np.where(away, Reason.HOST_STARVED, Reason.LAUNCH_BOUND).astype(np.int8)
    # Each piece, followed by its tail where it has one.
    row = np.repeat(np.arange(part.size), 1 + cut)
    tail = np.append(False, row[1:] == row[:-1])
    middle = end - own_ns
    begin = np.where(tail, middle[row], start[row])
    finish = np.where(tail | ~cut[row], end[row], middle[row])
    keep = finish > begin
    row, tail = row[keep], tail[keep]
    return (
        part[row],
        begin[keep],
        finish[keep],
        np.where(tail, tail_reason[row], reason[row]),
        np.where(tail, ABSENT, call[row]),
    )
