"""Copies, memsets, graph nodes and tails that are lost, and ends that are only cut off."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from overlapcheck.capture_problem import CaptureFault, CaptureProblem
from tests.export import RealExport, edit
from tests.pictures import Picture, measure_file, picture

COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"
CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


def problems(drawing: Picture) -> list[CaptureProblem]:
    return list(drawing.measure().problems)


def only_problem(text: str) -> CaptureProblem:
    (problem,) = problems(picture(text, column_us=1000))
    return problem


def test_copies_whose_rows_are_gone_are_a_loss_that_names_their_table() -> None:
    problem = only_problem(
        """
        s7 kernel k         |.aa.bb.cc|
        t1 cudaLaunchKernel |a..b..c..|
        t1 cudaMemcpyAsync  |.x..y..z.|
        """
    )

    assert problem.fault is CaptureFault.COPIES_WITHOUT_ROWS
    assert problem.what == "3 of 3 copy calls left no row: no table CUPTI_ACTIVITY_KIND_MEMCPY"
    assert "--trace=cuda" in problem.settle_with


def test_copies_that_come_first_of_all_are_missed_too() -> None:
    problem = only_problem(
        """
        s7 kernel k         |.aa.bb.cc|
        t1 cudaLaunchKernel |.a..b..c.|
        t2 cudaMemcpyAsync  |xyz......|
        """
    )

    assert problem.what.startswith("3 of 3 copy calls left no row")


def test_a_copy_whose_row_is_gone_amid_others_is_a_loss() -> None:
    problem = only_problem(
        """
        s7 kernel k          |.aa.bb.cc.|
        s7 h2d pinned 1MiB   |...x.....z|
        t1 cudaLaunchKernel  |a..b..c...|
        t1 cudaMemcpyAsync   |.xy....z..|
        """
    )

    assert problem.fault is CaptureFault.COPIES_WITHOUT_ROWS
    assert problem.what == "1 of 3 copy calls left no row on the device"


def test_memsets_whose_rows_are_gone_are_a_loss() -> None:
    problem = only_problem(
        """
        s7 kernel k         |.aa.bb.cc|
        t1 cudaLaunchKernel |a..b..c..|
        t1 cudaMemsetAsync  |.x..y..z.|
        """
    )

    assert problem.fault is CaptureFault.MEMSETS_WITHOUT_ROWS


def test_a_synchronous_memset_whose_row_is_gone_is_a_lost_memset() -> None:
    problem = only_problem(
        """
        s7 kernel k         |.aa.bb.cc|
        t1 cudaLaunchKernel |a..b..c..|
        t1 cudaMemset       |.x..y..z.|
        """
    )

    assert problem.fault is CaptureFault.MEMSETS_WITHOUT_ROWS
    assert problem.what.startswith("3 of 3 memset calls left no row")


@pytest.mark.parametrize(
    ("lost", "found"),
    [(".", []), ("d", ["1 of 5 kernel launches left no row on the device"])],
)
def test_calls_that_share_an_id_find_their_rows(
    tmp_path: Path, lost: str, found: list[str]
) -> None:
    """A runtime call and the driver's inside it may be recorded with one id."""
    path = picture(
        f"""
        s7 kernel k         |..a...b...c..|
        t1 cudaLaunchKernel |a...b{lost}..c....|
        t1 cuLaunchKernel   |.x...........|
        t1 cudaEventQuery   |............q|
        """,
        column_us=1000,
    ).export(tmp_path / "shared.sqlite")
    first = f"SELECT min(correlationId) FROM {CALLS}"
    edit(path, f"UPDATE {CALLS} SET correlationId = ({first}) WHERE start = 1000000")

    assert [problem.what for problem in measure_file(path).problems] == found


@pytest.mark.parametrize("call", ["cudaMemPrefetchAsync", "cudaMallocAsync", "cudaMemcpyAsync"])
def test_what_leaves_no_row_by_itself_is_no_loss(call: str) -> None:
    drawing = picture(
        f"""
        s7 kernel k         |.aa.bb.cc|
        t1 cudaLaunchKernel |a..b..c..|
        t1 {call}  |.x..y..z.|
        """,
        column_us=1000,
        failed=["x", "y", "z"] if call == "cudaMemcpyAsync" else [],
    )

    assert not problems(drawing)


