"""Of which processes it is said that a launcher ended before them. One column is 1 ms."""

from __future__ import annotations

import pytest

from tests.pictures import Picture, picture

# The launcher, p1, waits until its worker runs, and ends before it.
LAUNCHER = """
p1 t1       os poll           |.wwwwwwwwwwwwwwwwww.....................|
p1 t1       cudaGetDevice     |.g......................................|
p2 gpu0 s7  kernel k          |....aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbb|
p2 t1       cudaLaunchKernel  |...a...........b........................|
"""


def notes(text: str = LAUNCHER, **options: object) -> list[str]:
    drawing: Picture = picture(text, column_us=1000, **options)
    return [note for device in drawing.measure().devices for note in device.notes]


def test_a_worker_that_goes_on_after_its_launcher_is_told() -> None:
    (note,) = notes()

    # The window is 36 ms long and ends at 40 ms, the launcher's last call at 19 ms.
    assert note.startswith(
        "process 2000 lived on: process 1000, which started before it, made its last recorded call"
        " 21.0 ms before the window's end"
    )


@pytest.mark.parametrize(("end_us", "told"), [(39_279.999, True), (39_280.0, False)])
def test_a_fiftieth_of_the_window_is_no_difference(end_us: float, told: bool) -> None:
    assert bool(notes(host_us={"g": [1000.0, end_us]})) is told


@pytest.mark.parametrize(("start", "told"), [(2.999, True), (3.0, False)])
def test_only_what_started_before_is_a_launcher(start: float, told: bool) -> None:
    text = LAUNCHER.replace("|.wwwwwwwwwwwwwwwwww", "|....wwwwwwwwwwwwwww")

    assert bool(notes(text, host_us={"g": [1000 * start, 1000 * start + 1]})) is told


def test_without_calls_of_the_operating_system_waiting_looks_like_the_end() -> None:
    text = "\n".join(line for line in LAUNCHER.splitlines() if " os " not in line)

    assert notes(text) == []


def test_one_that_computes_itself_is_no_launcher() -> None:
    text = LAUNCHER + (
        "p1 gpu1 s7 kernel k |..c.....................................|\n"
        "p1 t1 cudaLaunchKernel |..c.....................................|\n"
    )

    assert notes(text) == []


def test_each_launcher_is_told_and_others_hide_none() -> None:
    third = LAUNCHER.replace("p2", "p4") + (
        "p2 t1 os poll       |.wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww|\n"
        "p2 t1 cudaGetDevice |.h......................................|\n"
        "p3 t1 os poll       |.wwwwwwwwwwwwwwwwww.....................|\n"
        "p3 t1 cudaGetDevice |.i......................................|\n"
    )
    first, second = notes(third)

    assert "process 1000, which" in first
    assert "process 3000, which" in second


def test_a_process_of_which_no_call_is_known_started_at_no_time() -> None:
    text = "\n".join(line for line in LAUNCHER.splitlines() if "cudaLaunch" not in line)

    assert notes(text) == []


def test_one_whose_waiting_was_not_recorded_hides_no_launcher_after_it() -> None:
    first = "p1 t1 cudaGetDevice     |.g......................................|\n"
    text = first + LAUNCHER.replace("p2", "p3").replace("p1", "p2").replace("|.g", "|.h")
    (note,) = notes(text)

    assert note.startswith("process 3000 lived on: process 2000, which started before it")


def test_nothing_starts_before_a_process_of_which_no_call_is_known() -> None:
    """Not even one that was there when the recording began."""
    launched = [line for line in LAUNCHER.splitlines() if "cudaLaunch" not in line]

    assert (
        notes("\n".join(launched).replace("os poll           |.w", "os poll           |ww")) == []
    )
