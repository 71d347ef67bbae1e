"""How fast the host began its steps in a control.

    control   [ step 0 ][ step 1 ][ step 2 ][ step 3 ]
                        |---------|---------|            start to start, warm-up left out

Where the host runs ahead of the device this is shorter than the device's pace: a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Ints
from overlapcheck.grouping import distinct
from overlapcheck.pace import Control
from overlapcheck.passes.window.steps import family_of
from overlapcheck.quantities import count_of
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Strings
from overlapcheck.trace_tables import Ranges


@dataclass(frozen=True)
class RecordedSteps:
    """The steps whose cadence is looked for, as the recording has them."""

    family: str
    """Name of the ranges with digits as #."""
    count: int
    """Of them in the process, warm-up included."""
    skipped: int
    """Leading ones that are warm-up."""
    place: int
    """Place of the process among those that have such steps, from 0."""
    processes: int
    """How many have."""


@dataclass(frozen=True)
class Cadence:
    """Length of a step on the host, or why it is not known."""

    ns: float | None
    why: str = ""


def step_starts(ranges: Ranges, strings: Strings, family: str) -> dict[int, dict[int, Ints]]:
    """Starts of a family's ranges, ascending, by process and thread.

    Args:
        ranges: of any processes.
        strings: texts of their names.
        family: name with digits as #.
    """
    named = strings.matching(ranges.name_id, lambda name: family_of(name) == family)
    mine = ranges.rows(named)
    found: dict[int, dict[int, Ints]] = {}
    for process in distinct(mine.process).tolist():
        own = mine.rows(mine.process == process)
        # A row that was exported twice is one range.
        found[process] = {
            tid: np.unique(own.start_ns[own.tid == tid]) for tid in distinct(own.tid).tolist()
        }
    return found


def host_cadence(control: Control, steps: RecordedSteps, limits: Thresholds) -> Cadence:
    """Start-to-start time of the steps in a control, on the thread that runs them.

    It is the median, or the mean where that is longer: what delays every fourth step is the
    program's own.
    """
    if control.records_cuda:
        return _unknown(control, "CUDA was recorded in it too, so it is no control")
    if len(control.ranges) == 0:
        return _unknown(control, "it holds no NVTX ranges")
    found = step_starts(control.ranges, control.strings, steps.family)
    if not found:
        return _unknown(control, f"it holds no '{steps.family}' ranges")
    if len(found) not in (1, steps.processes):
        having = count_of(len(found), "process has", "processes have")
        of = f"'{steps.family}' ranges, {steps.processes} of the recording"
        return _unknown(control, f"{having} {of}")
    # Processes are numbered alike in both: by machine and pid.
    threads = found[sorted(found)[steps.place if len(found) > 1 else 0]]
    if len(threads) > 1:
        return _unknown(control, f"{len(threads)} threads have '{steps.family}' ranges at once")
    (starts,) = threads.values()
    here, there = starts.size, steps.count
    if max(here, there) > limits.control_steps_ratio * min(here, there):
        return _unknown(control, f"it holds {count_of(here, 'step')}, the recording {there}")
    kept = starts[steps.skipped :]
    if kept.size < Thresholds.steps_least:
        left = count_of(int(kept.size), "step")
        return _unknown(control, f"{left} of it are left after the warm-up")
    apart = np.diff(kept)
    return Cadence(float(max(np.median(apart), apart.mean())))


def _unknown(control: Control, why: str) -> Cadence:
    return Cadence(None, f"{control.name}: {why}")
