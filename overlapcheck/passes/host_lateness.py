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

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import (
    Codes,
    Columns,
    Ints,
    Mask,
    blocks,
    chosen,
    distinct,
    is_in,
    joined,
    sorted_by,
)
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason, Work
from overlapcheck.measurements import Window
from overlapcheck.passes.held_calls import LONG_CALL_NS, HeldCalls
from overlapcheck.passes.operations import Operations
from overlapcheck.passes.process import ABSENT_TIME, NO_CALL
from overlapcheck.passes.splitting import NO_CUT, split
from overlapcheck.trace import ApiCalls, Overheads

# A call that ended this shortly before the device ran dry still caused it.
DRAIN_SLACK_NS = 20_000
# A thread that makes no CUDA call for this long is doing something other than launching.
AWAY_NS = 100_000
# A launch this far ahead of its kernel: the host has caught up.
AHEAD_NS = 50_000
# Up to here a late launch is the ordinary distance between two launches.
LATENCY_NS = 10_000


@dataclass(frozen=True)
class LatePieces(Columns):
    """Pieces of host-late time with their reason, in order of part and time."""

    part: Ints
    """Number of the host-late part a piece came from."""
    start_ns: Ints
    end_ns: Ints
    reason: Ints
    """Reason."""
    call: Ints
    """The call to blame: the one that held the thread, or that drained the device; NO_CALL."""


@dataclass(frozen=True)
class Lateness:
    """Why the host was late, piece by piece and part by part."""

    pieces: LatePieces
    """They tile the parts."""
    reason: Ints
    """Of each part as a whole, for operations that were late in its wake: the reason of the call
    that drained the device, else of the longest piece."""
    call: Ints
    """The call to blame for each part; NO_CALL."""


@dataclass(frozen=True)
class HostTimeline:
    """What the launching threads of a device did, as far as lateness needs it."""

    held: HeldCalls
    overheads: Overheads
    away: Intervals
    """No launching thread was in or near a CUDA call."""
    preparing: Intervals
    """Part of it after which a thread loaded code: it was being compiled or read."""
    excess_share: float
    """Share of the restart time that is the host's own: see the module."""
    ahead_ns: Ints
    """Launch times of operations that were launched well ahead, sorted."""


def host_timeline(
    calls: ApiCalls,
    kinds: Codes,
    held: HeldCalls,
    overheads: Overheads,
    ops: Operations,
    submit_ns: Ints,
    idle: Intervals,
    window: Window,
) -> HostTimeline:
    """Summarise the launching threads of a device.

    Args:
        calls: the process's calls.
        kinds: ApiKind of each.
        held: calls that stand for a reason.
        overheads: the profiler's own time.
        ops: the device's operations.
        submit_ns: when each was handed over.
        idle: the device's idle time in the window.
        window: the judged window.
    """
    # A loader thread that only copies does not launch for the ones that do.
    kernels = is_in(ops.work, (Work.COMPUTE, Work.COMMUNICATION))
    launching = distinct(ops.tid[(ops.call != NO_CALL) & kernels])
    mine = is_in(calls.tid, launching)
    rows = np.flatnonzero(mine & (calls.end_ns > calls.start_ns))
    away = _absences(chosen(calls.start_ns, rows), chosen(calls.end_ns, rows), window)
    loads = calls.start_ns[(kinds == ApiKind.MODULE_LOAD) & mine]
    loads_next = np.isin(away.end_ns, loads)
    compute = ops.work == Work.COMPUTE
    lead = ops.start_ns - submit_ns
    ahead = compute & (submit_ns != ABSENT_TIME) & (lead >= AHEAD_NS)
    return HostTimeline(
        held=held,
        overheads=overheads.rows(np.isin(overheads.tid, launching)),
        away=away,
        preparing=Intervals.of(away.start_ns[loads_next], away.end_ns[loads_next]),
        excess_share=_excess_share(
            calls, kinds, held, window, launching, _device_ns(ops, idle, window)
        ),
        ahead_ns=np.sort(ops.start_ns[ahead]),
    )


