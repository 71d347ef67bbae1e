"""How long each step took on the device, and how much of it was compute, idle and copies."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import groups
from overlapcheck.copies import JUDGED_DIRECTIONS, CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import StepTimes
from overlapcheck.passes.window.window import Steps
from overlapcheck.trace import Kernels


def step_times(
    kernels: Kernels, steps: Steps, compute: Intervals, copies: dict[Direction, CopyOverlap]
) -> StepTimes:
    """One row per step of the window that launched kernels.

    A step lasts from its first kernel to the next step's first kernel, the last one to the end of
    the window, so the steps tile the window.

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
    number = steps.kernel_step[inside]
    first, _ = groups(number)
    # Kernels are sorted by start, so the first row of a step is its first kernel. Steps that run
    # at once on several streams may begin in another order than they were numbered.
    start = np.maximum(kernels.start_ns[inside][first], window.start_ns)
    order = np.argsort(start, kind="stable")
    numbers, start = number[first[order]], start[order]
    end = np.append(start[1:], window.end_ns)
    busy = compute.overlap_with(start, end)
    judged = [copies[d] for d in JUDGED_DIRECTIONS if d in copies]
    zero = np.zeros(start.shape, dtype=np.int64)
    return StepTimes(
        number=numbers.astype(np.int64),
        start_ns=start,
        end_ns=end,
        compute_ns=busy,
        idle_ns=end - start - busy,
        copy_ns=sum((c.copy.overlap_with(start, end) for c in judged), zero),
        hidden_ns=sum((c.hidden.overlap_with(start, end) for c in judged), zero),
    )
