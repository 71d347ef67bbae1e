from __future__ import annotations

import pytest

from overlapcheck.copies import Direction
from overlapcheck.measurements import WindowSource
from tests.pictures import picture

STEPS = """
s7   kernel k         |....aaaa....bbbb....cccccc..xxxx|
s13  h2d pinned 4KiB  |..........dddd..............y...|
t1   cudaLaunchKernel |.a.......b.......c.......x......|
t1   nvtx step        |000000001111111122222222........|
"""


def test_steps_run_from_their_first_kernel_to_the_last_one_launched_before_the_last_closed() -> (
    None
):
    window = picture(STEPS).device().window

    assert (window.start_ns, window.end_ns) == (4_000, 26_000)
    assert (window.source, window.step_family) == (WindowSource.NVTX_STEPS, "step #")
    assert (window.steps, window.skipped) == (3, 0)


def test_skipped_steps_do_not_belong_to_the_window() -> None:
    window = picture(STEPS).device(skip=1).window

    assert (window.start_ns, window.end_ns) == (12_000, 26_000)
    assert (window.steps, window.skipped, window.why) == (2, 1, "--skip 1")


def test_an_operation_across_an_edge_is_clipped_and_not_dropped() -> None:
    device = picture(STEPS).device(skip=1)
    h2d = device.copies[Direction.H2D]

    assert (h2d.count, h2d.bytes, h2d.copy_ns, h2d.hidden_ns) == (1, 4096, 2_000, 2_000)


def test_a_kernel_across_the_end_is_clipped() -> None:
    device = picture("""
        s7 kernel k         |.aa.bb.cc....|
        s8 kernel k         |......xxxxxxx|
        t1 cudaLaunchKernel |a..b..c..x...|
        t1 nvtx step        |000111222....|
        """).device()

    assert device.window.end_ns == 9_000
    assert device.compute_ns == 2_000 + 2_000 + 3_000


def test_skipping_every_step_falls_back_to_all_kernels_and_says_so() -> None:
    window = picture(STEPS).device(skip=9).window

    assert (window.start_ns, window.end_ns) == (4_000, 32_000)
    assert window.source is WindowSource.ALL_KERNELS
    assert window.why == "no kernel was launched in the steps kept of 3"


def test_without_steps_the_window_is_first_start_to_last_end() -> None:
    window = (
        picture("""
        s7 kernel k |..aaa....|
        s8 kernel k |....bb...|
        s9 h2d pinned 4B |c.......d|
        """)
        .device()
        .window
    )

    assert (window.start_ns, window.end_ns) == (2_000, 6_000)
    assert (window.source, window.why) == (WindowSource.ALL_KERNELS, "no NVTX steps")


def test_without_steps_skip_has_nothing_to_skip() -> None:
    text = "s7 kernel k |.aa.bb.cc|"

    assert picture(text).device(skip=2).window == picture(text).device(skip=0).window


def test_without_steps_and_repetition_the_window_says_that_neither_was_found() -> None:
    window = (
        picture("""
        s7 kernel k         |.aa.........|
        s7 kernel l         |.....bb.....|
        s7 kernel m         |.........cc.|
        t1 cudaLaunchKernel |a...b...c...|
        """)
        .device(skip=None)
        .window
    )

    assert window.source is WindowSource.ALL_KERNELS
    assert window.why == "no NVTX steps and no repeating kernels"


def test_repeating_kernels_are_steps_and_warm_up_and_teardown_fall_out() -> None:
    device = picture("""
        s7 kernel init      |.ii...............................|
        s7 kernel fwd       |.......aa...bb...cc...dd...ee.....|
        s7 kernel bwd       |.........AA...BB...CC...DD...EE...|
        s7 kernel save      |................................zz|
        t1 cudaLaunchKernel |i.....aA...bB...cC...dD...eE....z.|
        """).device(skip=None)

    assert device.window.source is WindowSource.KERNEL_PERIOD
    assert device.window.why == "2 kernels repeat, 1 skipped as warm-up"
    assert (device.window.start_ns, device.window.end_ns) == (12_000, 31_000)
    assert device.window.steps == 4


def test_a_given_window_overrides_the_steps() -> None:
    device = picture(STEPS).device(window_ns=(5_000, 14_000))

    assert (device.window.start_ns, device.window.end_ns) == (5_000, 14_000)
    assert device.window.source is WindowSource.OPTION
    assert device.compute_ns == 3_000 + 2_000
    assert device.idle_ns == 4_000


def test_kernels_of_all_kinds_open_and_close_the_window() -> None:
    """Collectives and graph blocks are kernels here too."""
    window = (
        picture("""
        s7 graph             |.....a....|
        s7 kernel ncclKernel |..b.....c.|
        """)
        .device()
        .window
    )

    assert (window.start_ns, window.end_ns) == (2_000, 9_000)


@pytest.mark.parametrize("skip", [0, 1])
def test_each_device_has_the_window_of_its_own_kernels(skip: int) -> None:
    one, two = (
        picture("""
        gpu0 s7 kernel k    |..aa....bb....cc....|
        gpu1 s7 kernel k    |....dd....ee....ff..|
        t1 cudaLaunchKernel |a.....b.....c.......|
        t2 cudaLaunchKernel |d.....e.....f.......|
        t1 nvtx step        |00000011111122222222|
        """)
        .measure(skip=skip)
        .devices
    )

    assert one.window.start_ns == (2_000, 8_000)[skip]
    assert two.window.start_ns == (4_000, 10_000)[skip]
    assert (one.window.end_ns, two.window.end_ns) == (16_000, 18_000)