def test_a_synchronous_memset_is_no_copy() -> None:
    assert not problems(
        picture("""
        s7 kernel k         |.aa....cc|
        s7 memset 1B        |....b....|
        t1 cudaLaunchKernel |a.....c..|
        t1 cudaMemset       |...b.....|
        """)
    )


def test_copies_queued_behind_kernels_when_recording_stops_are_no_loss() -> None:
    """The host is far ahead: results wait for kernels, inputs of later steps are there."""
    assert not problems(
        picture(
            """
            s7  kernel k         |.....aaaabbbbcccc....|
            s13 h2d pinned 1MiB  |....w.x.y.z..........|
            s14 d2h pinned 1MiB  |.........e...f.......|
            t1  cudaMemcpyAsync  |w.ex.fy.gz.h.........|
            t1  cudaLaunchKernel |.a..b..c..d..........|
            """,
            column_us=1000,
        )
    )


@pytest.mark.parametrize(("end_us", "lost"), [(5_050.0, False), (5_050.001, True)])
def test_a_copy_may_be_queued_twice_as_long_as_any_before_it(end_us: float, lost: bool) -> None:
    """Copy x was handed over at 1 ms, the one before it took 2 ms; the clocks err by 50 us."""
    drawing = picture(
        """
        s7  kernel k         |....k.|
        s13 h2d pinned 1MiB  |.wy...|
        t1  cudaMemcpyAsync  |wxy...|
        t2  cudaLaunchKernel |...k..|
        """,
        column_us=1000,
        gpu_us={"w": [1000.0, 2000.0], "k": [4000.0, end_us]},
    )

    assert bool(problems(drawing)) is lost


def test_kernels_that_end_while_copies_beside_them_go_on_are_a_loss() -> None:
    problem = only_problem(
        """
        s7  kernel k         |.a.b.c..................|
        s13 h2d pinned 1MiB  |.m.n.o.p.q.r.s.t.u.v.w.x|
        t1  cudaMemcpyAsync  |mn.o.p.q.r.s.t.u.v.w.x..|
        t1  cudaLaunchKernel |a.b.c.d.e.f.g.h.i.j.k.l.|
        """
    )

    assert problem.fault is CaptureFault.LAUNCHES_WITHOUT_ROWS
    assert problem.what == "9 of 12 kernel launches left no row on the device"


def test_a_wait_that_returned_proves_what_came_before_it() -> None:
    body = """
        s7  kernel k              |.aa.bb...........|
        s13 h2d pinned 1MiB       |...............xx|
        t1  cudaLaunchKernel      |a..b..c.d.e......|
        t1  cudaMemcpyAsync       |..............x..|
        """
    waited = body + "t1  cudaDeviceSynchronize |...........yy....|"
    (problem,) = problems(picture(waited, column_us=1000))

    assert problem.what == "3 of 5 kernel launches left no row on the device"


def test_a_wait_for_the_only_stream_of_a_thread_proves_it_too() -> None:
    text = """
        s7  kernel k              |.aaabbb.......|
        t1  cudaLaunchKernel      |abc...........|
        t1  cudaStreamSynchronize |...yyyyyyyyyy.|
        """
    (problem,) = problems(picture(text, column_us=1000, waits=[{"call": "y", "stream": 7}]))

    assert problem.what == "1 of 3 kernel launches left no row on the device"
    assert not problems(picture(text, column_us=1000, waits=[{"call": "y", "stream": 9}]))


def test_a_thread_that_lost_every_kernel_is_a_loss() -> None:
    problem = only_problem(
        """
        s7 kernel k         |.aa.bb.cc.dd.ee.ff|
        t1 cudaLaunchKernel |a..b..c..d..e..f..|
        t2 cudaLaunchKernel |u..v..w...........|
        """
    )

    assert problem.what == "3 of 9 kernel launches left no row on the device"


