"""How long each step took on the device, and how much of it was compute, idle and copies."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import Index, Ints
from overlapcheck.copies import JUDGED_DIRECTIONS, CopyOverlap, Direction
from overlapcheck.grouping import groups
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import StepTimes
from overlapcheck.passes.window.window import Steps
from overlapcheck.trace_tables import Kernels


def step_times(
    kernels: Kernels, steps: Steps, compute: Intervals, copies: dict[Direction, CopyOverlap]
) -> StepTimes:
    """One row per step of the window that launched kernels.

    A step lasts from the end of the last kernel of the step before to that of its own: what delays
    its kernels lies in it, and the steps tile the window.

    Args:
        kernels: the device's kernels.
        steps: their steps and the window.
        compute: the device's compute inside the window.
        copies: overlap per direction.
    """
    window = steps.window
    if window.steps is None:
        return StepTimes.none()
    inside = (steps.kernel_step >= window.skipped) & (kernels.start_ns < window.end_ns)
    if not inside.any():
        # A window of no length: kernels of no length at one instant.
        return StepTimes.none()
    position, end = _last_ends(steps.kernel_step[inside], kernels.end_ns[inside])
    end = np.append(np.minimum(end[:-1], window.end_ns), window.end_ns)
    start = np.append(window.start_ns, end[:-1])
    busy = compute.overlap_with(start, end)
    judged = [copies[d] for d in JUDGED_DIRECTIONS if d in copies]
    zero = np.zeros(start.shape, dtype=np.int64)
    return StepTimes(
        number=steps.numbers[position],
        start_ns=start,
        end_ns=end,
        compute_ns=busy,
        idle_ns=end - start - busy,
        copy_ns=sum((c.copy.overlap_with(start, end) for c in judged), zero),
        hidden_ns=sum((c.hidden.overlap_with(start, end) for c in judged), zero),
    )


def _last_ends(position: Index, end_ns: Ints) -> tuple[Index, Ints]:
    """Each step and when its last kernel ended, in the order of that.

    Steps that run at once on several streams may end in another order than they were numbered.
    """
    first, group = groups(position)
    end = np.full(first.size, np.iinfo(np.int64).min)
    np.maximum.at(end, group, end_ns)
    order = np.argsort(end, kind="stable")
    return position[first[order]], end[order]
