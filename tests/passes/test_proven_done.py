"""What proves that work without a row was done, and what does not. One column is a millisecond.

The last launch of each picture has no row: it was cut off, or is lost where it is proven done.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.pictures import picture

LOST = ["1 of 3 kernel launches"]


def losses(text: str, **options: Any) -> list[str]:
    """How many calls of how many are lost, of each problem."""
    found = picture(text, column_us=1000, **options).measure().problems
    return [what.split(" left no row")[0] for what in (problem.what for problem in found)]


DEVICE = """
s7 kernel k              |.aa.bb......|
t1 cudaLaunchKernel      |a..b..c.....|
"""
WAIT = "t1 cudaDeviceSynchronize |.......yy...|\n"


def test_a_wait_for_the_only_device_proves_all_work_before_it() -> None:
    assert losses(DEVICE) == []
    assert losses(DEVICE + WAIT) == LOST


@pytest.mark.parametrize(
    "other",
    [
        "gpu1 s9 h2d pinned 1B    |.x..........|\nt2 cudaMemcpyAsync       |x...........|\n",
        "gpu1 s9 kernel before    |z...........|\n",
    ],
)
def test_with_two_devices_nobody_knows_which_one_it_waited_for(other: str) -> None:
    """Also where nothing is known of the second but a kernel launched before the recording."""
    assert losses(DEVICE + WAIT + other) == []


STREAM = """
s7  kernel k              |.aa.bb......|
s9  kernel l              |..dd........|
s13 h2d pinned 1B         |..x.........|
t1  cudaLaunchKernel      |a..b..c.....|
t1  cudaMemcpyAsync       |.x..........|
t2  cudaLaunchKernel      |.d..........|
t1  cudaStreamSynchronize |.......yy...|
"""


@pytest.mark.parametrize(
    ("wait", "lost"),
    [
        ({"stream": 7}, ["1 of 4 kernel launches"]),
        ({"stream": 9}, []),
        ({"stream": 13}, []),
        ({"stream": 7, "gpu": 1}, []),
    ],
)
def test_a_wait_for_the_stream_of_all_such_work_of_the_thread_proves_it(
    wait: dict[str, int], lost: list[str]
) -> None:
    """Whatever other threads, or copies of this one, use; and of the same context."""
    assert losses(STREAM, waits=[{"call": "y", **wait}]) == lost


def test_a_thread_that_launches_into_two_streams_may_wait_for_the_other() -> None:
    two = STREAM.replace("t2  cudaLaunchKernel", "t1  cudaLaunchKernel")

    assert losses(two, waits=[{"call": "y", "stream": 7}]) == []


COPIES = """
s7  kernel k         |.a........|
s7  h2d pageable 1B  |...m......|
s7  memset 1B        |.....s....|
t1  cudaLaunchKernel |a.........|
t1  cudaMemcpy       |..mm......|
t1  cudaMemset       |....ss....|
"""


def test_a_copy_that_waits_for_itself_is_done_when_it_returns() -> None:
    asynchronous = "t1  cudaMemcpyAsync  |......nn..|\n"

    assert losses(COPIES + asynchronous) == []
    assert losses(COPIES + asynchronous.replace("Async", "     ")) == ["1 of 2 copy calls"]


def test_a_memset_returns_before_it_is_done() -> None:
    assert losses(COPIES + "t1  cudaMemset       |......nn..|\n") == []


@pytest.mark.parametrize("lasts_us", [0.001, 1.0])
def test_a_launch_into_a_graph_that_is_recorded_submits_nothing_however_short(
    lasts_us: float,
) -> None:
    """Launch b is recorded; c, launched outside, is lost."""
    text = """
        s7 kernel k               |.a.......dd|
        t1 cudaStreamBeginCapture |...x.......|
        t1 cudaLaunchKernel       |a...b..cd..|
        t1 cudaStreamEndCapture   |.....y.....|
        """

    assert losses(text, host_us={"b": [4000.0, 4000.0 + lasts_us]}) == LOST
