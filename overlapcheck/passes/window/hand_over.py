"""The steps of a process by the time at which work was handed over, whatever ran it and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overlapcheck.columns import ABSENT
from overlapcheck.grouping import ordered
from overlapcheck.measurements import WindowSource
from overlapcheck.passes.process import DeviceTables, ProcessTables, launch_start_ns
from overlapcheck.passes.window.steps import step_ranges
from overlapcheck.passes.window.window import Steps
from overlapcheck.selection import Selection
from overlapcheck.stream_waits import HandOverSteps


@dataclass(frozen=True)
class DeviceSteps:
    """How the kernels of one device fall into steps."""

    tables: DeviceTables
    steps: Steps

    @property
    def kernel_ns(self) -> int:
        """Time in its kernels."""
        kernels = self.tables.kernels
        return int((kernels.end_ns - kernels.start_ns).sum())


def hand_over_steps(
    process: ProcessTables, devices: Sequence[DeviceSteps], selection: Selection
) -> HandOverSteps:
    """The steps of a process: its ranges, else the repeats of its busiest device's kernels.

    Args:
        process: its tables.
        devices: its devices that ran kernels, at least one, in the window that they would have if
            the user gave none.
        selection: the user's choices.
    """
    ranges = step_ranges(process.ranges, process.strings, selection.steps)
    if ranges is not None and ranges.beside and not any(_marked(one.steps) for one in devices):
        ranges = None
    if ranges is not None:
        starts = ranges.start_ns
        ends = np.append(starts[1:], ranges.last_end_ns)
        steady = np.ones(starts.size, dtype=np.bool_)
        if selection.window_ns is None:
            skipped = [one.steps.window.skipped for one in devices if _marked(one.steps)]
            steady[: max(skipped, default=0)] = False
        steps = HandOverSteps(starts, ends, ranges.numbers, steady, True, ranges.family)
    else:
        steps = _repeats(process, max(devices, key=lambda one: one.kernel_ns))
    if selection.window_ns is None:
        return steps
    first, last = selection.window_ns
    inside = (steps.start_ns >= first) & (steps.end_ns <= last)
    return replace(steps, steady=steps.steady & inside)


def _marked(steps: Steps) -> bool:
    return steps.window.source is WindowSource.NVTX_STEPS


def _repeats(process: ProcessTables, device: DeviceSteps) -> HandOverSteps:
    """Repeats of the kernels, each said to begin where the host usually pauses longest."""
    steps = device.steps
    nothing = np.empty(0, dtype=np.int64)
    if steps.window.source is not WindowSource.KERNEL_PERIOD:
        return HandOverSteps(nothing, nothing, nothing, nothing.astype(np.bool_), False)
    launch_ns = launch_start_ns(device.tables.kernel_call, process.calls)
    inside = np.flatnonzero(steps.kernel_step != ABSENT)
    order = inside[ordered(launch_ns[inside])]
    launch = launch_ns[order]
    # Each repeat has the same kernels, three times or more.
    count = int(steps.kernel_step[order].max()) + 1
    length = order.size // count
    pause = np.diff(launch, prepend=launch[:1]).reshape(count, length)
    shift = int(np.argmax(np.median(pause[1:], axis=0)))
    starts = launch.reshape(count, length)[:, shift]
    # Behind the last start, one more repeat may be cut off.
    ends = np.append(starts[1:], launch[-1] + 1)
    steady = np.arange(starts.size) >= steps.window.skipped
    steady[-1] &= shift == 0
    return HandOverSteps(starts, ends, np.arange(starts.size), steady, False)