def test_what_such_a_thread_launched_last_may_still_be_on_its_way() -> None:
    problem = only_problem(
        """
        s7 kernel k         |.aa.bb.cc.dd.ee.ff|
        t1 cudaLaunchKernel |a..b..c..d..e..f..|
        t2 cudaLaunchKernel |u..v..w........z..|
        """
    )

    assert problem.what == "3 of 10 kernel launches left no row on the device"


def test_a_copy_of_unknown_kind_is_no_copy_that_can_be_judged(
    tmp_path: Path, real_export: RealExport
) -> None:
    path = Path(shutil.copy(real_export("cu_double_buffer"), tmp_path))
    edit(path, f"UPDATE {COPIES} SET copyKind = 99")
    (problem,) = measure_file(path).problems

    assert problem.what.startswith("24 of 24 copies go nobody knows where")


GRAPH = """
    s7 kernel k         |.aa.bb.cc.dd.ee.ff|
    s7 kernel l         |...a..b..c..d..e..|
    t1 cudaGraphLaunch  |a..b..c..d..e..f..|
    """


def test_a_graph_node_that_one_launch_lacks_is_a_loss(tmp_path: Path) -> None:
    path = picture(GRAPH).export(tmp_path / "graph.sqlite")
    assert measure_file(path).problems == ()
    edit(path, f"DELETE FROM {KERNELS} WHERE start = 9000")
    (problem,) = measure_file(path).problems

    assert problem.fault is CaptureFault.GRAPH_LAUNCHES_INVISIBLE
    assert problem.what == "1 of 8 graph nodes launched left no row on the device"


@pytest.mark.parametrize("row", ["l", "k"])
def test_a_graph_node_that_most_launches_lack_is_a_loss(row: str, tmp_path: Path) -> None:
    path = picture(GRAPH).export(tmp_path / "graph.sqlite")
    edit(
        path,
        f"DELETE FROM {KERNELS} WHERE start BETWEEN 5000 AND 13000 AND shortName ="
        f" (SELECT id FROM StringIds WHERE value = '{row}')",
    )

    (problem,) = measure_file(path).problems

    assert problem.fault is CaptureFault.GRAPH_LAUNCHES_INVISIBLE


def test_a_node_that_a_program_leaves_out_of_most_launches_is_none() -> None:
    optional = GRAPH.replace("...a..b..c..d..e..|", "...a...........e..|")
    condition = "t1 cudaGraphConditionalHandleCreate |.z................|"

    assert [p.fault for p in problems(picture(optional))] == [CaptureFault.GRAPH_LAUNCHES_INVISIBLE]
    assert not problems(picture(f"{optional.rstrip()}\n    {condition}"))


@pytest.mark.parametrize(("launches", "tolerated"), [(52, True), (51, False)])
def test_one_node_in_a_hundred_may_be_lost(tmp_path: Path, launches: int, tolerated: bool) -> None:
    """Two nodes of all launches but the first and the last, which may be cut off."""
    text = """
        s7 kernel k         |.aa...|
        s7 kernel l         |...a..|
        t1 cudaGraphLaunch  |a.....|
        """
    path = picture(text, repeat=launches).export(tmp_path / "graph.sqlite")
    edit(path, f"DELETE FROM {KERNELS} WHERE start = 9000")

    assert (measure_file(path).problems == ()) is tolerated


def test_copies_captured_into_a_graph_that_never_leave_a_row_are_a_loss() -> None:
    (problem,) = problems(
        picture("""
        s7 kernel k                |........aa.bb.cc|
        t1 cudaStreamBeginCapture  |x...............|
        t1 cudaMemcpyAsync         |.m..............|
        t1 cudaStreamEndCapture    |..y.............|
        t1 cudaGraphLaunch         |.......a..b..c..|
        """)
    )

    assert problem.what == (
        "no graph launch left a row of the copies in it: no table CUPTI_ACTIVITY_KIND_MEMCPY"
    )
