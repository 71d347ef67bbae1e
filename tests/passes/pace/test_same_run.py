"""Whether a control went through as many steps as the recording."""

from __future__ import annotations

from typing import Any

import pytest

from overlapcheck.passes.pace.control import control_of
from overlapcheck.passes.pace.same_run import other_steps
from tests.paces import STEPS, control, program
from tests.pictures import Picture, picture


def told(recording: Picture, other: Picture, **selection: Any) -> str:
    return other_steps(recording.measure(**selection), control_of("c.sqlite", other.trace()))


def test_as_many_steps_are_the_same_run_however_long_they_take() -> None:
    assert told(program(), control(6)) == ""
    assert told(program(), control(20)) == ""


@pytest.mark.parametrize(
    ("steps", "ran"), [(STEPS - 1, "7 steps"), (STEPS + 1, "9 steps"), (1, "1 step")]
)
def test_fewer_or_more_steps_are_another_run(steps: int, ran: str) -> None:
    assert told(program(), control(6, steps=steps)) == (
        f"c.sqlite: the program ran {ran} of 'step #' where it ran 8 before"
    )


def test_steps_of_another_name_are_none() -> None:
    assert "ran 0 steps of 'step #'" in told(program(), control(6, name="phase"))


def test_the_steps_of_all_processes_count() -> None:
    """One process of the control stopped early."""
    both = "".join(
        f"p{n} gpu{n} s7 kernel k |{mark}...|\np{n} t1 cudaLaunchKernel |{mark}...|\n"
        f"p{n} t1 nvtx step |0000|\n"
        for n, mark in ((1, "a"), (2, "b"))
    )
    recording = picture(both, repeat=4)

    assert told(recording, picture("p1 t1 nvtx step |0123|\np2 t1 nvtx step |0123|")) == ""
    assert "ran 7 steps" in told(
        recording, picture("p1 t1 nvtx step |0123|\np2 t1 nvtx step |012.|")
    )


def test_where_the_window_is_given_its_steps_tell_nothing() -> None:
    assert told(program(), control(6, steps=3), window_ns=(0, 50_000_000)) == ""


def test_where_there_are_no_steps_nothing_can_be_told() -> None:
    unmarked = picture("s7 kernel k |.aa..b|\nt1 cudaLaunchKernel |a...b.|")

    assert told(unmarked, control(6)) == ""