def _absences(start_ns: Ints, end_ns: Ints, window: Window) -> Intervals:
    """The long stretches of the window without any of these calls, which are sorted by start."""
    reach = np.maximum.accumulate(end_ns) if end_ns.size else end_ns
    after = np.flatnonzero(start_ns[1:] - reach[:-1] >= AWAY_NS)
    begin = np.concatenate(([window.start_ns], reach[after], reach[-1:]))
    end = np.concatenate((start_ns[:1], start_ns[1:][after], [window.end_ns]))
    begin, end = np.maximum(begin, window.start_ns), np.minimum(end, window.end_ns)
    long = end - begin >= AWAY_NS
    return Intervals.of(begin[long], end[long])


def _device_ns(ops: Operations, idle: Intervals, window: Window) -> int:
    """Time in the window in which kernels or collectives run."""
    collective = ops.work == Work.COMMUNICATION
    exposed = Intervals.of(ops.start_ns[collective], ops.end_ns[collective]) & idle
    return window.length_ns - idle.total_ns + exposed.total_ns


def _excess_share(
    calls: ApiCalls,
    kinds: Codes,
    held: HeldCalls,
    window: Window,
    launching: Ints,
    device_ns: int,
) -> float:
    """By how much the host's own work exceeds the device's, as a share of its free time while late.

    Launching threads take turns (forward and backward pass), so the host as a whole is held
    whenever one of them is: its own work is the rest.
    """
    # A launch that waits for room in a full queue is no work of the host's either.
    long = np.flatnonzero(calls.end_ns - calls.start_ns >= LONG_CALL_NS)
    long_hand_over = long[is_in(kinds[long], (ApiKind.LAUNCH, ApiKind.COPY, ApiKind.MEMSET))]
    queue_full = long_hand_over[is_in(calls.tid[long_hand_over], launching)]
    waits = is_in(held.tid, launching)
    held_ns = (
        Intervals.of(
            np.concatenate((held.start_ns[waits], calls.start_ns[queue_full])),
            np.concatenate((held.end_ns[waits], calls.end_ns[queue_full])),
        )
        .clip(window.start_ns, window.end_ns)
        .total_ns
    )
    excess = window.length_ns - held_ns - device_ns
    idle = window.length_ns - device_ns
    return min(1.0, max(0.0, excess / idle)) if idle > 0 else 0.0


def explain_lateness(
    start_ns: Ints, end_ns: Ints, operation: Ints, ops: Operations, host: HostTimeline
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
        return Lateness(LatePieces.none(), start_ns, start_ns)
    tid = ops.tid[operation]
    drain = _drains(start_ns, end_ns, tid, host)
    rows: list[tuple[Ints, ...]] = []
    for thread in distinct(tid).tolist():
        own = np.flatnonzero(tid == thread)
        rows += [
            _of_thread(own[block], start_ns, end_ns, operation, thread, drain, ops, host)
            for block in blocks(own.size)
        ]
    pieces = LatePieces(*joined(rows))
    pieces = sorted_by(pieces, pieces.part, pieces.start_ns)
    reason, call = _longest(pieces, start_ns.size)
    drained = drain >= 0
    reason[drained] = host.held.reason[drain[drained]]
    call[drained] = host.held.call[drain[drained]]
    return Lateness(pieces, reason, call)


def _longest(pieces: LatePieces, count: int) -> tuple[Ints, Ints]:
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
            host.held.end_ns[rows[np.maximum(at, 0)]] > start_ns[mine] - DRAIN_SLACK_NS
        )
        drain[mine[open_]] = rows[at[open_]]
    return _inherited(drain, start_ns, host.ahead_ns)


def _inherited(drain: Ints, start_ns: Ints, ahead_ns: Ints) -> Ints:
    own = np.where(drain >= 0, np.arange(drain.size), -1)
    latest = np.maximum.accumulate(own) if own.size else own
    caught_up = np.searchsorted(ahead_ns, start_ns)
    same_run = (latest >= 0) & (caught_up == caught_up[np.maximum(latest, 0)])
    return np.where(same_run, drain[np.maximum(latest, 0)], -1)


