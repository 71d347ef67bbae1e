"""How much a repair can save at most.

Three things bound it. The device: no order of its work is shorter than its busiest resource. The
job: where another device of it is the bound, none of this one's time is won. The ledger: pieces
that another cause holds, by an order or a call of its own, are still there after the repair.

What goes with a repair is more than the pieces it is blamed for. A host that no longer waits gets
ahead, and a device without a gap starts its next kernel from the queue: pieces in which the host
was merely late, and start latencies, are there only until then.

    kernels  ####··=·####··=·####      ·  the wait     =  the host late after it, and the start
    window   [-----------------)       three steps, two gaps: the first step's lies before it
"""

from __future__ import annotations

import numpy as np

from overlapcheck.causes._job import others_of_job
from overlapcheck.columns import one_of
from overlapcheck.copies import Direction
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.recurring import usual_ns

_GOES_WITH_ANY = (
    Reason.HOST_SYNC,
    Reason.HOST_STARVED,
    Reason.LAUNCH_BOUND,
    Reason.LAUNCH_LATENCY,
    Reason.GRAPH_LAUNCH,
    Reason.LATE_ISSUE,
    Reason.COPY_BOUND,
    Reason.DEVICE_COPY,
)
"""Pieces in which nothing but the host's lateness, a start, the link or short work of the device's
own held it: the link's time is part of the bound already."""

_GOES_WITH = {Reason.SAME_STREAM: (Reason.PAGEABLE_COPY, Reason.SYNC_COPY)}
"""A second stream takes the copies out of the way, from whatever memory they are."""


class Savings:
    """What the repairs of one device's causes can save, over as many steps as the window has."""

    def __init__(self, device: DeviceMeasurements, measured: Measurements) -> None:
        ledger = device.ledger
        self._goes_with = _pieces(ledger, _GOES_WITH_ANY)
        self._device = device
        elsewhere = [_busy_inside(other, device) for other in others_of_job(device, measured)]
        bound = max(_bound_ns(device), *elsewhere, 0)
        won = (device.idle - device.taken) | device.stalled
        self._most = max(0, device.length_ns - bound) + self._more(won)

    def at_most(self, blamed: Intervals, cause: str = "", *, placed: bool = True) -> int:
        """The most that the repair of a cause can save, ns.

        Args:
            blamed: its pieces.
            cause: its id.
            placed: whether they lie where they are said to; else only their length counts.
        """
        if not placed:
            return min(blamed.total_ns, self._most)
        for reason, others in _GOES_WITH.items():
            if reason.cause == cause:
                blamed |= _pieces(self._device.ledger, others)
        # Rows of a ledger are disjoint: most causes lie in what goes with any, or beside it.
        shared_ns = int(self._goes_with.overlap_with(blamed.start_ns, blamed.end_ns).sum())
        if shared_ns == blamed.total_ns:
            return self._bounded(self._goes_with)
        if shared_ns == 0:
            return self._bounded(self._goes_with, blamed)
        return self._bounded(blamed | self._goes_with)

    def _bounded(self, *disjoint: Intervals) -> int:
        total_ns = sum(pieces.total_ns for pieces in disjoint)
        return min(total_ns + self._more(*disjoint), self._most)

    def _more(self, *disjoint: Intervals) -> int:
        """What as many steps could have more of it than those of this window have.

        The gap before the first step lies outside: it may be as long as the longest. Where steps
        differ, all may be like the quarter of them that has most.
        """
        steps = self._device.steps
        if len(steps) < 2:
            return 0
        parts = [pieces.overlap_with(steps.start_ns, steps.end_ns) for pieces in disjoint]
        cost = np.sum(parts, axis=0)
        quarter = usual_ns(cost, len(steps))
        total_ns = sum(pieces.total_ns for pieces in disjoint)
        return max(int(cost.max()), len(steps) * quarter - total_ns)


def _pieces(ledger: IdleLedger, reasons: tuple[Reason, ...]) -> Intervals:
    chosen = one_of(ledger.reason, reasons)
    return Intervals.of(ledger.start_ns[chosen], ledger.end_ns[chosen])


def _bound_ns(device: DeviceMeasurements) -> int:
    """The shortest that the kernels of the window can take.

    Copies to the host may trail behind the last kernel, so they do not bound it.
    """
    loads = device.copies.get(Direction.H2D)
    computing = device.compute_ns - device.stalled.total_ns
    return max(computing, device.communication_ns, loads.pinned.total_ns if loads else 0)


def _busy_inside(other: DeviceMeasurements, device: DeviceMeasurements) -> int:
    window = device.window
    computing = other.compute.clip(window.start_ns, window.end_ns)
    return computing.total_ns - (computing & other.stalled).total_ns
