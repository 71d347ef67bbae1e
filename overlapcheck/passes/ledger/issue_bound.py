"""Time in which the device could not have run sooner, for the host issued as fast as it can.

    host      [ sync ]LcLcLcLcLcLcLcLcLcLc[ sync ]     back to back, without a wait
    device            kc  kc  kc  kc  kc  kc           hardly behind when the last was issued

Between two waits of the host, whatever order delayed on the device is made up for by the end if
hardly anything is left to do then: without that order the host would take just as long.
"""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, ABSENT_TIME, Ints, is_in
from overlapcheck.grouping import distinct, ordered
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.searches import places
from overlapcheck.thresholds import Thresholds


def issue_bound(
    ops: Operations, submit_ns: Ints, held: HeldCalls, away: Intervals, limits: Thresholds
) -> Intervals:
    """Stretches in which launching was the bound.

    Args:
        ops: the device's operations.
        submit_ns: when each was handed over.
        held: calls that stand for a reason.
        away: when no launching thread made a call.
        limits: how much of a stretch has to be launching.
    """
    launched = np.flatnonzero((ops.work == Work.COMPUTE) & (submit_ns != ABSENT_TIME))
    if launched.size == 0:
        return Intervals.empty()
    issued, began = submit_ns[launched], ops.start_ns[launched]
    waits = _waits(ops, held, limits) | away
    stretch = places(waits.end_ns, issued, side="right")
    order = ordered(stretch)
    first = np.flatnonzero(np.diff(stretch[order], prepend=ABSENT))
    from_ns = np.minimum.reduceat(issued[order], first)
    to_ns = np.maximum.reduceat(issued[order], first)
    done_ns = np.maximum.reduceat(began[order], first)
    bound = to_ns - from_ns >= limits.issue_bound_share * (done_ns - from_ns)
    return Intervals.of(from_ns[bound], done_ns[bound])


def _waits(ops: Operations, held: HeldCalls, limits: Thresholds) -> Intervals:
    """When a launching thread was held, or its launch waited for room in a full queue."""
    mine = (ops.work == Work.COMPUTE) & (ops.call != ABSENT)
    full = mine & (ops.launch_end_ns - ops.launch_start_ns >= limits.long_call_ns)
    waits = is_in(held.tid, distinct(ops.tid[mine])) & (held.reason != Reason.GRAPH_LAUNCH)
    return Intervals.of(
        np.concatenate((held.start_ns[waits], ops.launch_start_ns[full])),
        np.concatenate((held.end_ns[waits], ops.launch_end_ns[full])),
    )