def _of_thread(
    parts: Ints,
    start_ns: Ints,
    end_ns: Ints,
    operation: Ints,
    thread: int,
    drain: Ints,
    ops: Operations,
    host: HostTimeline,
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Cut one thread's parts along profiler overhead, held calls and absence."""
    own = host.overheads.tid == thread
    overhead = Intervals.of(host.overheads.start_ns[own], host.overheads.end_ns[own])
    first = split(start_ns[parts], end_ns[parts], overhead.start_ns, overhead.end_ns)
    held = host.held.of_thread(thread)
    second = split(first.start_ns, first.end_ns, held.start_ns, held.end_ns)
    third = split(second.start_ns, second.end_ns, host.away.start_ns, host.away.end_ns)
    second_of = third.span
    first_of = second.span[second_of]
    part = parts[first.span[first_of]]
    held_row = second.cut[second_of]
    is_held = held_row != NO_CUT
    is_overhead = first.cut[first_of] != NO_CUT
    away = third.cut != NO_CUT
    reason, call = _restart_reasons(
        part, third.start_ns, third.end_ns, away, operation, drain, ops, host
    )
    if is_held.any():
        reason[is_held] = held.reason[held_row[is_held]]
        call[is_held] = held.call[held_row[is_held]]
    compiling = host.preparing.overlap_with(third.start_ns, third.end_ns) > 0
    reason[compiling & ~is_held] = Reason.MODULE_LOAD
    call[compiling & ~is_held] = NO_CALL
    reason[is_overhead] = Reason.PROFILER_OVERHEAD
    call[is_overhead] = NO_CALL
    pieces = (part, third.start_ns, third.end_ns, reason, call)
    free = ~is_held & ~is_overhead & ~compiling & (drain[part] >= 0)
    return _share_restart(pieces, free, away, host.excess_share)


def _restart_reasons(
    part: Ints,
    start_ns: Ints,
    end_ns: Ints,
    away: Mask,
    operation: Ints,
    drain: Ints,
    ops: Operations,
    host: HostTimeline,
) -> tuple[Ints, Ints]:
    """Reason of free time: the drain before it, else what the host did."""
    drained = drain[part] >= 0
    own = _own_reason(part, start_ns, end_ns, away, operation, ops, host)
    if len(host.held) == 0 or not drained.any():
        return own, np.full(part.shape, NO_CALL, dtype=np.int64)
    row = np.maximum(drain[part], 0)
    reason = np.where(drained, host.held.reason[row], own)
    return reason, np.where(drained, host.held.call[row], NO_CALL)


def _own_reason(
    part: Ints,
    start_ns: Ints,
    end_ns: Ints,
    away: Mask,
    operation: Ints,
    ops: Operations,
    host: HostTimeline,
) -> Ints:
    """Away from CUDA, launching too slowly, or late once by a few microseconds."""
    compute_before = np.searchsorted(host.ahead_ns, start_ns, side="left") - 1
    last_ahead = host.ahead_ns[np.maximum(compute_before, 0)] if host.ahead_ns.size else start_ns
    was_ahead = (compute_before >= 0) & (start_ns - last_ahead < AWAY_NS)
    short = (end_ns - start_ns <= LATENCY_NS) & was_ahead
    reason = np.full(part.shape, Reason.LAUNCH_BOUND, dtype=np.int64)
    reason[short] = Reason.LAUNCH_LATENCY
    # The launch that ends an absence takes its few microseconds because of it.
    brief = np.flatnonzero(end_ns - start_ns <= DRAIN_SLACK_NS)
    absent = brief[np.isin(part[brief], part[away])] if away.any() else brief[:0]
    reason[away] = Reason.HOST_STARVED
    reason[absent] = Reason.HOST_STARVED
    return reason


def _share_restart(
    pieces: tuple[Ints, Ints, Ints, Ints, Ints], free: Mask, away: Mask, excess_share: float
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Cut the host's own share off the end of each free piece after a drain."""
    part, start, end, reason, call = pieces
    own_ns = np.where(free, np.round((end - start) * excess_share), 0).astype(np.int64)
    cut = own_ns > 0
    if not cut.any():
        return pieces
    tail_reason = np.where(away, Reason.HOST_STARVED, Reason.LAUNCH_BOUND)
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
        np.where(tail, NO_CALL, call[row]),
    )
