from __future__ import annotations

import pytest

from overlapcheck.copies import Direction
from overlapcheck.errors import PolicyInvalid
from overlapcheck.kinds import DeviceKey
from tests.export import RealExport
from tests.pictures import measure_file, picture, pid_of

TWO_BY_TWO = """
p1 gpu0 s7 kernel k      |aa..bb|
p1 gpu1 s7 kernel k      |.cc...|
p2 gpu0 s7 kernel k      |..dd..|
p2 gpu0 s13 h2d pinned 1B |..ee..|
"""


def test_every_process_and_device_is_measured_apart_and_in_order() -> None:
    devices = picture(TWO_BY_TWO).measure().devices

    assert [device.key for device in devices] == [
        DeviceKey(pid_of(1), 0),
        DeviceKey(pid_of(1), 1),
        DeviceKey(pid_of(2), 0),
    ]
    assert [device.compute_ns for device in devices] == [4_000, 2_000, 2_000]
    assert [list(device.copies) for device in devices] == [[], [], [Direction.H2D]]


def test_equal_correlation_ids_of_two_processes_do_not_mix() -> None:
    """The second process's launches lie elsewhere, and would move kernels to other steps."""
    one, two = (
        picture("""
        p1 s7 kernel k         |.aa.bb.cc.......|
        p1 t1 cudaLaunchKernel |a..b..c.........|
        p1 t1 nvtx step        |000111222.......|
        p2 s7 kernel k         |.......dd.ee.ff.|
        p2 t1 cudaLaunchKernel |......d..e..f...|
        p2 t1 nvtx step        |......000111222.|
        """)
        .measure()
        .devices
    )

    assert one.steps.start_ns.tolist() == [1_000, 4_000, 7_000]
    assert two.steps.start_ns.tolist() == [7_000, 10_000, 13_000]


def test_two_real_processes_are_two_devices(real_export: RealExport) -> None:
    one, two = measure_file(real_export("ddp_bucketed"), skip=3).devices

    assert one.key.pid != two.key.pid
    assert (one.key.device_id, two.key.device_id) == (0, 1)
    assert one.communication.total_ns > 0
    assert two.communication.total_ns > 0


def test_one_device_can_be_chosen() -> None:
    devices = picture(TWO_BY_TWO).measure(device=0).devices

    assert [device.key.device_id for device in devices] == [0, 0]


def test_problems_of_processes_that_are_not_on_the_chosen_device_do_not_count() -> None:
    measured = picture("""
        p1 gpu0 s7 kernel k    |.aa.|
        p1 t1 cudaLaunchKernel |a...|
        p2 gpu1 s7 kernel k    |.bb.|
        """).measure(device=0)

    assert measured.problems == ()


def test_a_device_without_kernels_is_a_wrong_option_and_lists_the_others() -> None:
    with pytest.raises(PolicyInvalid, match=r"--device 5: no kernels on it.*0, 1"):
        picture(TWO_BY_TWO).measure(device=5)


def test_steps_that_no_range_matches_are_a_wrong_option() -> None:
    with pytest.raises(PolicyInvalid, match="--steps 'nothing like it'"):
        picture("s7 kernel k |aa|\nt1 nvtx step |01|").measure(steps="nothing like it")


def test_device_numbers_are_named_by_their_gpu() -> None:
    (device,) = picture("gpu1 s7 kernel k |aa|").measure().devices

    assert device.gpu_name == "NVIDIA H200"
    assert device.process_name == "/usr/bin/python3"


def test_recoverable_is_what_the_busiest_resource_leaves() -> None:
    device = picture("""
        s7  kernel k          |aa........|
        s8  kernel ncclKernel |..bbb.....|
        s13 h2d pinned 1B     |.....ccccc|
        s14 d2h pinned 1B     |.dd.......|
        """).device(window_ns=(0, 10_000))

    assert device.bound_ns == 5_000
    assert device.recoverable == pytest.approx(0.5)


def test_pageable_copies_give_no_relief() -> None:
    device = picture("""
        s7  kernel k        |aa........|
        s13 h2d pageable 1B |.ccccccccc|
        """).device(window_ns=(0, 10_000))

    assert device.bound_ns == 2_000
    assert device.recoverable == pytest.approx(0.8)


def test_an_empty_window_has_no_shares() -> None:
    device = picture("s7 kernel k |aa.bb|").device(window_ns=(2_000, 3_000))

    assert (device.compute_ns, device.idle_ns, device.copies) == (0, 1_000, {})
    assert device.recoverable == 1.0


def test_a_device_that_only_communicates_has_no_compute() -> None:
    device = picture("""
        s7  kernel ncclKernel |.aa..bb.|
        s13 h2d pinned 1B     |..cc....|
        t1  cudaLaunchKernel  |a...b...|
        """).device()

    assert (device.compute_ns, device.idle_ns) == (0, 6_000)
    assert device.communication.total_ns == 4_000
    assert device.copies[Direction.H2D].overlap == 0.0
    assert device.copies[Direction.H2D].ceiling == 0.0
