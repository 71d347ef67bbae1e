"""Each term that tells a lost row from a cut-off end, just within its limit and just beyond.

One column is a millisecond; clocks err by 50 us, and what waits is given twice the longest wait.
"""

from __future__ import annotations

from pathlib import Path
from string import ascii_letters
from typing import Any

import pytest

from tests.export import edit
from tests.pictures import measure_file, picture


def losses(text: str, **options: Any) -> list[str]:
    """How many calls of how many are lost, of each problem."""
    found = picture(text, column_us=1000, **options).measure().problems
    return [problem.what.split(" left no row")[0] for problem in found]


@pytest.mark.parametrize(("launches", "tolerated"), [(100, True), (99, False)])
def test_one_launch_in_a_hundred_may_be_lost(
    tmp_path: Path, launches: int, tolerated: bool
) -> None:
    path = picture("s7 kernel k |.aa|\nt1 cudaLaunchKernel |a..|", repeat=launches).export(
        tmp_path / "launches.sqlite"
    )
    edit(path, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 50")

    assert (measure_file(path).problems == ()) is tolerated


@pytest.mark.parametrize(("launches", "tolerated"), [(100, True), (99, False)])
def test_one_graph_launch_in_a_hundred_may_be_lost(
    tmp_path: Path, launches: int, tolerated: bool
) -> None:
    path = picture("s7 graph |.aa|\nt1 cudaGraphLaunch |a..|", repeat=launches).export(
        tmp_path / "graphs.sqlite"
    )
    edit(path, "DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE WHERE correlationId = 50")

    assert (measure_file(path).problems == ()) is tolerated


def test_single_kernels_that_a_recording_of_whole_graphs_lacks_are_a_loss_of_their_table() -> None:
    text = """
        s7 graph            |.aa........cc|
        t1 cudaGraphLaunch  |a.........c..|
        t1 cudaLaunchKernel |...b.........|
        """
    (problem,) = picture(text, column_us=1000).measure().problems

    assert problem.what == ("1 of 1 kernel launch left no row: no table CUPTI_ACTIVITY_KIND_KERNEL")


def after_the_last_row(kernels: int, launches: int, threads: str = "") -> list[str]:
    """Problems of a recording whose last launches begin after its last row has ended."""
    rows, late = ascii_letters[:kernels], ascii_letters[kernels : kernels + launches]
    width = kernels + launches
    return losses(
        f"""
        s7 kernel k         |.{rows}.{"." * launches}|
        t1 cudaLaunchKernel |{rows}..{late}|
        {threads.format("q" + "." * (width + 1))}
        """
    )


@pytest.mark.parametrize(
    ("kernels", "launches", "lost"),
    [
        (1, 2, []),
        (1, 3, ["3 of 4 kernel launches"]),
        (27, 3, ["3 of 30 kernel launches"]),
        (28, 3, []),
    ],
)
def test_two_launches_of_a_thread_or_less_than_a_tenth_of_all_may_be_cut_off(
    kernels: int, launches: int, lost: list[str]
) -> None:
    assert after_the_last_row(kernels, launches) == lost


def test_a_thread_that_hands_over_no_work_excuses_no_launch() -> None:
    query = "t2 cudaEventQuery   |{}|"

    assert after_the_last_row(1, 3, query.replace("q", "Q")) == ["3 of 4 kernel launches"]


def test_a_launch_as_the_last_row_ends_does_not_come_after_it() -> None:
    assert (
        losses("""
        s7 kernel k         |.aa......|
        t1 cudaLaunchKernel |a..b..c.d|
        """)
        == []
    )


def test_where_the_devices_clock_is_far_behind_launches_with_rows_are_not_lost() -> None:
    """The device's times are 20 ms too early, so that all launches begin after its last row."""
    text = """
        s7 kernel k         |.a.b.c.d..|
        t1 cudaLaunchKernel |a.b.c.d..e|
        """
    early = {mark: [1000.0 * (i - 20), 1000.0 * (i - 19)] for i, mark in enumerate("abcd")}

    assert losses(text, gpu_us=early) == []


def test_a_graph_launched_as_the_last_row_ends_does_not_come_after_it() -> None:
    assert losses("""
        s7 kernel k         |.aa......|
        t1 cudaLaunchKernel |a........|
        t1 cudaGraphLaunch  |...x..y.z|
        """) == ["1 of 3 graph launches"]


def test_other_launches_after_the_last_row_are_no_graphs() -> None:
    assert (
        losses("""
        s7 kernel k         |.aa........|
        t1 cudaLaunchKernel |a......b...|
        t1 cudaGraphLaunch  |....x....y.|
        """)
        == []
    )


# Eleven kernels have rows, the wait for the twelfth returns just before the last row's end or
# too close to it to tell. A copy goes on to 20 ms, the first kernel took longest: no silence.
WAITED = """
s7  kernel k              |.aaaaaaaabcdefghijk..|
s13 h2d pinned 1MiB       |.................mmm.|
t1  cudaLaunchKernel      |abcdefghijkl.........|
t1  cudaDeviceSynchronize |............yy.......|
t2  cudaMemcpyAsync       |.............m.......|
"""


@pytest.mark.parametrize(
    ("waited_us", "lost"), [(19_950.0, []), (19_949.999, ["1 of 12 kernel launches"])]
)
def test_a_wait_proves_what_it_waited_for_before_the_last_row_by_more_than_clocks_err(
    waited_us: float, lost: list[str]
) -> None:
    assert losses(WAITED, host_us={"y": [12_000.0, waited_us]}) == lost


def test_a_tenth_of_all_launches_proven_done_without_rows_is_more_than_an_end() -> None:
    close = {"y": [12_000.0, 19_980.0]}
    nine = WAITED.replace("bcdefghijk", "bcdefghi..").replace("abcdefghijkl", "abcdefghil..")

    assert losses(WAITED, host_us=close) == []
    assert losses(nine, host_us=close) == ["1 of 10 kernel launches"]


def test_a_wait_for_a_launch_amid_others_proves_nothing_of_the_last_one() -> None:
    assert losses("""
        s7 kernel k              |.a......cc..|
        t1 cudaLaunchKernel      |a.b....c..d.|
        t1 cudaDeviceSynchronize |...yy.......|
        """) == ["1 of 4 kernel launches"]


def test_a_silence_begins_with_the_first_launch_that_could_have_ended_it() -> None:
    """Launch b is lost amid others; z is queued, and copies go on for 4 ms."""
    assert losses("""
        s7  kernel k         |.a......c..............|
        s13 h2d pinned 1MiB  |....................m.n|
        t1  cudaLaunchKernel |a..b...c...........z...|
        t2  cudaMemcpyAsync  |...................m.n.|
        """) == ["1 of 4 kernel launches"]


def silence(kernels: str, calls: str, until_us: float) -> list[str]:
    """Problems where kernels end and a copy goes on; the last launch has no row."""
    text = f"""
        s7  kernel k         |{kernels}|
        s13 h2d pinned 1MiB  |{"m".rjust(len(kernels), ".")}|
        t1  cudaLaunchKernel |{calls}|
        t2  cudaMemcpyAsync  |{"m.".rjust(len(kernels), ".")}|
        """
    return losses(text, gpu_us={"m": [until_us - 10.0, until_us]})


@pytest.mark.parametrize(
    ("until_us", "lost"), [(15_050.0, []), (15_050.001, ["1 of 5 kernel launches"])]
)
def test_what_queued_behind_others_of_its_kind_did_not_take_so_long(
    until_us: float, lost: list[str]
) -> None:
    """The first took 3 ms from its launch, each of the others 2 ms more; the last ended at 9."""
    assert silence(".aabbccdd.......", "abcdz...........", until_us) == lost


@pytest.mark.parametrize(
    ("until_us", "lost"), [(17_050.0, []), (17_050.001, ["1 of 3 kernel launches"])]
)
def test_any_kernel_may_have_taken_longest(until_us: float, lost: list[str]) -> None:
    """The second took 4 ms from its launch and ended at 9 ms."""
    assert silence(".a....bbb........", "a....bz..........", until_us) == lost


@pytest.mark.parametrize(
    ("until_us", "lost"), [(2_050.0, []), (2_050.001, ["1 of 2 kernel launches"])]
)
def test_a_kernel_that_seems_to_take_no_time_leaves_the_error_of_the_clocks(
    until_us: float, lost: list[str]
) -> None:
    """It ended as its call began, by clocks that differ; the lost one was launched at 2 ms."""
    text = """
        s7  kernel k         |.a.|
        s13 h2d pinned 1MiB  |..m|
        t1  cudaLaunchKernel |.az|
        t2  cudaMemcpyAsync  |.m.|
        """
    times = {"a": [900.0, 1000.0], "m": [2010.0, until_us]}

    assert losses(text, gpu_us=times) == lost


@pytest.mark.parametrize(("until_us", "lost"), [(7_050.0, False), (7_050.001, True)])
def test_a_copy_without_any_like_it_may_wait_twice_as_long_as_work_before_it(
    until_us: float, lost: bool
) -> None:
    """Kernel a took 2 ms; b, launched as the copy was, tells nothing of the time before."""
    text = """
        s7 kernel k         |.a.b....|
        t1 cudaLaunchKernel |a..b....|
        t2 cudaMemcpyAsync  |...x....|
        """

    assert bool(losses(text, gpu_us={"b": [4000.0, until_us]})) is lost


@pytest.mark.parametrize(("until_us", "lost"), [(50.0, False), (50.001, True)])
def test_a_copy_before_all_other_work_may_wait_as_long_as_clocks_err(
    until_us: float, lost: bool
) -> None:
    text = """
        s7 kernel k         |.a.|
        t1 cudaLaunchKernel |a..|
        t2 cudaMemcpyAsync  |x..|
        """

    assert bool(losses(text, gpu_us={"a": [10.0, until_us]})) is lost


@pytest.mark.parametrize(("until_us", "lost"), [(50.0, False), (50.001, True)])
def test_so_may_a_copy_that_others_overtook(until_us: float, lost: bool) -> None:
    text = """
        s7  kernel k         |k..|
        s13 h2d pinned 1MiB  |.y.|
        t1  cudaMemcpyAsync  |xy.|
        t2  cudaLaunchKernel |k..|
        """
    calls = {"x": [0.0, 1.0], "y": [2.0, 3.0], "k": [5.0, 6.0]}
    rows = {"k": [7.0, 8.0], "y": [10.0, until_us]}

    assert bool(losses(text, host_us=calls, gpu_us=rows)) is lost


@pytest.mark.parametrize("proof", [False, True])
def test_a_copy_that_is_proven_done_waits_no_more(proof: bool) -> None:
    """Copy x could still be queued, but for a wait that returned with the last row."""
    text = """
        s7  kernel k              |....k...........|
        s13 h2d pinned 1MiB       |..ycdefghijl....|
        s14 h2d pinned 1MiB       |.w..............|
        t1  cudaMemcpyAsync       |wxycdefghijl....|
        t2  cudaLaunchKernel      |...k............|
        """
    wait = "        t3  cudaDeviceSynchronize |............zz..|\n" if proof else ""
    rows = {"w": [1000.0, 9000.0], "k": [4000.0, 14_000.0]}
    found = losses(text + wait, gpu_us=rows)

    assert found == (["1 of 12 copy calls"] if proof else [])


# Each kernel has ended 3 ms after its launch.
FORGOTTEN = """
s7 kernel k         |.aa.bb.cc.dd.ee.ff|
t1 cudaLaunchKernel |a..b..c..d..e..f..|
t2 cudaLaunchKernel |u..v..w...........|
"""


def test_two_calls_of_a_thread_without_rows_may_be_on_their_way() -> None:
    assert losses(FORGOTTEN.replace("|u..v..w", "|u..v...")) == []


@pytest.mark.parametrize(("until_us", "lost"), [(12_050.0, False), (12_050.001, True)])
def test_all_of_them_waited_longer_than_twice_what_anything_did(
    until_us: float, lost: bool
) -> None:
    """The last of the thread's calls was made at 6 ms."""
    text = FORGOTTEN.replace(".ff|", "...|").replace(".f..|", "....|")
    late = {"e": [12_040.0, until_us]}

    assert bool(losses(text, gpu_us=late, host_us={"e": [12_000.0, 12_001.0]})) is lost


def test_a_thread_whose_copies_have_rows_may_have_lost_its_kernels() -> None:
    copies = "s13 h2d pinned 1B |.mm.nn.oo.........|\nt2 cudaMemcpyAsync |m..n..o...........|\n"

    assert losses(FORGOTTEN + copies) == ["3 of 9 kernel launches"]


def test_launches_queued_behind_a_long_kernel_of_their_thread_are_not_forgotten() -> None:
    assert (
        losses("""
        s7  kernel k         |.aaaaaaaaa............|
        s13 h2d pinned 1MiB  |.....................m|
        t1  cudaLaunchKernel |abcd..................|
        t2  cudaMemcpyAsync  |....................m.|
        """)
        == []
    )


def test_a_forgotten_thread_and_launches_after_the_last_row_are_lost_together() -> None:
    assert losses("""
        s7 kernel k         |.aa.bb.cc.dd.ee.ff......|
        t1 cudaLaunchKernel |a..b..c..d..e..f...ghijm|
        t2 cudaLaunchKernel |u..v..w.................|
        """) == ["8 of 14 kernel launches"]


def test_a_wait_at_the_very_end_excuses_no_thread_that_lost_every_kernel() -> None:
    marks = ascii_letters[:31]
    assert losses(f"""
        s7 kernel k              |.{marks}.....|
        t1 cudaLaunchKernel      |{marks}......|
        t2 cudaLaunchKernel      |X.Y.Z{"." * 32}|
        t2 cudaDeviceSynchronize |{"." * 31}WWWWW.|
        """) == ["3 of 34 kernel launches"]
