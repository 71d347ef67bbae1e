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

from dataclasses import dataclass

from overlapcheck.causes._job import others_of_job
from overlapcheck.columns import Ints, one_of
from overlapcheck.copies import Direction
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements, StepTimes
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

_CAUSES_THAT_GO = frozenset(reason.cause for reason in _GOES_WITH_ANY)

_GOES_WITH = {Reason.SAME_STREAM: (Reason.PAGEABLE_COPY, Reason.SYNC_COPY)}
"""A second stream takes the copies out of the way, from whatever memory they are."""


@dataclass(frozen=True)
class _Cost:
    """Some idle time of the window."""

    total_ns: int
    of_steps_ns: Ints
    """What of it lies in each step, shape (steps,)."""

    @classmethod
    def of(cls, pieces: Intervals, steps: StepTimes) -> _Cost:
        return cls(pieces.total_ns, pieces.overlap_with(steps.start_ns, steps.end_ns))

    def __add__(self, other: _Cost) -> _Cost:
        """Both, where they are disjoint."""
        return _Cost(self.total_ns + other.total_ns, self.of_steps_ns + other.of_steps_ns)

    @property
    def more_ns(self) -> int:
        """What as many steps could have more of it than those of this window have.

        The gap before the first step lies outside: it may be as long as the longest. Where steps
        differ, all may be like the quarter of them that has most.
        """
        count = self.of_steps_ns.size
        if count < 2:
            return 0
        quarter = usual_ns(self.of_steps_ns, count)
        return max(int(self.of_steps_ns.max()), count * quarter - self.total_ns)


class Savings:
    """What the repairs of one device's causes can save, over as many steps as the window has."""

    def __init__(self, device: DeviceMeasurements, measured: Measurements) -> None:
        self._device = device
        elsewhere = [_busy_inside(other, device) for other in others_of_job(device, measured)]
        bound = max(_bound_ns(device), *elsewhere, 0)
        won = _Cost.of((device.idle - device.taken) | device.stalled, device.steps)
        self._most = max(0, device.length_ns - bound) + won.more_ns
        self._goes_with = _Cost.of(_pieces(device.ledger, _GOES_WITH_ANY), device.steps)

    def at_most(self, blamed: Intervals, cause: str, *, placed: bool = True) -> int:
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
        # Rows of a ledger are disjoint: a cause lies in what goes with any, or beside it.
        won = self._goes_with
        if cause not in _CAUSES_THAT_GO:
            won += _Cost.of(blamed, self._device.steps)
        return min(won.total_ns + won.more_ns, self._most)


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
