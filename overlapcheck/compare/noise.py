"""How large a difference must be to mean anything, judged from the spread over the steps.

A median of n steps whose values spread with standard deviation s is itself uncertain by about
1.25 s / √n. s is estimated from what every saved result holds: for normally distributed steps the
95th percentile lies 1.64 s above the median. The noise of a difference of two medians is twice
the root of the sum of their squared uncertainties. Runs differ by more than their steps do (clocks,
neighbours), so no difference below one percent counts at all.
"""

from __future__ import annotations

from collections.abc import Callable
from math import hypot, sqrt

from overlapcheck.device_report import DeviceReport, Spread, StepSummary
from overlapcheck.pace import Pace
from overlapcheck.thresholds import Thresholds

Whole = Callable[[DeviceReport], float]

P95_DEVIATIONS = 1.645
"""How far above the median the 95th percentile of a normal distribution lies."""
MEDIAN_FACTOR = 1.253
"""Standard error of a median over that of a mean."""

NOISE_RULE = (
    "twice the standard error of the difference of the medians, from the spread over the"
    " steps (95th percentile less median), and never less than 1 %"
)
NO_STEPS_RULE = "without steps there is no spread to judge by: less than 1 % is no change"


def uncertainty_ns(spread: Spread, count: int) -> float:
    """Standard error of the median of some steps, ns."""
    deviation = max(0.0, spread.p95_ns - spread.median_ns) / P95_DEVIATIONS
    return MEDIAN_FACTOR * deviation / sqrt(max(count, 1))


def noise_ns(base: StepSummary, new: StepSummary, which: str) -> float:
    """Noise of a difference of medians, ns; never less than one percent of the base's step.

    Args:
        base: steps of one side.
        new: steps of the other.
        which: field of `StepSummary`: "step", "idle", "exposed_copy".
    """
    errors = (uncertainty_ns(getattr(side, which), side.count) for side in (base, new))
    return max(
        Thresholds.noise_deviations * hypot(*errors), Thresholds.noise_share * base.step.median_ns
    )


def noise_of_paces(paces: tuple[Pace, Pace]) -> float:
    """Noise of a difference of own paces, ns: what the control runs of each side differ by."""
    spreads = ((pace.high_ns or 0) - (pace.low_ns or 0) for pace in paces)
    return max(hypot(*spreads), Thresholds.noise_share * (paces[0].own_ns or 0))


def noise_of_share(devices: tuple[DeviceReport, DeviceReport], which: str, of: Whole) -> float:
    """Noise of a difference of shares of one; never less than a percentage point.

    Each side is as uncertain as its part is, relative to its own whole.

    Args:
        devices: both sides.
        which: field of `StepSummary` whose time the share is made of.
        of: the whole per step of a side, ns; 0 for none.
    """
    errors = [
        uncertainty_ns(getattr(device.steps, which), device.steps.count) / whole
        for device in devices
        if device.steps is not None and (whole := of(device)) > 0
    ]
    # No two shares differ by more than one, whatever little a share is made of.
    return min(max(Thresholds.noise_deviations * hypot(*errors), Thresholds.noise_share), 1.0)
