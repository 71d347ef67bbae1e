"""Processes share a GPU by what it is, not by the number that each of them gives it."""

from __future__ import annotations

from pathlib import Path

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import Measurements
from overlapcheck.passes.other_processes import OtherProcesses
from overlapcheck.sources.nsys.read import read_trace
from tests.export import edit
from tests.pictures import device_of, measure_file, picture

TURNS = """
p1 gpu0 s7   kernel fwd       |......aaaaaaaa........bbbbbbbb|
p2 gpu{} s7  kernel gen       |..............cccccccc........|
p1 t1   cudaLaunchKernel      |a.b...........................|
p2 t1   cudaLaunchKernel      |..c...........................|
"""


def evidence(measured: Measurements) -> list[str]:
    return [line for found in findings(measured) for line in found.evidence]


def test_two_processes_that_both_say_device_0_may_mean_two_gpus(tmp_path: Path) -> None:
    path = picture(TURNS.format(0), column_us=10).export(tmp_path / "renumbered.sqlite")
    assert any("also runs kernels" in line for line in evidence(measure_file(path)))
    edit(path, "UPDATE TARGET_INFO_CUDA_DEVICE SET gpuId = 1 WHERE pid = 2000")
    measured = measure_file(path)

    assert [device.shares_gpu_with for device in measured.devices] == [(), ()]
    assert not any("also runs kernels" in line for line in evidence(measured))
    assert "time-slicing" not in {found.cause for found in findings(measured)}


def test_two_numbers_may_mean_one_gpu(tmp_path: Path) -> None:
    path = picture(TURNS.format(1), column_us=10).export(tmp_path / "same.sqlite")
    edit(path, "UPDATE TARGET_INFO_CUDA_DEVICE SET gpuId = 0")
    measured = measure_file(path)
    first, second = measured.devices

    assert (first.shares_gpu_with, second.shares_gpu_with) == ((second.key,), (first.key,))
    assert any(
        line.endswith("(pid 2000) also runs kernels on this GPU, its device 1")
        for line in evidence(measured)
    )


def test_machines_of_one_report_number_their_gpus_alike(tmp_path: Path) -> None:
    path = picture(TURNS.format(0), column_us=10).export(tmp_path / "machines.sqlite")
    edit(
        path,
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = globalPid + (1 << 48)"
        " WHERE globalPid >> 24 & 16777215 = 2000",
        "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = globalTid + (1 << 48)"
        " WHERE globalTid >> 24 & 16777215 = 2000",
    )
    measured = measure_file(path)

    assert [device.shares_gpu_with for device in measured.devices] == [(), ()]


def spans(intervals: Intervals) -> list[tuple[int, int]]:
    return [(start // 1000, end // 1000) for start, end in intervals]


def test_others_count_where_a_process_computes_itself_too() -> None:
    others = OtherProcesses(
        picture("""
        p1 s7 kernel fwd  |aaaa....bb|
        p2 s7 kernel gen  |..cccc....|
        """).trace()
    )

    assert spans(others.of(device_of(1))) == [(2, 6)]
    assert spans(others.of(device_of(2))) == [(0, 4), (8, 10)]


def test_a_process_may_call_one_gpu_by_two_numbers(tmp_path: Path) -> None:
    path = picture("""
        p1 gpu0 s7 kernel fwd  |aaa.......|
        p1 gpu1 s7 kernel bwd  |.....bb...|
        p2 gpu0 s7 kernel gen  |.......ccc|
        """).export(tmp_path / "twice.sqlite")
    edit(path, "UPDATE TARGET_INFO_CUDA_DEVICE SET gpuId = 0")
    others = OtherProcesses(read_trace(path))

    assert spans(others.of(device_of(2))) == [(0, 3), (5, 7)]
    assert spans(others.of(device_of(1, 1))) == [(7, 10)]
