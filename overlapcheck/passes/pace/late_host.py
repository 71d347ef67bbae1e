"""Idle time that the host's lateness explains: recording CUDA calls makes a host late.

First what the ledger gives to causes of a late host alone. Then what follows from lateness behind
another cause: the restart after a call that held the thread, for the call is the program's, but how
long the host then takes to launch again is its pace; and the wait in a collective for
another device of the recording, which lasts until that one comes, late by its own host.

    kernels     ####·········=====####~~~~[coll]####
                    the call  restart  the other is late
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.codes import Code
from overlapcheck.columns import ABSENT, Codes, Index, Ints, Mask, one_of
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import LATE_HOST, IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.passes.ledger.splitting import split

_RESTARTS = (Reason.HOST_SYNC, Reason.ALLOCATION, Reason.MODULE_LOAD, Reason.CUDA_CALL)
"""Calls that move nothing: when they have returned, nothing of theirs goes on."""


class Lateness(Code):
    """How surely a piece is the host's lateness, and may be the recording's; the surest first."""

    RECORDER = 0
    """The recorder itself says that it held the thread."""
    ALONE = 1
    """Nothing but a late host explains it."""
    FOLLOWS = 2
    """It follows from lateness, behind another cause."""


@dataclass(frozen=True)
class LateHost:
    """Pieces of a device's ledger, or ends of them, sorted and disjoint."""

    start_ns: Ints
    end_ns: Ints
    lateness: Codes
    """Lateness."""

    @property
    def time(self) -> Intervals:
        """All of it."""
        return Intervals.of(self.start_ns, self.end_ns)

    @property
    def alone(self) -> Intervals:
        """What nothing else explains."""
        rows = self.lateness != Lateness.FOLLOWS
        return Intervals.of(self.start_ns[rows], self.end_ns[rows])

    def share_of(self, total_ns: int) -> Intervals:
        """The ends of pieces, `total_ns` together.

        The surest come first, and of equally sure ones each gives in proportion to its length.

        Args:
            total_ns: where it is more than all, all is meant.
        """
        begin = self.end_ns.copy()
        for lateness in Lateness:
            rows = self.lateness == lateness
            length = self.end_ns[rows] - self.start_ns[rows]
            share = min(total_ns, int(length.sum()))
            begin[rows] -= _in_proportion(length, share)
            total_ns -= share
        return Intervals.of(begin, self.end_ns)


def _in_proportion(length_ns: Ints, total_ns: int) -> Ints:
    """Whole parts of lengths that add up to a total, none longer than its length."""
    done = np.cumsum(length_ns)
    if done.size == 0:
        return np.zeros_like(length_ns)
    reached = np.rint(done * (total_ns / int(done[-1]))).astype(np.int64)
    parts: Ints = np.diff(reached, prepend=0)
    return parts


def late_host(device: DeviceMeasurements, waiting: Intervals) -> LateHost:
    """The pieces of one device.

    Args:
        device: whose ledger is looked through.
        waiting: time in which it waits in a collective for another device of the recording.
    """
    ledger = device.ledger
    late = np.flatnonzero(one_of(ledger.reason, LATE_HOST))
    restart = np.flatnonzero(one_of(ledger.reason, _RESTARTS) & (ledger.call_ns != ABSENT))
    returned = ledger.call_start_ns[restart] + ledger.call_ns[restart]
    rows = [late, restart]
    starts = [ledger.start_ns[late], np.maximum(ledger.start_ns[restart], returned)]
    ends = [ledger.end_ns[late], ledger.end_ns[restart]]
    if waiting:
        met = np.flatnonzero(ledger.reason == Reason.EXPOSED_COLLECTIVE)
        at = split(ledger.start_ns[met], ledger.end_ns[met], waiting.start_ns, waiting.end_ns)
        waits = at.cut != ABSENT
        rows.append(met[at.span[waits]])
        starts.append(at.start_ns[waits])
        ends.append(at.end_ns[waits])
    return _sorted(ledger, np.concatenate(rows), np.concatenate(starts), np.concatenate(ends))


def _sorted(ledger: IdleLedger, row: Index, start_ns: Ints, end_ns: Ints) -> LateHost:
    held: Mask = end_ns > start_ns
    order = np.flatnonzero(held)[np.argsort(start_ns[held], kind="stable")]
    reason = ledger.reason[row[order]]
    lateness = np.where(one_of(reason, LATE_HOST), Lateness.ALONE, Lateness.FOLLOWS)
    lateness = np.where(reason == Reason.PROFILER_OVERHEAD, Lateness.RECORDER, lateness)
    return LateHost(start_ns[order], end_ns[order], lateness.astype(np.int8))


def waiting_for_others(measured: Measurements, number: int) -> Intervals:
    """When a device waited in collectives for other devices of the recording to come.

    Args:
        measured: knows where its devices met.
        number: position of the device.
    """
    starts, ends = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for meeting in measured.meetings:
        for row, member in enumerate(meeting.members):
            if member == number:
                starts.append(meeting.start_ns[row])
                ends.append(meeting.start_ns[row] + meeting.waiting_ns[row])
    return Intervals.of(np.concatenate(starts), np.concatenate(ends))
