"""Clocks of host and device that contradict each other: measured, said, and allowed for."""

from __future__ import annotations

from typing import Any

import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.measurements import Measurements
from overlapcheck.thresholds import with_values
from tests.pictures import picture

LAUNCHES = """
s7   kernel small             |.......kkk......|
t1   cuLaunchKernel           |kkkkkk..........|
"""
WAITS = """
s7   kernel fwd               |....kkkkkkkk....|
t1   cudaLaunchKernel         |kk..............|
t1   cudaStreamSynchronize    |..xxxxxxxxxxxx..|
"""


def measured(text: str, late_us: float, **options: Any) -> Measurements:
    """A drawing, 30 times, in which the device's clock shows a later time than the host's."""
    begin, end = (7.0, 10.0) if text is LAUNCHES else (4.0, 12.0)
    times = {"k": [begin + late_us, end + late_us]}
    return picture(text, column_us=1, repeat=30, gpu_us=times, **options).measure()


def first(found: Measurements) -> str:
    return findings(found)[0].cause


@pytest.mark.parametrize(("late_us", "told"), [(-3.0, "2.0 us"), (-9.0, "8.0 us")])
def test_launches_that_begin_before_their_call_returned_tell_of_a_clock_behind(
    late_us: float, told: str
) -> None:
    found = measured(LAUNCHES, late_us)
    (note,) = found.devices[0].notes

    assert f"clocks of host and device differ by {told} or more" in note
    assert "begin before their launches returned" in note
    assert first(found) == "launch-bound"


@pytest.mark.parametrize("late_us", [-1.5, 0.0, 20.0])
def test_a_microsecond_or_a_device_that_takes_its_time_is_no_skew(late_us: float) -> None:
    assert measured(LAUNCHES, late_us).devices[0].notes == ()


def test_fewer_rows_than_the_threshold_asks_for_tell_of_no_skew() -> None:
    times = {"k": [-2.0, 1.0]}
    drawing = picture(LAUNCHES, column_us=1, repeat=30, gpu_us=times)

    for least, notes in ((30, 1), (31, 0)):
        found = drawing.measure(thresholds=with_values({"skew-rows-least": least}))
        assert len(found.devices[0].notes) == notes


def test_waits_that_return_before_their_work_ended_tell_of_a_clock_ahead() -> None:
    found = measured(WAITS, 12.0, waits=[{"call": "x", "stream": 7}])
    (note,) = found.devices[0].notes

    assert "differ by 10.0 us or more: waits seem to return before" in note
    assert first(found) == "host-sync"


def test_waits_that_return_when_their_work_has_ended_are_no_skew() -> None:
    assert measured(WAITS, 2.0, waits=[{"call": "x", "stream": 7}]).devices[0].notes == ()


def test_launches_that_wait_begin_before_their_call_returns_without_any_skew() -> None:
    found = measured(
        """
s7   kernel small             |...kkkk.........|
t1   cudaLaunchKernel         |kkkkkkkk........|
""",
        -2.0,
        environment={"CUDA_LAUNCH_BLOCKING": "1"},
    )

    assert found.devices[0].notes == ()
    assert first(found) == "launch-blocking"
