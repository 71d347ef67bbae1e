from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.copies import Direction
from overlapcheck.errors import PolicyInvalid, TooLarge
from overlapcheck.passes import measure as measure_module
from overlapcheck.selection import Selection
from tests.export import RealExport, edit
from tests.pictures import device_of, measure_file, picture, shifted_pid_of

TWO_BY_TWO = """
p1 gpu0 s7 kernel k      |aa..bb|
p1 gpu1 s7 kernel k      |.cc...|
p2 gpu0 s7 kernel k      |..dd..|
p2 gpu0 s13 h2d pinned 1B |..ee..|
"""


def test_every_process_and_device_is_measured_apart_and_in_order() -> None:
    devices = picture(TWO_BY_TWO).measure().devices

    assert [device.key for device in devices] == [
        device_of(1),
        device_of(1, 1),
        device_of(2),
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

    assert one.steps.end_ns.tolist() == [3_000, 6_000, 9_000]
    assert two.steps.end_ns.tolist() == [9_000, 12_000, 15_000]


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
    assert device.process_name == "python3"


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


def test_compute_that_waits_for_pages_is_no_bound() -> None:
    device = picture("""
        s7  kernel k      |aaaaaa..bb|
        uvm h2d 32KiB     |.cc.d.e...|
        """).device(window_ns=(0, 10_000))

    assert (device.compute_ns, device.stalled.total_ns) == (8_000, 3_000)
    assert device.bound_ns == 5_000
    assert int((device.ledger.end_ns - device.ledger.start_ns).sum()) == device.idle_ns == 2_000


def test_migrations_of_another_device_or_process_stall_nothing() -> None:
    one, *_ = (
        picture("""
        p1 gpu0 s7 kernel k |aaaa|
        p1 gpu1 s7 kernel k |bbbb|
        p1 gpu1 uvm h2d 4KiB |cc..|
        p2 gpu0 s7 kernel k |dddd|
        p2 gpu0 uvm h2d 4KiB |ee..|
        """)
        .measure()
        .devices
    )

    assert one.stalled.total_ns == 0


def test_page_faults_are_counted_where_they_were_recorded(tmp_path: Path) -> None:
    path = picture("""
        s7 kernel k         |aaaa..|
        uvm h2d 4KiB        |cc....|
        t1 cudaLaunchKernel |a.....|
        """).export(tmp_path / "faults.sqlite")
    assert [d.page_faults for d in measure_file(path).devices] == [0]
    edit(
        path,
        "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start INTEGER, globalPid INTEGER,"
        " deviceId INTEGER, address INTEGER, numberOfPageFaults INTEGER)",
        *(
            f"INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES ({at}, {pid << 24}, {device}, 0, 8)"
            for at, pid, device in (
                (0, shifted_pid_of(1), 0),
                (3_999, shifted_pid_of(1), 0),
                (4_000, shifted_pid_of(1), 0),
                (1_000, shifted_pid_of(1), 1),
                (1_000, shifted_pid_of(2), 0),
            )
        ),
    )

    assert [d.page_faults for d in measure_file(path).devices] == [16]
    (first, *_) = findings(measure_file(path))
    assert "16 page faults of kernels recorded" in first.evidence


@pytest.mark.parametrize(("engines", "bound_ns"), [(1, 7_000), (2, 4_000), (3, 4_000)])
def test_copies_in_and_out_share_the_only_copy_engine(engines: int, bound_ns: int) -> None:
    device = picture(
        """
        s7  kernel k      |aa........|
        s13 h2d pinned 1B |..cccc....|
        s14 d2h pinned 1B |.....dddd.|
        """,
        copy_engines=engines,
    ).device(window_ns=(0, 10_000))

    assert device.bound_ns == bound_ns


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


def test_more_devices_than_anybody_reads_about_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = picture(TWO_BY_TWO).trace()
    monkeypatch.setattr(measure_module, "MOST_DEVICES", 1)

    with pytest.raises(TooLarge) as caught:
        measure_module.measure(trace, Selection())

    assert caught.value.message.startswith("kernels ran on 3 devices")
    assert caught.value.hint == "judge one device: --device NUMBER"


def test_what_the_recording_says_of_itself_is_handed_on() -> None:
    trace = picture("s7 kernel k |aa|", environment={"NCCL_DEBUG": "INFO"}).trace()
    info = replace(trace.info, utc_start_ns=1_700_000_000_000_000_000)
    measured = measure_module.measure(replace(trace, info=info), Selection(skip=0))

    assert measured.utc_start_ns == 1_700_000_000_000_000_000
    assert measured.environment["NCCL_DEBUG"] == "INFO"


def test_what_a_process_lost_on_another_device_is_not_asked_for() -> None:
    measured = picture(
        """
        p1 gpu0 s7 kernel k       |.aa.|
        p1 t1 cudaLaunchKernel    |a...|
        p2 gpu1 s7 kernel k       |.b.c|
        p2 gpu0 s9 h2d pinned 1B  |..d.|
        p2 t1 cudaLaunchKernel    |bxc.|
        p2 t1 cudaMemcpyAsync     |.d..|
        """
    ).measure(device=0)

    assert [device.key.pid for device in measured.devices] == [device_of(1).pid]
    assert 1 not in {problem.process for problem in measured.problems}
