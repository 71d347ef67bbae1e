"""Two reports are compared at their own paces where both have one, else as recorded."""

from __future__ import annotations

from dataclasses import replace

from overlapcheck.compare.compare import compare
from overlapcheck.comparison import Change, Comparison, Quantity
from overlapcheck.device_report import DeviceReport
from overlapcheck.pace import Pace, PaceSource
from overlapcheck.renderers.comparison import comparison_renderer
from tests.compare.reports import MS, device, report

STEPS = 16


def paced(own_ms: float, spread_ms: float = 0.0, *, recorded_ms: float = 10.0) -> DeviceReport:
    """Recorded steps of 10 ms, of which 4 ms are idle; what is beyond the own pace is taken."""
    taken = recorded_ms - own_ms
    ledger = {"host-starved": 4.0 - taken, "profiler-overhead": taken}
    found = device(step_ms=recorded_ms, steps=STEPS, ledger=ledger)
    own_ns = round(own_ms * MS)
    low, high = own_ns - round(spread_ms * MS / 2), own_ns + round(spread_ms * MS / 2)
    pace = Pace(round(recorded_ms * MS), own_ns, low, high, PaceSource.CONTROL, 2)
    return replace(
        found,
        pace=pace,
        own_window_ns=own_ns * STEPS,
        bound_ns=6 * MS * STEPS,
        recoverable=1 - 6 / own_ms,
    )


def compared(base: DeviceReport, new: DeviceReport, limit: float | None = None) -> Comparison:
    return compare(report(base), report(new, name="b"), limit=limit)


def quantities(comparison: Comparison) -> dict[str, Quantity]:
    (one,) = comparison.devices
    return {quantity.name: quantity for quantity in (*one.quantities, *one.ledger)}


def test_own_paces_are_compared_where_both_sides_have_one() -> None:
    found = quantities(compared(paced(8.0), paced(7.0)))

    assert "step time" not in found
    step = found["step time at own pace"]
    assert (step.base, step.new, step.change) == (8 * MS, 7 * MS, Change.BETTER)
    assert found["recoverable"].new == 1 - 6 / 7
    assert (found["host-starved"].base, found["host-starved"].new) == (2 * MS, 1 * MS)
    assert "profiler-overhead" not in found


def test_the_spread_of_the_controls_is_noise() -> None:
    found = quantities(compared(paced(8.0, 1.0), paced(7.0, 1.0)))

    assert found["step time at own pace"].change is Change.NONE


def test_as_recorded_where_one_side_has_none() -> None:
    without = replace(device(step_ms=10.0, steps=STEPS), recoverable=0.4)

    found = quantities(compared(without, paced(7.0)))

    assert (found["step time"].base, found["step time"].new) == (10 * MS, 10 * MS)
    assert found["recoverable"].new == 1 - 6 / 10


def test_what_is_worse_at_its_own_pace_is_said_so() -> None:
    comparison = compared(paced(7.0), paced(8.0), limit=0.05)

    assert comparison.too_bad[0].startswith("step time at own pace is 14.3 % longer")
    assert "step time at own pace 7.0 ms -> 8.0 ms: 1.0 ms per step lost" in " ".join(
        comparison_renderer("terminal").render(comparison).split()
    )
