"""One damaged number: rows that cannot be, beside ones that only look odd."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from overlapcheck.checks.judge import judge
from overlapcheck.measurements import CaptureFault
from overlapcheck.verdict import Outcome, Policy
from tests.export import RealExport, edit, query
from tests.pictures import measure_file, picture

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


@pytest.mark.parametrize(
    "damage",
    [
        '"end" = start - 1',
        '"end" = "end" + 1000000000000',
        '"end" = "end" | (1 << 40)',
        '"end" = 9223372036854775807',
        '"end" = "end" + 2000000000',
        "start = start - 100000000",
    ],
)
@pytest.mark.parametrize("row", [1, 12, 24])
def test_one_damaged_time_makes_no_failing_run_pass(
    tmp_path: Path, real_export: RealExport, damage: str, row: int
) -> None:
    path = Path(shutil.copy(real_export("cu_legacy_default"), tmp_path))
    edit(path, f"UPDATE {KERNELS} SET {damage} WHERE rowid = {row}")
    measured = measure_file(path)

    assert judge(measured, Policy()).outcome is Outcome.INCONCLUSIVE
    assert CaptureFault.IMPOSSIBLE_ROWS in [problem.fault for problem in measured.problems]


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (
            "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = start - 100000000,"
            ' "end" = "end" - 100000000',
            "begins before it was launched",
        ),
        (
            'UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET "end" = start',
            "moves more than memory can in its time",
        ),
        (
            "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET deviceId = 5",
            "ran on another device than its context",
        ),
        (
            f"UPDATE {KERNELS} SET deviceId = 5 WHERE rowid % 2",
            "ran on another device than its context",
        ),
        (
            "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET returnValue = 2",
            "was launched by a call that failed",
        ),
    ],
)
def test_a_damaged_column_proves_nothing(
    tmp_path: Path, real_export: RealExport, damage: str, why: str
) -> None:
    path = Path(shutil.copy(real_export("cu_double_buffer"), tmp_path))
    assert measure_file(path).problems == ()
    edit(path, damage)
    problems = measure_file(path).problems

    assert any(why in problem.what for problem in problems)


def test_the_row_is_named(tmp_path: Path, real_export: RealExport) -> None:
    path = Path(shutil.copy(real_export("cu_legacy_default"), tmp_path))
    ((start,),) = query(path, f"SELECT start FROM {KERNELS} WHERE rowid = 5")
    edit(path, f'UPDATE {KERNELS} SET "end" = "end" + 10000000 WHERE rowid = 5')
    (problem,) = measure_file(path).problems

    assert isinstance(start, int)
    assert problem.what == (
        f"1 device row that cannot be: kernel at {start / 1e9:.6f} s runs across others of its"
        " stream"
    )


def test_branches_of_a_graph_run_side_by_side_in_one_stream() -> None:
    assert (
        not picture(
            """
        s7 kernel k         |.aaaaaaaaaa|
        s7 kernel l         |..a..a..a..|
        t1 cudaGraphLaunch  |a..........|
        """,
            column_us=1000,
        )
        .measure()
        .problems
    )


def test_a_dependent_launch_may_begin_and_end_within_the_one_before() -> None:
    assert (
        not picture(
            """
        s7 kernel k         |.aaaaaaaa.cc|
        s7 kernel l         |..bbb.......|
        t1 cudaLaunchKernel |ab.......c..|
        """,
            column_us=1000,
        )
        .measure()
        .problems
    )


def test_kernels_of_different_streams_run_across_each_other() -> None:
    assert (
        not picture(
            """
        s7  kernel k         |.aaaaaaaaaa|
        s13 kernel l         |..b..c..d..|
        t1  cudaLaunchKernel |ab..c..d...|
        """,
            column_us=1000,
        )
        .measure()
        .problems
    )


def test_clocks_that_drift_apart_are_no_damage(tmp_path: Path, real_export: RealExport) -> None:
    path = Path(shutil.copy(real_export("cu_legacy_default"), tmp_path))
    for table in (KERNELS, "CUPTI_ACTIVITY_KIND_MEMCPY"):
        edit(path, f'UPDATE {table} SET start = start - 60000000, "end" = "end" - 60000000')

    assert measure_file(path).problems == ()
