"""Why an operation was submitted late: rules about what its thread did meanwhile.

    device     ####·············####
    thread     [ sync ]  free  [L]            a sync drained the device
    pieces         |sync|restart|

Time inside a call that holds the thread is that call's. The free time after it is the restart:
it belongs to the call that drained the device if the host needs less time per step than the
device, for then it would have run ahead. The share by which the host needs more is its own,
see `restarts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from overlapcheck.columns import ABSENT, Codes, Floats, Index, Ints, Mask, Rows
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.ledger.host_timeline import HostTimeline, ThreadCalls
from overlapcheck.passes.ledger.rule import Ruling
from overlapcheck.searches import last_before, taken


@dataclass(frozen=True)
class HostTime:
    """Pieces of the time before operations were submitted, cut along what one thread did."""

    part: Rows
    """Number of the host-late part that each piece came from."""
    start_ns: Ints
    end_ns: Ints
    overhead: Mask
    """The profiler was at work on the thread."""
    held_row: Ints
    """Row of `held` that the thread was in; ABSENT for none."""
    away: Mask
    """No launching thread was in or near a CUDA call."""
    drain: Ints
    """Row of `host.held` that drained the device before the part; ABSENT for none."""
    own_share: Floats
    """Share of a restart that is the host's own."""
    thread: ThreadCalls
    held: HeldCalls
    """Calls that held the thread."""
    host: HostTimeline

    @cached_property
    def preparing(self) -> Mask:
        """Code was being compiled or read, to be loaded next."""
        mask: Mask = self.host.preparing.overlap_with(self.start_ns, self.end_ns) > 0
        return mask

    @property
    def length_ns(self) -> Ints:
        """Length of each piece."""
        return self.end_ns - self.start_ns

    @cached_property
    def in_other_calls(self) -> Mask:
        """Short calls that hand nothing over fill most of the piece."""
        rows = self._free_and_long(self.host.limits.long_call_ns)
        return self._mostly(rows, self.thread.others_near)

    @cached_property
    def handing_nothing_over(self) -> Mask:
        """Long, and for the most part outside calls that put work into a queue."""
        rows = self._free_and_long(self.host.limits.away_ns)
        if rows.size == 0:
            return self.away
        handing = self._mostly(rows, self.thread.handing_over_near)
        mask = self.away.copy()
        mask[rows[~handing[rows]]] = True
        return mask

    @property
    def nowhere(self) -> Mask:
        """No piece at all."""
        return np.zeros(self.part.shape, dtype=np.bool_)

    def _free_and_long(self, least_ns: int) -> Index:
        return np.flatnonzero((self.length_ns >= least_ns) & (self.held_row == ABSENT))

    def _mostly(self, rows: Index, near: Callable[[Ints, Ints], Intervals]) -> Mask:
        mask = self.nowhere
        if rows.size == 0:
            return mask
        start, end = self.start_ns[rows], self.end_ns[rows]
        inside = near(start, end).overlap_with(start, end)
        mask[rows] = 2 * inside > self.length_ns[rows]
        return mask


@dataclass(frozen=True)
class Tails:
    """Time to be cut off the end of pieces."""

    own_ns: Ints
    """How much of each piece; 0 for none."""
    reason: Codes
    """What it is then spent on."""


def profiler_overhead(time: HostTime) -> Ruling:
    """The profiler itself held the thread."""
    return Ruling(time.overhead, Reason.PROFILER_OVERHEAD)


def in_a_call(time: HostTime) -> Ruling:
    """The thread was in a call that stands for a reason."""
    row = time.held_row
    reason = taken(time.held.reason, row, Reason.UNEXPLAINED)
    return Ruling(row != ABSENT, reason, taken(time.held.call, row, ABSENT))


def preparing_code(time: HostTime) -> Ruling:
    """The thread compiled or read what it loaded next."""
    return Ruling(time.preparing, Reason.MODULE_LOAD)


def in_other_calls(time: HostTime) -> Ruling:
    """The thread was in one short call after another, none of which hands work over."""
    call = np.full(time.part.shape, ABSENT, dtype=np.int32)
    rows = np.flatnonzero(time.in_other_calls)
    if rows.size:
        call[rows] = time.thread.longest_other(time.start_ns[rows], time.end_ns[rows])
    return Ruling(call != ABSENT, Reason.CUDA_CALL, call)


def restart(time: HostTime) -> Ruling:
    """A call had drained the device, and the host has not got ahead again since."""
    held, row = time.host.held, time.drain
    reason = taken(held.reason, row, Reason.UNEXPLAINED)
    return Ruling(row != ABSENT, reason, taken(held.call, row, ABSENT))


def away(time: HostTime) -> Ruling:
    """No launching thread was near a call that hands work over for long."""
    return Ruling(time.handing_nothing_over, Reason.HOST_STARVED)


def back_from_away(time: HostTime) -> Ruling:
    """The launch that ends an absence takes its few microseconds because of it."""
    rows = time.length_ns <= time.host.limits.drain_slack_ns
    rows = rows & np.isin(time.part, time.part[time.away]) if time.away.any() else time.away
    return Ruling(rows, Reason.HOST_STARVED)


def late_once(time: HostTime) -> Ruling:
    """The host had been ahead just before, and was late by the distance of two launches."""
    limits, ahead_ns = time.host.limits, time.host.ahead_ns
    at = last_before(ahead_ns, time.start_ns)
    since = time.start_ns - taken(ahead_ns, at, 0)
    was_ahead = (at != ABSENT) & (since < limits.away_ns)
    return Ruling(was_ahead & (time.length_ns <= limits.launch_distance_ns), Reason.LAUNCH_LATENCY)


def launching(time: HostTime) -> Ruling:
    """The thread launched all the while, and could not keep up."""
    return Ruling(np.ones(time.part.shape, dtype=np.bool_), Reason.LAUNCH_BOUND)


def own_share_of_restart(time: HostTime) -> Tails:
    """Of a restart, the share by which the host needs longer than the device anyway."""
    free = (time.drain != ABSENT) & (time.held_row == ABSENT) & ~time.overhead & ~time.preparing
    free &= ~time.in_other_calls
    own_ns = np.where(free, np.round(time.length_ns * time.own_share), 0).astype(np.int64)
    starved = time.handing_nothing_over
    reason = np.where(starved, Reason.HOST_STARVED, Reason.LAUNCH_BOUND).astype(np.int8)
    return Tails(own_ns, reason)
