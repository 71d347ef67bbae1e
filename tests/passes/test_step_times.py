from __future__ import annotations

import pytest

from tests.export import RealExport
from tests.pictures import measure_file, picture

STEPS = """
s7  kernel k         |..aaaa...bbbb..cccc....|
s13 h2d pinned 1B    |....dddd..e............|
t1  cudaLaunchKernel |a......b......c........|
t1  nvtx step        |00000001111111222222222|
"""


def test_steps_last_until_their_last_kernel_ends_and_tile_the_window() -> None:
    device = picture(STEPS).device()
    steps = device.steps

    assert steps.number.tolist() == [0, 1, 2]
    assert steps.start_ns.tolist() == [2_000, 6_000, 13_000]
    assert steps.end_ns.tolist() == [6_000, 13_000, 19_000]
    assert steps.step_ns.tolist() == [4_000, 7_000, 6_000]


def test_each_step_has_its_compute_idle_and_copy_time() -> None:
    steps = picture(STEPS).device().steps

    assert steps.compute_ns.tolist() == [4_000, 4_000, 4_000]
    assert steps.idle_ns.tolist() == [0, 3_000, 2_000]
    assert steps.copy_ns.tolist() == [2_000, 3_000, 0]
    assert steps.hidden_ns.tolist() == [2_000, 1_000, 0]


def test_copies_within_the_device_are_not_counted() -> None:
    steps = picture(STEPS.replace("h2d pinned 1B", "d2d 1B")).device().steps

    assert steps.copy_ns.tolist() == [0, 0, 0]


def test_skipped_steps_are_left_out_and_the_rest_keep_their_numbers() -> None:
    assert picture(STEPS).device(skip=1).steps.number.tolist() == [1, 2]


def test_a_step_without_kernels_has_no_row() -> None:
    steps = (
        picture("""
        s7 kernel k         |.aa....bb.|
        t1 cudaLaunchKernel |a.....b...|
        t1 nvtx step        |0001112222|
        """)
        .device()
        .steps
    )

    assert steps.number.tolist() == [0, 2]
    assert steps.start_ns.tolist() == [1_000, 3_000]


def test_without_steps_there_are_no_rows() -> None:
    assert len(picture("s7 kernel k |aa.bb|").device().steps) == 0


def test_a_given_window_has_no_steps_of_its_own() -> None:
    assert len(picture(STEPS).device(window_ns=(0, 9_000)).steps) == 0


@pytest.mark.parametrize("start", [12, 12.001, 14])
def test_what_runs_behind_the_window_is_no_part_of_the_last_step(start: float) -> None:
    """Step 2 ends before step 1 does; x, launched behind both, starts when that ends or later."""
    text = """
        s7 kernel k         |.aa.bbbbbbbb......|
        s8 kernel k         |.......cc.........|
        s9 kernel k         |............xx....|
        t1 cudaLaunchKernel |a..b..c...x.......|
        t1 nvtx step        |000111222.........|
        """
    steps = picture(text, gpu_us={"x": [start, start + 2]}).device().steps

    assert steps.number.tolist() == [0, 2, 1]
    assert steps.end_ns.tolist() == [3_000, 9_000, 12_000]


def test_steps_of_a_real_trace_add_up_to_its_window(real_export: RealExport) -> None:
    for name in ("cu_double_buffer", "pt_pageable", "ddp_bucketed"):
        for device in measure_file(real_export(name), skip=3).devices:
            assert len(device.steps) == device.window.steps
            assert int(device.steps.step_ns.sum()) == device.window.length_ns
            assert int(device.steps.compute_ns.sum()) == device.compute_ns
            assert int(device.steps.idle_ns.sum()) == device.idle_ns
