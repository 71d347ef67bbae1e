"""One damaged number: rows that cannot be, beside ones that only look odd."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.capture_problem import CaptureFault
from overlapcheck.checks.judge import judge
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


def test_bytes_beyond_all_numbers_are_counted_without_a_warning(
    tmp_path: Path, real_export: RealExport
) -> None:
    path = Path(shutil.copy(real_export("cu_double_buffer"), tmp_path))
    edit(path, "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = 9223372036854775807 WHERE rowid = 1")

    assert CaptureFault.IMPOSSIBLE_ROWS in [one.fault for one in measure_file(path).problems]


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


# Each term, just within its limit and just beyond: one column is a millisecond.


def whys(text: str, **options: Any) -> list[str]:
    """What cannot be, in the words behind the row."""
    problems = picture(text, column_us=1000, **options).measure().problems
    named = [p.what for p in problems if p.fault is CaptureFault.IMPOSSIBLE_ROWS]
    return [what.split(" s ", 1)[1] for what in named]


THREE = """
s7 kernel k         |.a.....b.c|
t1 cudaLaunchKernel |a.....b.c.|
"""


@pytest.mark.parametrize(
    ("start_us", "found"), [(5000.0, []), (4999.999, ["begins before it was launched"])]
)
def test_a_row_may_begin_a_drift_before_its_launch(start_us: float, found: list[str]) -> None:
    assert whys(THREE, gpu_us={"b": [start_us, 8000.0]}) == found


def test_where_half_of_the_rows_are_early_the_clocks_drift() -> None:
    """Two of four are, then two of five."""
    four = """
        s7 kernel k         |.a.b.e...d....|
        t1 cudaLaunchKernel |a....eb......d|
        """
    five = four.replace("d....|", "d..f.|").replace("eb......d", "eb.....fd")

    assert whys(four) == []
    assert whys(five) == ["begins before it was launched"]


@pytest.mark.parametrize(
    ("end_us", "found"), [(1_010_000.0, []), (1_010_000.001, ["lies outside the recording"])]
)
def test_a_row_ends_within_a_second_of_a_short_recording(end_us: float, found: list[str]) -> None:
    """The host's last call ends after 10 ms."""
    text = THREE + "t1 cudaEventQuery   |.........x|\n"

    assert whys(text, gpu_us={"c": [9000.0, end_us]}) == found


@pytest.mark.parametrize(
    ("start_us", "found"), [(-1_000_000.0, []), (-1_000_000.001, ["lies outside the recording"])]
)
def test_a_row_begins_within_a_second_of_it(start_us: float, found: list[str]) -> None:
    text = THREE + "s8 kernel unlaunched |z.........|\n"

    assert whys(text, gpu_us={"z": [start_us, 500.0]}) == found


def test_a_window_that_is_given_tells_nothing_of_where_the_recording_ends() -> None:
    drawing = picture(THREE, column_us=1000, gpu_us={"c": [9000.0, 2_000_000.0]})

    assert drawing.measure().problems
    assert not drawing.measure(window_ns=(0, 10_000_000)).problems


def test_a_long_recording_bounds_rows_by_its_length() -> None:
    text = THREE + "t1 cudaEventQuery   |.........x|\n"
    late = {"c": [9000.0, 4_000_000.0]}

    assert whys(text, gpu_us=late, host_us={"x": [0.0, 2_000_000.0]}) == []
    assert whys(text, gpu_us=late, host_us={"x": [0.0, 1_999_000.0]}) == [
        "lies outside the recording"
    ]


WAITED = """
s7 kernel k              |.a.bbbb...|
t1 cudaLaunchKernel      |a.b.......|
t1 cudaDeviceSynchronize |...xxx....|
"""
OUTLASTS = ["ends after a wait for it returned"]


@pytest.mark.parametrize(("end_us", "found"), [(7000.0, []), (7000.001, OUTLASTS)])
def test_a_row_ends_at_most_a_drift_after_a_wait_for_it(end_us: float, found: list[str]) -> None:
    assert whys(WAITED, gpu_us={"b": [3000.0, end_us]}) == found


def test_a_short_row_is_not_held_against_a_wait() -> None:
    assert whys(WAITED, gpu_us={"b": [9000.0, 10_000.0]}) == []
    assert whys(WAITED, gpu_us={"b": [9000.0, 10_000.001]}) == OUTLASTS


def test_a_wait_for_one_device_says_nothing_of_another() -> None:
    two = WAITED + "gpu1 s9 kernel l         |.c........|\nt2 cudaLaunchKernel      |c.........|\n"

    assert whys(two, gpu_us={"b": [3000.0, 9000.0]}) == []


ACROSS = """
s7  kernel k         |.aaaaaaaaa|
s7  kernel l         |..b.c.....|
t1  cudaLaunchKernel |abc.......|
"""


