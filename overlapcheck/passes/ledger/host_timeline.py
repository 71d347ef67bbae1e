"""What the launching threads of a device did: held, away, or ahead of the device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from overlapcheck.api_kinds import HAND_OVERS, ApiKind
from overlapcheck.columns import (
    ABSENT,
    ABSENT_TIME,
    Codes,
    Index,
    Ints,
    Mask,
    Rows,
    chosen,
    is_in,
    narrow,
    one_of,
)
from overlapcheck.grouping import distinct
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import Window
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.process import ProcessTables
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace_tables import ApiCalls, Overheads


@dataclass(frozen=True)
class ThreadCalls:
    """The calls of one thread, told apart when somebody asks."""

    calls: ApiCalls
    """Of the whole process."""
    kinds: Codes
    """ApiKind of each."""
    tid: int

    def handing_over_near(self, start_ns: Ints, end_ns: Ints) -> Intervals:
        """Time in calls that put work into a queue, as far as they touch some pieces in order."""
        return self._hand_overs.near(start_ns, end_ns)

    def others_near(self, start_ns: Ints, end_ns: Ints) -> Intervals:
        """Time in calls that put none there, as far as they touch some pieces in order."""
        others = self._others.near(start_ns, end_ns)
        return others - self.handing_over_near(start_ns, end_ns) if others else others

    def longest_other(self, start_ns: Ints, end_ns: Ints) -> Rows:
        """Row of the longest call that begins in each piece and hands nothing over; ABSENT."""
        rows = self._others.rows
        if rows.size == 0:
            return np.full(start_ns.shape, ABSENT, dtype=np.int32)
        start = self.calls.start_ns[rows]
        length = np.minimum(self.calls.end_ns[rows] - start, np.int64(1) << 31)
        # The longest and its place in one number, so that one pass finds both.
        marked = np.append(length * rows.size + np.arange(rows.size), 0)
        first = np.searchsorted(start, start_ns)
        last = np.searchsorted(start, end_ns)
        both = np.stack((first, np.maximum(last, first)), axis=1).ravel()
        best = np.maximum.reduceat(marked, both)[::2] % rows.size
        return narrow(np.where(last > first, rows[best], ABSENT))

    @cached_property
    def _hand_overs(self) -> _Spans:
        return self._of_kinds(HAND_OVERS)

    @cached_property
    def _others(self) -> _Spans:
        return self._of_kinds(tuple(kind for kind in ApiKind if kind not in HAND_OVERS))

    def _of_kinds(self, kinds: tuple[ApiKind, ...]) -> _Spans:
        rows = np.flatnonzero((self.calls.tid == self.tid) & one_of(self.kinds, kinds))
        start, end = self.calls.start_ns[rows], self.calls.end_ns[rows]
        return _Spans(rows, start, end, np.maximum.accumulate(end) if rows.size else end)


@dataclass(frozen=True)
class _Spans:
    """Some calls of a thread, sorted by start."""

    rows: Index
    start_ns: Ints
    end_ns: Ints
    reach_ns: Ints
    """Latest end so far."""

    def near(self, start_ns: Ints, end_ns: Ints) -> Intervals:
        """Time of those that touch some pieces, which are disjoint and in order."""
        if start_ns.size == 0:
            return Intervals.empty()
        first = int(np.searchsorted(self.reach_ns, start_ns[0], side="right"))
        last = int(np.searchsorted(self.start_ns, end_ns[-1]))
        start, end = self.start_ns[first:last], self.end_ns[first:last]
        at = np.searchsorted(end_ns, start, side="right")
        touching = start_ns[np.minimum(at, start_ns.size - 1)] < end
        touching &= at < start_ns.size
        return Intervals.of(start[touching], end[touching])


@dataclass(frozen=True)
class HostTimeline:
    """What the launching threads of a device did, as far as lateness needs it."""

    held: HeldCalls
    overheads: Overheads
    away: Intervals
    """No launching thread was in or near a CUDA call."""
    preparing: Intervals
    """Part of it after which a thread loaded code: it was being compiled or read."""
    occupied: Intervals
    """A launching thread was in a call that held it, or waited for room in a full queue.

    Launching threads take turns (forward and backward pass), so the host as a whole is held
    whenever one of them is: its own work is the rest."""
    device_idle: Intervals
    """Neither kernels nor collectives ran."""
    window: Window
    of_thread: Mapping[int, ThreadCalls]
    limits: Thresholds
    ahead_ns: Ints
    """Launch times of operations that were launched well ahead, sorted."""


@dataclass(frozen=True)
class Launched:
    """What the threads launched on a device, and how its window went."""

    ops: Operations
    submit_ns: Ints
    """When each operation was handed over."""
    idle: Intervals
    """The device's idle time in the window."""
    window: Window


