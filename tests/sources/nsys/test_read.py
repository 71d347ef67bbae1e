"""Reading what is in a file, and nothing else; and leaving the file alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from overlapcheck.capture_info import Severity
from overlapcheck.columns import ABSENT
from overlapcheck.kinds import DeviceKey
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Missing, rows_or_none
from overlapcheck.trace_tables import ApiCalls, Copies, Kernels, Memsets, OsCalls, Overheads, Ranges
from tests.export import RealExport, edit, query
from tests.pictures import measure_file, picture, tid_of

Copied = Callable[[str], Path]


@pytest.fixture
def copied(real_export: RealExport, tmp_path: Path) -> Copied:
    """A real export that a test may bend."""

    def copy(name: str) -> Path:
        return Path(shutil.copy(real_export(name), tmp_path / f"{name}.sqlite"))

    return copy


def test_reading_leaves_file_and_folder_as_they_were(copied: Copied) -> None:
    path = copied("cu_double_buffer")
    path.chmod(0o444)
    before, stat = path.read_bytes(), path.stat()
    measure_file(path)

    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == stat.st_mtime_ns
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_can_be_read_from(copied: Copied) -> None:
    path = copied("cu_double_buffer")
    path.parent.chmod(0o555)
    try:
        assert measure_file(path).devices
    finally:
        path.parent.chmod(0o755)


@pytest.mark.parametrize("name", ["with space.sqlite", "100%.sqlite", "q?#&.sqlite", "ü.sqlite"])
def test_any_file_name_can_be_read(name: str, tmp_path: Path) -> None:
    path = picture("s7 kernel k |aa|").export(tmp_path / name)

    assert len(rows_or_none(read_trace(path).kernels, Kernels)) == 1


@pytest.mark.parametrize("name", ["cu_double_buffer", "pt_pageable", "ddp_bucketed"])
def test_the_order_of_rows_does_not_matter(name: str, copied: Copied) -> None:
    """From 2025.6 on nsys promises none."""
    path = copied(name)
    tables = [
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        "NVTX_EVENTS",
        "TARGET_INFO_CUDA_STREAM",
    ]
    ordered = _summary(path)
    for table in tables:
        edit(
            path,
            f"CREATE TABLE shuffled AS SELECT * FROM {table} ORDER BY (rowid * 7919) % 10007",
            f"DROP TABLE {table}",
            f"ALTER TABLE shuffled RENAME TO {table}",
        )
    kernels = rows_or_none(read_trace(path).kernels, Kernels)

    assert (np.diff(kernels.start_ns) >= 0).all()
    assert _summary(path) == ordered


@pytest.mark.parametrize("shift", [-(10**12), 1_790_000_000_000_000_000])
def test_a_shift_of_all_times_changes_no_result(shift: int, copied: Copied) -> None:
    """Times may be negative (capture ranges) or huge (normalised to UTC)."""
    path = copied("cu_legacy_default")
    original = _summary(path)
    for (table,) in query(path, "SELECT name FROM sqlite_master WHERE type = 'table'"):
        columns = {row[1] for row in query(path, f"PRAGMA table_info({table})")}
        if {"start", "end"} <= columns:
            edit(path, f'UPDATE {table} SET start = start + {shift}, "end" = "end" + {shift}')
    (device,) = measure_file(path, skip=3).devices

    assert _summary(path) == original
    assert device.window.start_ns < 0 if shift < 0 else device.window.start_ns > shift


def test_a_real_capture_range_has_negative_times_and_is_read(real_export: RealExport) -> None:
    (device,) = measure_file(real_export("pt_capture_range")).devices

    assert device.window.steps == 12


def test_processes_on_hardware_above_128_keep_one_key(tmp_path: Path) -> None:
    """Their ids are negative when read as signed 64-bit numbers."""
    path = picture(
        """
        s7  kernel k         |.aa.bb|
        s13 h2d pinned 1B    |..c...|
        t1  cudaLaunchKernel |a..b..|
        t1  nvtx step        |001122|
        """,
        streams={"13": "blocking"},
    ).export(tmp_path / "hardware.sqlite")
    high = 0xFE << 56
    for table, column in (
        ("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid"),
        ("CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid"),
        ("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"),
        ("NVTX_EVENTS", "globalTid"),
        ("PROCESSES", "globalPid"),
        ("ThreadNames", "globalTid"),
    ):
        edit(path, f"UPDATE {table} SET {column} = {column} + ({high - (1 << 64)})")
    edit(
        path,
        f"UPDATE TARGET_INFO_CUDA_STREAM SET hwId = {0xFE}",
        f"UPDATE TARGET_INFO_CUDA_CONTEXT_INFO SET hwId = {0xFE}",
    )
    trace = read_trace(path)
    measured = measure_file(path)
    (device,) = measured.devices

    assert device.key == DeviceKey(1000, 0, 0xFE01)
    assert measured.problems == ()
    assert device.window.steps == 3
    assert {s.stream_id: s.kind for s in device.streams} == {7: "null", 13: "blocking"}
    assert (device.process_name, device.gpu_name) == ("python3", "NVIDIA H200")
    assert trace.thread_names == {(0, tid_of(1, 1)): "python3"}


@pytest.mark.parametrize(
    "name",
    [
        "cudaMemcpyAsync_v3020",
        "cudaMemcpyAsync_ptsz",
        "cudaMemcpyAsync_v3020_ptsz",
        "cudaMemcpyAsync_ptds_v7000",
        "cudaMemcpyAsync",
    ],
)
def test_suffixes_of_api_names_are_stripped(name: str) -> None:
    trace = picture(f"t1 {name} |a|").trace()
    (name_id,) = rows_or_none(trace.api_calls, ApiCalls).name_id

    assert trace.strings.text(int(name_id)) == "cudaMemcpyAsync"


def test_two_versions_of_one_api_have_one_name_id() -> None:
    trace = picture("t1 cudaMalloc_v3020 |a.|\nt1 cudaMalloc |.b|\nt1 cudaFree_v3020 |.c|").trace()
    calls = rows_or_none(trace.api_calls, ApiCalls)

    assert len(set(calls.name_id.tolist())) == 2
    assert calls.name_id[0] != ABSENT


def test_a_table_that_was_not_recorded_is_missing_and_says_how_to_record_it() -> None:
    trace = picture("t1 nvtx step |0|").trace()

    for table in (trace.kernels, trace.copies, trace.memsets, trace.api_calls, trace.syncs):
        assert isinstance(table, Missing)
        assert "--trace=cuda" in trace.recorder.record_again(table.table)
    assert isinstance(trace.os_calls, Missing)
    assert "--trace=osrt" in trace.recorder.record_again(trace.os_calls.table)
    assert isinstance(trace.mpi_calls, Missing)
    assert "--trace=mpi" in trace.recorder.record_again(trace.mpi_calls.table)
    assert isinstance(trace.directives, Missing)
    assert isinstance(picture("s7 kernel k |a|").trace().ranges, Missing)


def test_an_empty_table_is_a_table(tmp_path: Path) -> None:
    path = picture("s7 kernel k |a|").export(tmp_path / "empty.sqlite")
    edit(path, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL")
    kernels = read_trace(path).kernels

    assert isinstance(kernels, Kernels)
    assert len(kernels) == 0


def test_operations_have_their_columns() -> None:
    trace = picture(
        """
        s7 kernel fwd        |.aa..|
        s8 memset 4KiB       |..b..|
        s9 d2h pageable 8KiB |...c.|
        t1 cudaLaunchKernel  |a....|
        """,
        grid={"a": 5},
    ).trace()
    kernels = rows_or_none(trace.kernels, Kernels)
    memsets = rows_or_none(trace.memsets, Memsets)
    copies = rows_or_none(trace.copies, Copies)

    assert (kernels.grid_count.tolist(), kernels.block_count.tolist()) == ([5], [256])
    assert trace.strings.text(int(kernels.name_id[0])) == "fwd"
    assert (memsets.bytes.tolist(), memsets.stream_id.tolist()) == ([4096], [8])
    assert (copies.bytes.tolist(), copies.pageable.tolist()) == ([8192], [True])


def test_calls_come_outer_before_inner_and_know_whether_they_failed() -> None:
    calls = rows_or_none(
        picture(
            """
            t1 cuMemAlloc |.bb..|
            t1 cudaMalloc |aaaa.|
            t1 cudaFree   |....c|
            """,
            host_us={"b": [0, 1]},
            failed=["c"],
        )
        .trace()
        .api_calls,
        ApiCalls,
    )

    assert calls.end_ns.tolist() == [4_000, 1_000, 5_000]
    assert calls.succeeded.tolist() == [True, True, False]


def test_os_calls_of_threads_without_cuda_are_left_out() -> None:
    trace = picture("""
        t1 cudaMalloc |a...|
        t1 os read    |.xx.|
        t2 os write   |.yy.|
        """).trace()
    os_calls = rows_or_none(trace.os_calls, OsCalls)

    assert os_calls.tid.tolist() == [tid_of(1, 1)]


def test_rows_that_end_before_they_start_are_dropped(tmp_path: Path) -> None:
    path = picture("s7 kernel k |aa.bb|").export(tmp_path / "backward.sqlite")
    edit(path, 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = 2000 WHERE start = 3000')
    trace = read_trace(path)

    assert len(rows_or_none(trace.kernels, Kernels)) == 1
    assert (trace.info.dropped_untimed, trace.info.dropped_backward) == (0, 1)


def test_open_ranges_and_marks_are_no_ranges(tmp_path: Path) -> None:
    path = picture("t1 nvtx step |0011|").export(tmp_path / "open.sqlite")
    edit(path, 'UPDATE NVTX_EVENTS SET "end" = NULL WHERE start = 0')

    assert len(rows_or_none(read_trace(path).ranges, Ranges)) == 1


def test_messages_of_nsys_are_kept_from_warnings_on() -> None:
    trace = picture(
        "t1 cudaFree |a|",
        diagnostics=[{"severity": n, "text": f"severity {n}"} for n in (1, 2, 3, 4)],
    ).trace()

    assert [(m.severity, m.text) for m in trace.info.diagnostics] == [
        (Severity.WARNING, "severity 2"),
        (Severity.ERROR, "severity 3"),
    ]


def test_facts_about_the_recording_are_read() -> None:
    info = picture("s7 graph |a|", program="python3 train.py --lr 1").trace().info

    assert info.recorder_version == "2025.3.2.0"
    assert info.schema_version == "3.20.3"
    assert info.program == "python3 train.py --lr 1"
    assert info.traced == {"Cuda", "NvtxEvents", "OSRuntime"}
    assert info.graph_granularity == "graph"


def test_more_than_ten_arguments_keep_their_order() -> None:
    program = "run " + " ".join(map(str, range(12)))

    assert picture("s7 kernel k |a|", program=program).trace().info.program == program


def test_overheads_are_the_profilers_own(tmp_path: Path) -> None:
    """From 2025.6 on the table also says when the program itself loaded or compiled code."""
    path = picture("t1 overhead CUPTI Buffer flush |aa.bb|").export(tmp_path / "overhead.sqlite")
    edit(
        path,
        "ALTER TABLE PROFILER_OVERHEAD ADD COLUMN overheadType INTEGER",
        "UPDATE PROFILER_OVERHEAD SET overheadType = CASE WHEN start = 0 THEN 3 ELSE 6 END",
    )
    overheads = rows_or_none(read_trace(path).overheads, Overheads)

    assert overheads.start_ns.tolist() == [0]


def test_text_that_is_not_utf_8_does_not_stop_the_reading(tmp_path: Path) -> None:
    path = picture("s7 kernel k |aa|\nt1 nvtx step |01|").export(tmp_path / "bytes.sqlite")
    edit(path, "UPDATE StringIds SET value = CAST(x'66ff6f' AS TEXT) WHERE value = 'k'")

    assert len(rows_or_none(read_trace(path).kernels, Kernels)) == 1


def _summary(path: Path) -> list[object]:
    """Everything measured that does not depend on where time begins."""
    return [
        (
            device.key,
            device.window.length_ns,
            device.window.steps,
            device.compute_ns,
            device.communication.total_ns,
            {d: (c.count, c.copy_ns, c.hidden_ns) for d, c in device.copies.items()},
            [(s.stream_id, s.kind, s.busy.total_ns) for s in device.streams],
            (device.gaps.end_ns - device.gaps.start_ns).tolist(),
            device.blocking.total_ns.tolist(),
            device.steps.step_ns.tolist(),
        )
        for device in measure_file(path, skip=3).devices
    ]