def test_a_row_that_runs_across_two_others_of_its_stream_cannot_be() -> None:
    found = ["runs across others of its stream"]

    assert whys(ACROSS) == found
    assert whys(ACROSS.replace("c", ".").replace(".udaLaun.hK", "cudaLaunchK")) == []
    assert whys(ACROSS.replace("s7  kernel l", "s8  kernel l")) == []
    beside = "s5  kernel m         |....d.....|\nt2  cudaLaunchKernel |d.........|\n"
    assert whys(ACROSS + beside) == found


@pytest.mark.parametrize("noise_us", [0.0, 50.0])
def test_one_that_ends_with_the_others_does_not_run_across_them(noise_us: float) -> None:
    ends = {"b": [2000.0, 5000.0], "c": [4000.0, 5000.0]}

    assert whys(ACROSS, gpu_us={"a": [1000.0, 5000.0 + noise_us], **ends}) == []
    assert whys(ACROSS, gpu_us={"a": [1000.0, 5050.001], **ends}) != []


def test_a_memset_that_cannot_be_is_found_without_any_copy() -> None:
    text = THREE + "s7 memset 1KiB      |....m.....|\nt1 cudaMemsetAsync  |...m......|\n"

    assert whys(text) == []
    assert whys(text, gpu_us={"m": [4000.0, 2_000_000.0]}) == ["lies outside the recording"]


def test_a_row_without_a_call_was_launched_by_none_that_failed() -> None:
    """Though the first call of all has failed."""
    text = THREE + "t1 cudaMalloc       |.x........|\ns8 kernel before    |z.........|\n"
    first = {"x": [-1000.0, -900.0]}

    assert whys(text, failed=["x"], host_us=first) == []
    assert whys(text, failed=["b"]) == ["was launched by a call that failed"]


@pytest.mark.parametrize(
    ("lasts_ns", "size", "found"),
    [
        (0, 100_000, []),
        (0, 100_001, ["moves more than memory can in its time"]),
        (1, 100_000, []),
        (1, 100_001, ["moves more than memory can in its time"]),
        (2, 200_000, []),
        (2, 200_001, ["moves more than memory can in its time"]),
    ],
)
def test_no_memory_moves_more_than_a_hundred_thousand_bytes_a_nanosecond(
    lasts_ns: int, size: int, found: list[str]
) -> None:
    """Not even in a copy that seems to last no time: it lasted up to one."""
    text = THREE + f"s9 h2d pinned {size}B |....m.....|\nt2 cudaMemcpyAsync  |...m......|\n"

    assert whys(text, gpu_us={"m": [4000.0, 4000.0 + lasts_ns / 1000]}) == found


def test_a_row_of_any_context_may_be_on_the_wrong_device(tmp_path: Path) -> None:
    two = THREE + "gpu1 s9 kernel l    |.d........|\nt2 cudaLaunchKernel |d.........|\n"
    for context in (1, 2):
        path = picture(two, column_us=1000).export(tmp_path / f"{context}.sqlite")
        assert measure_file(path).problems == ()
        edit(
            path,
            f"UPDATE {KERNELS} SET deviceId = 5 WHERE rowid IN"
            f" (SELECT max(rowid) FROM {KERNELS} WHERE contextId = {context})",
        )
        whats = [problem.what for problem in measure_file(path).problems]

        assert any("ran on another device than its context" in what for what in whats)


@pytest.mark.parametrize(
    ("end_us", "found"), [(11_010_000.0, []), (11_010_000.001, ["lies outside the recording"])]
)
def test_how_long_a_recording_lasted_is_no_matter_of_when_it_began(
    end_us: float, found: list[str]
) -> None:
    """Ten seconds after the zero of its clock; its last call ends 10 ms later."""
    calls = {mark: [10_000_000.0 + 1000 * at, 10_000_500.0 + 1000 * at] for mark, at in CALLED}
    rows = {mark: [start + 1000, end + 1000] for mark, (start, end) in calls.items()}
    rows["c"][1] = end_us
    text = THREE + "t1 cudaEventQuery   |.........x|\n"

    assert whys(text, host_us={**calls, "x": [10_009_000.0, 10_010_000.0]}, gpu_us=rows) == found


CALLED = (("a", 0), ("b", 6), ("c", 8))


def test_a_wait_says_nothing_of_a_kernel_that_no_known_call_launched() -> None:
    """The wait is the last call of all, and short."""
    text = """
        s7  kernel k              |.a.......|
        s9  kernel before         |zzzzzzzzz|
        t1  cudaLaunchKernel      |a........|
        t1  cudaDeviceSynchronize |...x.....|
        """

    assert whys(text, host_us={"x": [3000.0, 3000.0]}) == []


def test_a_stream_that_runs_in_order_hides_none_after_it() -> None:
    beside = "s5  kernel m         |.d.e.f....|\nt2  cudaLaunchKernel |d.e.f.....|\n"

    assert whys(ACROSS + beside) == ["runs across others of its stream"]
