"""Clocks of host and device that contradict each other: measured, said, and allowed for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.measurements import Measurements
from overlapcheck.passes import clock_skew
from overlapcheck.thresholds import with_values
from tests.export import edit
from tests.pictures import measure_file, picture

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


def test_too_few_rows_tell_of_no_skew_even_where_every_nanosecond_counts() -> None:
    limits = with_values({"skew-rows-least": 31, "submit-slack-ns": 0})

    assert picture(LAUNCHES, column_us=1, repeat=30).device(thresholds=limits).notes == ()


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


@pytest.mark.parametrize(("late_us", "notes"), [(-2.0, 0), (-2.001, 1)])
def test_a_clock_that_is_behind_by_a_microsecond_is_told_beyond_it(
    late_us: float, notes: int
) -> None:
    """Launches return after 6 us, their kernels begin at 7 us and as much later."""
    assert len(measured(LAUNCHES, late_us).devices[0].notes) == notes


@pytest.mark.parametrize(("late_us", "notes"), [(3.0, 0), (3.001, 1)])
def test_a_clock_that_is_ahead_by_a_microsecond_is_told_beyond_it(
    late_us: float, notes: int
) -> None:
    """Kernels end at 12 us and as much later, waits for them return at 14 us."""
    found = measured(WAITS, late_us, waits=[{"call": "x", "stream": 7}])

    assert len(found.devices[0].notes) == notes


@pytest.mark.parametrize(("lasts_us", "notes"), [(20.0, 0), (19.999, 1)])
def test_a_launch_that_took_long_may_have_waited(lasts_us: float, notes: int) -> None:
    """Its kernel begins after 7 us and ends long after it returned."""
    found = picture(
        """
s7   kernel large             |.......kkkkkkkkkkkkkkkkkkkkkkkk.|
t1   cuLaunchKernel           |kkkkkkkkkkkkkkkkkkkk............|
""",
        column_us=1,
        repeat=30,
        host_us={"k": [0.0, lasts_us]},
    ).measure()

    assert len(found.devices[0].notes) == notes


@pytest.mark.parametrize(
    ("launches", "early", "notes"), [(20, 1, 1), (21, 1, 0), (30, 1, 0), (30, 2, 1)]
)
def test_one_launch_in_twenty_may_have_been_interrupted(
    tmp_path: Path, launches: int, early: int, notes: int
) -> None:
    """Beyond the first: of twenty, one is more than one in twenty of the nineteen others."""
    path = picture(LAUNCHES, column_us=1, repeat=launches).export(tmp_path / "early.sqlite")
    edit(path, f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start - 4000 WHERE rowid <= {early}")

    assert len(measure_file(path).devices[0].notes) == notes


def test_of_very_many_launches_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second one: twenty of them are enough to tell, nineteen are not."""
    monkeypatch.setattr(clock_skew, "_SAMPLED", 30)
    times = {"k": [-2.0, 1.0]}

    for launches, notes in ((38, 0), (39, 1)):
        drawing = picture(LAUNCHES, column_us=1, repeat=launches, gpu_us=times)
        assert len(drawing.device().notes) == notes
