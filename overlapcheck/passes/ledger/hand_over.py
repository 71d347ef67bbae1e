"""When operations were handed to the device, and when its clock says that they got there."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT_TIME, Ints, Mask
from overlapcheck.grouping import distinct
from overlapcheck.order import Operations
from overlapcheck.thresholds import Thresholds


def submit_times(ops: Operations, returns_when_done: Mask, limits: Thresholds) -> Ints:
    """When each operation was handed to the device, shape (n,); ABSENT_TIME where unknown.

    A launch is handed over near the end of its call. Where it starts about as soon after that as
    the fastest of its kind, it got to the device as much later as they. A call that returns only
    when its operation is done (pageable and synchronous copies) handed it over near its start.
    """
    known = (ops.launch_start_ns != ABSENT_TIME) & ~returns_when_done
    delay = _delays(ops, known, limits)
    # What starts later than that was held by something else.
    at_once = ops.start_ns - ops.launch_end_ns <= 2 * delay
    near_end = np.minimum(ops.launch_end_ns + at_once * delay, ops.start_ns)
    submit = np.where(returns_when_done, ops.launch_start_ns, near_end)
    return np.where(ops.launch_start_ns == ABSENT_TIME, ABSENT_TIME, submit)


def _delays(ops: Operations, known: Mask, limits: Thresholds) -> Ints:
    """How long work of each kind takes to get to an idle device.

    Where all of it is queued behind other work, even the fastest say nothing.
    """
    delay = np.zeros(len(ops), dtype=np.int64)
    for work in distinct(ops.work).tolist():
        mine = np.flatnonzero(known & (ops.work == work))
        if mine.size == 0:
            continue
        lag = ops.start_ns[mine] - ops.launch_end_ns[mine]
        place = int(limits.handing_over_share * (mine.size - 1))
        fastest = int(np.partition(lag, place)[place])
        if 0 < fastest <= limits.start_latency_ns:
            delay[mine] = fastest
    return delay
