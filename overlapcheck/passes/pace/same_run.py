"""Whether two runs of a program did the same, as far as its steps tell."""

from __future__ import annotations

from overlapcheck.measurements import Measurements, WindowSource
from overlapcheck.pace import Control
from overlapcheck.passes.pace.cadence import step_starts
from overlapcheck.quantities import count_of
from overlapcheck.trace import Strings
from overlapcheck.trace_tables import Ranges


def other_steps(measured: Measurements, control: Control) -> str:
    """What a control did otherwise than the recording, as a clause; "" where it did the same.

    For two runs that both went to the program's own end, recorded from its start.
    """
    families = {
        device.window.step_family
        for device in measured.devices
        if device.window.source is WindowSource.NVTX_STEPS and device.window.step_family
    }
    for family in sorted(families):
        there = _count(measured.ranges, measured.names.strings, family)
        here = _count(control.ranges, control.strings, family)
        if here != there:
            told = f"{count_of(here, 'step')} of '{family}' where it ran {there} before"
            return f"{control.name}: the program ran {told}"
    return ""


def _count(ranges: Ranges, strings: Strings, family: str) -> int:
    found = step_starts(ranges, strings, family)
    return sum(starts.size for threads in found.values() for starts in threads.values())
