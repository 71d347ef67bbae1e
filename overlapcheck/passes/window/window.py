"""The window of a device: steady steps where there are steps, else the whole run.

With steps the window runs from the first start of a kernel of the first kept step to the last end
of a kept kernel that was launched before the last range closed:

    range       [ step 0 ][ step 1 ][ step 2 ]
    kernels         0 0 0   1 1 1 1   2 2 2 2 | x        x: launched after the last range
    window                  [---------------)            one step skipped

Without, from the first start to the last end of a kernel or a copy between host and device: what a
program of one pass copies in and out is its story.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from overlapcheck.columns import ABSENT, Index, Ints, Mask, one_of
from overlapcheck.errors import PolicyInvalid
from overlapcheck.grouping import ordered
from overlapcheck.kinds import CopyKind
from overlapcheck.measurements import Window, WindowSource
from overlapcheck.passes.process import ABSENT_TIME, DeviceTables, ProcessTables, launch_start_ns
from overlapcheck.passes.window.period import Period, find_period
from overlapcheck.passes.window.steps import StepRanges, step_ranges, warm_up_steps
from overlapcheck.quantities import count_of, percent
from overlapcheck.searches import last_at_or_before
from overlapcheck.selection import Selection
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace_tables import Copies, Kernels

_MARK_STEPS = (
    "so set-up is in it; to judge steps alone, mark them with NVTX ranges ('step 3') or name yours"
    " with --steps (--skip leaves out the first)"
)


@dataclass(frozen=True)
class Steps:
    """How a device's kernels fall into steps, and the window that follows from it."""

    window: Window
    kernel_step: Index
    """Step of each of the device's kernels; ABSENT for none, shape (n,)."""
    numbers: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """What each step is called by, see `Window.first_step`; empty where no steps are judged."""


@dataclass(frozen=True)
class _Launches:
    """A device's kernels by the ranges that launched them."""

    kernels: Kernels
    launch_ns: Ints
    """Start of each kernel's launch call, ABSENT_TIME where not recorded."""
    ranges: StepRanges
    kernel_step: Index
    """Range of each; ABSENT for none."""

    @property
    def inside(self) -> Mask:
        """Kernels of a step that were launched before the last range closed."""
        return _launched_inside(self.kernel_step, self.launch_ns, self.ranges)


def choose_window(process: ProcessTables, device: DeviceTables, selection: Selection) -> Steps:
    """The window of one device.

    Args:
        process: the process's tables.
        device: the device's rows, of kernels at least one.
        selection: the user's choices.

    Raises:
        PolicyInvalid: the process has no more steps than are to be skipped.
    """
    kernels, copies = device.kernels, device.copies
    launch_ns = launch_start_ns(device.kernel_call, process.calls)
    none = np.full(len(kernels), ABSENT, dtype=np.intp)
    ranges = step_ranges(process.ranges, process.strings, selection.steps)
    kernel_step = ranges.of_launches(launch_ns) if ranges else none
    if selection.window_ns is not None:
        start, end = selection.window_ns
        family = ranges.family if ranges else None
        window = Window(start, end, WindowSource.OPTION, "given by --window", family)
        return Steps(window, kernel_step)
    if ranges is not None:
        launches = _Launches(kernels, launch_ns, ranges, kernel_step)
        found = _of_ranges(process, launches, selection)
        if found is not None:
            return _numbered(_told_outside(found, kernels), kernel_step, ranges.numbers)
        worked = bool(launches.inside.any())
        why = f"no kernel was launched in {_kept(ranges, selection.skip if worked else None)}"
        if worked or selection.steps is not None:
            return Steps(_nothing(kernels, why, ranges.family), kernel_step)
        if not ranges.beside:
            # Another device may have had the work of the steps: this one's run is no lost step.
            elsewhere = launch_start_ns(process.kernel_call, process.calls)
            if _launched_inside(ranges.of_launches(elsewhere), elsewhere, ranges).any():
                return Steps(_whole_run(kernels, copies, why, ranges.family), kernel_step)
            return Steps(_nothing(kernels, why, ranges.family), kernel_step)
    if selection.steps is not None:
        why = f"{selection.told('steps')} matches no ranges of this process"
        return Steps(_nothing(kernels, why), none)
    if selection.skip is not None:
        return Steps(_whole_run(kernels, copies, "no NVTX steps"), none)
    steps = _from_period(process, kernels, copies, launch_ns, selection.thresholds)
    if steps is not None:
        return replace(steps, window=_told_outside(steps.window, kernels))
    return Steps(
        _whole_run(kernels, copies, "no NVTX steps and no steadily repeating kernels"), none
    )


def _launched_inside(kernel_step: Index, launch_ns: Ints, ranges: StepRanges) -> Mask:
    """Kernels of a step that were launched before the last range closed."""
    mask: Mask = (kernel_step != ABSENT) & (launch_ns < ranges.last_end_ns)
    return mask


def _kept(ranges: StepRanges, skip: int | None) -> str:
    which = f"the last {len(ranges) - skip} of the" if skip else "the"
    return f"{which} {len(ranges)} '{ranges.family}' ranges"


