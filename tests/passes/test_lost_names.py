"""What is told apart by name needs its names."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from overlapcheck.capture_problem import CaptureFault
from overlapcheck.checks.judge import judge
from overlapcheck.columns import ABSENT
from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from overlapcheck.trace_tables import Ranges
from overlapcheck.verdict import Outcome, Policy
from tests.export import RealExport, edit
from tests.pictures import measure_file, picture


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM StringIds",
        "DROP TABLE StringIds",
        "ALTER TABLE StringIds RENAME COLUMN value TO text",
        "DELETE FROM StringIds WHERE value = 'process'",
        "UPDATE StringIds SET value = '' WHERE value LIKE 'cuda%'",
        "UPDATE StringIds SET value = 'x'",
    ],
)
def test_an_export_without_its_names_proves_nothing(
    tmp_path: Path, real_export: RealExport, damage: str
) -> None:
    path = Path(shutil.copy(real_export("cu_double_buffer"), tmp_path))
    edit(path, damage)
    measured = measure_file(path)
    problem = next(p for p in measured.problems if p.fault is CaptureFault.NAMES_LOST)

    assert "StringIds" in problem.what
    assert judge(measured, Policy()).outcome is Outcome.INCONCLUSIVE


def test_a_collective_that_lost_its_name_is_noticed_by_its_time(tmp_path: Path) -> None:
    drawing = picture(
        """
        s7 kernel fwd              |.a.b.c.d...........|
        s9 kernel ncclDevAllReduce |........eeeeeeeeeee|
        t1 cudaLaunchKernel        |abcde..............|
        """
    )
    path = drawing.export(tmp_path / "nccl.sqlite")
    assert measure_file(path).problems == ()
    edit(path, "DELETE FROM StringIds WHERE value LIKE 'nccl%'")
    (problem,) = measure_file(path).problems

    assert problem.what == "no name for 1 of 5 kernels: texts are missing from StringIds"


@pytest.mark.parametrize(
    ("kernels", "told"), [(100, None), (99, "no name for 1 of 99 kernels: texts are missing")]
)
def test_one_name_in_a_hundred_may_be_lost(tmp_path: Path, kernels: int, told: str | None) -> None:
    text = "s7 kernel fwd |.a|\nt1 cudaLaunchKernel |a.|"
    path = picture(text, repeat=kernels).export(tmp_path / "names.sqlite")
    edit(path, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET shortName = 999999 WHERE rowid = 1")
    edit(path, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 999999 WHERE rowid = 1")
    problems = measure_file(path).problems

    assert bool(problems) is (told is not None)
    assert told is None or problems[0].what.startswith(told)


def test_what_has_no_name_by_right_lost_none() -> None:
    text = """
        s7 graph            |.aa.|
        t1 cudaGraphLaunch  |a...|
        """

    assert picture(text).measure().problems == ()


def test_a_late_kernel_without_a_name_is_judged_by_how_long_it_took(tmp_path: Path) -> None:
    text = "s7 kernel fwd |.a|\nt1 cudaLaunchKernel |a.|"
    path = picture(text, repeat=100).export(tmp_path / "names.sqlite")
    edit(
        path,
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET shortName = 999999, demangledName = 999999"
        " WHERE rowid = 100",
    )

    assert measure_file(path).problems == ()


def test_the_only_kernel_may_be_the_one_without_a_name(tmp_path: Path) -> None:
    path = picture("s7 kernel fwd |.a|\nt1 cudaLaunchKernel |a.|").export(tmp_path / "one.sqlite")
    edit(path, "DELETE FROM StringIds WHERE value = 'fwd'")
    (problem,) = measure_file(path).problems

    assert problem.what == "no name for 1 of 1 kernel: texts are missing from StringIds"


@pytest.mark.parametrize(
    ("name_id", "lost"), [(ABSENT, []), (999_999, ["no name for 3 of 3 NVTX ranges"])]
)
def test_a_source_may_give_ranges_without_a_name_but_none_that_is_nowhere(
    name_id: int, lost: list[str]
) -> None:
    trace = picture("""
        s7 kernel fwd       |.a..|
        t1 cudaLaunchKernel |a...|
        t1 nvtx part        |x.yz|
        """).trace()
    assert isinstance(trace.ranges, Ranges)
    ranges = replace(trace.ranges, name_id=np.full(3, name_id))
    problems = measure(replace(trace, ranges=ranges), Selection(skip=0)).problems

    assert [problem.what.split(":")[0] for problem in problems] == lost
