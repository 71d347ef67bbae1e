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
        """Time in calls that put work into a queue, in and around some pieces in order."""
        near = self._near(start_ns, end_ns)
        return self._time(near[self._hands_over(near)])

    def others_near(self, start_ns: Ints, end_ns: Ints) -> Intervals:
        """Time in calls that put none there, in and around some pieces in order."""
        near = self._near(start_ns, end_ns)
        hands_over = self._hands_over(near)
        return self._time(near[~hands_over]) - self._time(near[hands_over])

    def longest_other(self, start_ns: Ints, end_ns: Ints) -> Rows:
        """Row of the longest call that begins in each piece and hands nothing over; ABSENT."""
        near = self._near(start_ns, end_ns)
        near = near[~self._hands_over(near)]
        if near.size == 0:
            return np.full(start_ns.shape, ABSENT, dtype=np.int32)
        start, end = (column[near] for column in self._spans)
        length = np.minimum(end - start, np.int64(1) << 31)
        # The longest and its place in one number, so that one pass finds both.
        marked = np.append(length * near.size + np.arange(near.size), 0)
        first = np.searchsorted(start, start_ns)
        last = np.searchsorted(start, end_ns)
        both = np.stack((first, np.maximum(last, first)), axis=1).ravel()
        best = near[np.maximum.reduceat(marked, both)[::2] % near.size]
        rows = best if isinstance(self._own, slice) else self._own[best]
        return narrow(np.where(last > first, rows, ABSENT))

    @cached_property
    def _own(self) -> Index | slice:
        """Rows of the thread's calls."""
        mine = self.calls.tid == self.tid
        return slice(None) if mine.all() else np.flatnonzero(mine)

    @cached_property
    def _spans(self) -> tuple[Ints, Ints]:
        """Start of each of the thread's calls, ascending, and its end."""
        return self.calls.start_ns[self._own], self.calls.end_ns[self._own]

    @cached_property
    def _reach_ns(self) -> Ints:
        """Latest end of them so far."""
        return np.maximum.accumulate(self._spans[1])

    def _near(self, start_ns: Ints, end_ns: Ints) -> Index:
        """Places among the thread's calls of those that may touch pieces: few of all its calls."""
        first = np.searchsorted(self._reach_ns, start_ns)
        last = np.searchsorted(self._spans[0], end_ns)
        first[1:] = np.maximum(first[1:], last[:-1])  # a long call touches several
        count = np.maximum(last - first, 0)
        return np.repeat(last - np.cumsum(count), count) + np.arange(count.sum())

    def _hands_over(self, near: Index) -> Mask:
        return one_of(self.kinds[self._own][near], HAND_OVERS)

    def _time(self, near: Index) -> Intervals:
        start, end = self._spans
        return Intervals.of(start[near], end[near])


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
    reach = np.maximum.accumulate(end_ns)
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