def _whole_run(kernels: Kernels, copies: Copies, why: str, family: str | None = None) -> Window:
    moved = copies.rows(_between_host_and_device(copies))
    starts = np.concatenate((kernels.start_ns, moved.start_ns))
    ends = np.concatenate((kernels.end_ns, moved.end_ns))
    why = f"{why}, {_MARK_STEPS}"
    return Window(int(starts.min()), int(ends.max()), WindowSource.WHOLE_RUN, why, family)


def _nothing(kernels: Kernels, why: str, family: str | None = None) -> Window:
    """All kernels, to look at: what should be judged is not there, and nothing else will do."""
    start, end = int(kernels.start_ns.min()), int(kernels.end_ns.max())
    return Window(start, end, WindowSource.NOTHING, why, family)


def _between_host_and_device(copies: Copies) -> Index:
    return np.flatnonzero(one_of(copies.kind, (CopyKind.HOST_TO_DEVICE, CopyKind.DEVICE_TO_HOST)))


def _told_outside(window: Window, kernels: Kernels) -> Window:
    """The window, with a word on the kernel time outside where that is most of it."""
    inside = _held_ns(kernels.start_ns, kernels.end_ns, window.start_ns, window.end_ns)
    total = int((kernels.end_ns - kernels.start_ns).sum())
    if inside >= Thresholds.window_kernel_share * total:
        return window
    return replace(
        window, why=f"{window.why}; {percent(1 - inside / total)} of the kernel time lies outside"
    )


def _held_ns(start_ns: Ints, end_ns: Ints, first_ns: int, last_ns: int) -> int:
    """Sum of the lengths of operations inside a span."""
    length = np.minimum(end_ns, last_ns) - np.maximum(start_ns, first_ns)
    return int(np.maximum(length, 0).sum())


def _of_ranges(process: ProcessTables, launches: _Launches, selection: Selection) -> Window | None:
    """The window of a range family; None where its kept ranges launched nothing here."""
    kernels, ranges, kernel_step = launches.kernels, launches.ranges, launches.kernel_step
    if selection.skip is None:
        skip = warm_up_steps(
            kernel_step, kernels, process.calls, process.call_kind, ranges.start_ns
        )
        why = f"warm-up: {skip} skipped" if skip else "no warm-up found"
    else:
        skip = selection.skip
        why = selection.told("skip")
        if skip >= len(ranges):
            raise PolicyInvalid(
                f"{why} leaves no step: process {process.key.pid} has"
                f" {count_of(len(ranges), 'step')} of '{ranges.family}'",
                f"skip {len(ranges) - 1} at most",
            )
    kept = kernel_step >= skip
    inside = kept & launches.inside
    if not inside.any():
        return None
    return Window(
        int(kernels.start_ns[kept].min()),
        int(kernels.end_ns[inside].max()),
        WindowSource.NVTX_STEPS,
        why,
        ranges.family,
        len(ranges) - skip,
        skip,
    )


def _from_period(
    process: ProcessTables, kernels: Kernels, copies: Copies, launch_ns: Ints, limits: Thresholds
) -> Steps | None:
    # A kernel whose launch was not recorded belongs to no step here either.
    launched = np.flatnonzero(launch_ns != ABSENT_TIME)
    order = launched[ordered(launch_ns[launched])]
    reach = np.maximum.accumulate(kernels.end_ns[order])
    gap = np.maximum(kernels.start_ns[order] - np.concatenate((reach[:1], reach[:-1])), 0)
    length = kernels.end_ns - kernels.start_ns
    least = Thresholds.window_kernel_share * int(length.sum())
    period = find_period(kernels.name_id[order], gap, length[order], least, limits)
    if period is None or not _holds_its_copies(period, kernels.rows(order), copies, limits):
        return None
    position = last_at_or_before(period.starts, np.arange(order.size))
    position[period.end :] = ABSENT
    kernel_step = np.full(len(kernels), ABSENT, dtype=np.intp)
    kernel_step[order] = position
    starts = launch_ns[order][period.starts]
    skip = warm_up_steps(kernel_step, kernels, process.calls, process.call_kind, starts)
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
    return _numbered(window, kernel_step, np.arange(period.repeats))


def _numbered(window: Window, kernel_step: Index, numbers: Ints) -> Steps:
    first, last = int(numbers[window.skipped]), int(numbers[-1])
    return Steps(replace(window, first_step=first, last_step=last), kernel_step, numbers)


def _holds_its_copies(
    period: Period, launched: Kernels, copies: Copies, limits: Thresholds
) -> bool:
    """Whether a period is many kernels, or few that run among the copies, not between them."""
    if period.end - period.first >= limits.period_few_kernels:
        return True
    moved = copies.rows(_between_host_and_device(copies))
    mine = slice(period.first, period.end)
    first, last = int(launched.start_ns[mine].min()), int(launched.end_ns[mine].max())
    total = int((moved.end_ns - moved.start_ns).sum())
    return (
        _held_ns(moved.start_ns, moved.end_ns, first, last)
        >= Thresholds.window_kernel_share * total
    )
