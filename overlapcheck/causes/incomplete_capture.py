"""The recording is incomplete: rows are missing, so nothing can be concluded.

What it is
    Calls that launched, copied or set memory without their rows on the device, rows without their
    calls, rows that cannot be (they end before they start, or run across others of their stream),
    names that are gone, or messages of the profiler about lost events. What is missing may be the
    very copies or kernels that matter. A recording that was stopped early is complete up to its
    end.

Why it costs overlap
    It costs the answer: idle time may be work that was not recorded, and no data is never a pass.

What it looks like
    thread    L   L   L   L   L
    kernels   [k]     [k]     [k]        what of the others?

What to do
    `overlapcheck doctor` checks the profiler against the driver. Record again with one profiler
    only (of the PyTorch profiler, DCGM, Nsight Systems and Nsight Compute), a clean exit of the
    program or a capture range, and a profiler as new as the driver. Both frameworks: the same.

When this is wrong
    If only steps outside those that matter are damaged, choose a sound window (--window, --skip).
"""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.causes._base import Evidence
from overlapcheck.columns import ABSENT
from overlapcheck.finding import Confidence
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.recorder import Content


@dataclass(frozen=True)
class _IncompleteCapture:
    id: str = "incomplete-capture"
    lacks: Content = Content.ALL_ROWS
    title: str = "the recording is incomplete: nothing can be concluded from it"
    caveat: str = "the damage lies outside the steps that matter: then choose a sound --window"

    def detect(self, device: DeviceMeasurements, measured: Measurements, /) -> Evidence | None:
        """Problems of the device's process, or of the whole report."""
        mine = [p for p in measured.problems if p.process in (device.process, ABSENT)]
        if not mine:
            return None
        # NOTE: how to settle one is told with it, for advice knows no single problem.
        facts = [problem.what for problem in mine]
        facts += dict.fromkeys(f"to settle it: {problem.settle_with}" for problem in mine)
        window = Intervals.span(device.window.start_ns, device.window.end_ns)
        return Evidence(window, tuple(facts), Confidence.SURE)

    def advise(self, _measured: Measurements, _once: bool = False, /) -> str:
        """The same in all frameworks."""
        return (
            "check this machine with overlapcheck doctor, then record again with overlapcheck run,"
            " no other CUDA profiler beside it"
        )


CAUSE = _IncompleteCapture()
