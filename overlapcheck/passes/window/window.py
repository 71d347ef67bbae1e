"""The window of a device: steady steps where there are steps, else all its kernels.

With steps the window runs from the first start of a kernel of the first kept step to the last end
of a kept kernel that was launched before the last range closed:

    range       [ step 0 ][ step 1 ][ step 2 ]
    kernels         0 0 0   1 1 1 1   2 2 2 2 | x        x: launched after the last range
    window                  [---------------)            one step skipped
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Index, Ints, ordered
from overlapcheck.measurements import Window, WindowSource
from overlapcheck.passes.process import ABSENT_TIME, ProcessTables
from overlapcheck.passes.window.period import find_period
from overlapcheck.passes.window.steps import NO_STEP, StepRanges, step_ranges, warm_up_steps
from overlapcheck.selection import Selection
from overlapcheck.trace import Kernels, Strings


@dataclass(frozen=True)
class Steps:
    """How a device's kernels fall into steps, and the window that follows from it."""

    window: Window
    kernel_step: Index
    """Step of each of the device's kernels; NO_STEP for none, shape (n,)."""


def choose_window(
    process: ProcessTables,
    kernels: Kernels,
    launch_ns: Ints,
    strings: Strings,
    selection: Selection,
) -> Steps:
    """The window of one device.

    Args:
        process: the process's tables.
        kernels: the device's kernels, at least one.
        launch_ns: start of each kernel's launch call, ABSENT_TIME where not recorded.
        strings: names.
        selection: the user's choices.
    """
    none = np.full(len(kernels), NO_STEP, dtype=np.intp)
    ranges = step_ranges(process.ranges, strings, selection.steps)
    kernel_step = ranges.of_launches(launch_ns) if ranges else none
    if selection.window_ns is not None:
        start, end = selection.window_ns
        family = ranges.family if ranges else None
        window = Window(start, end, WindowSource.OPTION, "given by --window", family)
        return Steps(window, kernel_step)
    if ranges is not None:
        return _from_ranges(process, kernels, launch_ns, kernel_step, ranges, strings, selection)
    if selection.skip is None:
        found = _from_period(process, kernels, launch_ns, strings)
        if found is not None:
            return found
    why = "no NVTX steps and no repeating kernels" if selection.skip is None else "no NVTX steps"
    return Steps(_all_kernels(kernels, why), none)


def _all_kernels(kernels: Kernels, why: str, family: str | None = None) -> Window:
    start, end = int(kernels.start_ns.min()), int(kernels.end_ns.max())
    return Window(start, end, WindowSource.ALL_KERNELS, why, family)


def _from_ranges(
    process: ProcessTables,
    kernels: Kernels,
    launch_ns: Ints,
    kernel_step: Index,
    ranges: StepRanges,
    strings: Strings,
    selection: Selection,
) -> Steps:
    if selection.skip is None:
        skip = warm_up_steps(kernel_step, kernels, process.calls, strings, ranges.start_ns)
        why = f"warm-up: {skip} skipped" if skip else "no warm-up found"
    else:
        skip = selection.skip
        why = selection.told("skip")
    kept = kernel_step >= skip
    inside = kept & (launch_ns < ranges.last_end_ns)
    if not inside.any():
        why = f"no kernel was launched in the steps kept of {len(ranges)}"
        return Steps(_all_kernels(kernels, why, ranges.family), kernel_step)
    window = Window(
        int(kernels.start_ns[kept].min()),
        int(kernels.end_ns[inside].max()),
        WindowSource.NVTX_STEPS,
        why,
        ranges.family,
        max(0, len(ranges) - skip),
        skip,
    )
    return Steps(window, kernel_step)


def _from_period(
    process: ProcessTables, kernels: Kernels, launch_ns: Ints, strings: Strings
) -> Steps | None:
    # A kernel whose launch was not recorded belongs to no step here either.
    launched = np.flatnonzero(launch_ns != ABSENT_TIME)
    order = launched[ordered(launch_ns[launched])]
    reach = np.maximum.accumulate(kernels.end_ns[order])
    gap = np.maximum(kernels.start_ns[order] - np.concatenate((reach[:1], reach[:-1])), 0)
    period = find_period(kernels.name_id[order], gap)
    if period is None:
        return None
    position = np.searchsorted(period.starts, np.arange(order.size), side="right") - 1
    position[period.first + period.repeats * period.length :] = NO_STEP
    kernel_step = np.full(len(kernels), NO_STEP, dtype=np.intp)
    kernel_step[order] = position
    starts = launch_ns[order][period.starts]
    skip = warm_up_steps(kernel_step, kernels, process.calls, strings, starts)
    kept = kernel_step >= skip
    repeat = "kernel repeats" if period.length == 1 else "kernels repeat"
    window = Window(
        int(kernels.start_ns[kept].min()),
        int(kernels.end_ns[kept].max()),
        WindowSource.KERNEL_PERIOD,
        f"{period.length} {repeat}, {skip} skipped as warm-up",
        None,
        period.repeats - skip,
        skip,
    )
    return Steps(window, kernel_step)