def launching_threads(ops: Operations) -> Ints:
    """Threads that launch kernels: a loader that only copies does not launch for them."""
    kernels = one_of(ops.work, (Work.COMPUTE, Work.COMMUNICATION))
    return distinct(ops.tid[(ops.call != ABSENT) & kernels])


def host_timeline(
    process: ProcessTables, held: HeldCalls, launched: Launched, limits: Thresholds
) -> HostTimeline:
    """Summarise the launching threads of a device.

    Args:
        process: for its calls and the profiler's own time.
        held: calls that stand for a reason.
        launched: what was launched, and the window.
        limits: how long is away, and how early is ahead.
    """
    calls, ops = process.calls, launched.ops
    threads = launching_threads(ops)
    mine = is_in(calls.tid, threads)
    rows = np.flatnonzero(mine & (calls.end_ns > calls.start_ns))
    start, end = chosen(calls.start_ns, rows), chosen(calls.end_ns, rows)
    away = _absences(start, end, launched.window, limits.away_ns)
    loads_next = np.isin(away.end_ns, calls.start_ns[mine & _loads_code(process, limits)])
    compute = ops.work == Work.COMPUTE
    lead = ops.start_ns - launched.submit_ns
    ahead = compute & (launched.submit_ns != ABSENT_TIME) & (lead >= limits.ahead_ns)
    overheads = process.overheads
    collective = ops.work == Work.COMMUNICATION
    return HostTimeline(
        held=held,
        overheads=overheads.rows(np.isin(overheads.tid, threads)),
        away=away,
        preparing=Intervals.of(away.start_ns[loads_next], away.end_ns[loads_next]),
        occupied=_occupied(process, held, threads, limits.long_call_ns),
        device_idle=launched.idle - Intervals.of(ops.start_ns[collective], ops.end_ns[collective]),
        window=launched.window,
        of_thread={
            tid: ThreadCalls(calls, process.call_kind, tid) for tid in distinct(ops.tid).tolist()
        },
        limits=limits,
        ahead_ns=np.sort(ops.start_ns[ahead]),
    )


def _loads_code(process: ProcessTables, limits: Thresholds) -> Mask:
    """Calls that load code, told by name or, where they only may, by length."""
    calls, kinds = process.calls, process.call_kind
    asked = (kinds == ApiKind.CODE_QUERY) & (calls.end_ns - calls.start_ns >= limits.long_call_ns)
    mask: Mask = (kinds == ApiKind.MODULE_LOAD) | asked
    return mask


def _absences(start_ns: Ints, end_ns: Ints, window: Window, away_ns: int) -> Intervals:
    """The long stretches of the window without any of these calls, which are sorted by start."""
    reach = np.maximum.accumulate(end_ns) if end_ns.size else end_ns
    after = np.flatnonzero(start_ns[1:] - reach[:-1] >= away_ns)
    begin = np.concatenate(([window.start_ns], reach[after], reach[-1:]))
    end = np.concatenate((start_ns[:1], start_ns[1:][after], [window.end_ns]))
    begin, end = np.maximum(begin, window.start_ns), np.minimum(end, window.end_ns)
    long = end - begin >= away_ns
    return Intervals.of(begin[long], end[long])


def _occupied(
    process: ProcessTables, held: HeldCalls, threads: Ints, long_call_ns: int
) -> Intervals:
    calls = process.calls
    # A launch that waits for room in a full queue is no work of the host's either.
    long = np.flatnonzero(calls.end_ns - calls.start_ns >= long_call_ns)
    long_hand_over = long[one_of(process.call_kind[long], HAND_OVERS)]
    queue_full = long_hand_over[is_in(calls.tid[long_hand_over], threads)]
    waits = is_in(held.tid, threads)
    return Intervals.of(
        np.concatenate((held.start_ns[waits], calls.start_ns[queue_full])),
        np.concatenate((held.end_ns[waits], calls.end_ns[queue_full])),
    )
