"""Why the host was late: each term of its rules, just within its limit and just beyond."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from overlapcheck.ledger import Reason
from tests.pictures import picture


def told(text: str, **options: Any) -> dict[str, float]:
    """Idle microseconds by cause; one column is 10 us."""
    (device,) = picture(text, column_us=10, **options).measure().devices
    ledger = device.ledger
    ns = np.bincount(ledger.reason, weights=ledger.end_ns - ledger.start_ns)
    return {Reason(i).cause: total / 1000 for i, total in enumerate(ns.tolist()) if total}


LOCKED = """
s7   kernel fwd               |.aaaaaa........bbbbbb|
t1   cudaLaunchKernel         |a...bbbbbbbbbbb......|
t2   cudaHostRegister         |...xxxxxxxxxxxx......|
"""


@pytest.mark.parametrize(("until_us", "locked"), [(95.0, True), (94.999, False)])
def test_a_lock_covers_half_of_the_call_that_it_keeps(until_us: float, locked: bool) -> None:
    """The launch runs from 40 to 150."""
    assert ("driver-lock" in told(LOCKED, host_us={"x": [30.0, until_us]})) is locked


@pytest.mark.parametrize(("since_us", "locked"), [(100.0, True), (100.001, False)])
def test_a_call_is_kept_waiting_from_fifty_microseconds_on(since_us: float, locked: bool) -> None:
    assert ("driver-lock" in told(LOCKED, host_us={"b": [since_us, 150.0]})) is locked
    holding = {"b": [60.0, 150.0], "x": [since_us, 150.0]}
    assert ("driver-lock" in told(LOCKED, host_us=holding)) is locked


def test_a_lock_is_another_threads() -> None:
    own = LOCKED.replace("t2   cudaHostRegister", "t1   cudaHostRegister")

    assert "driver-lock" not in told(own)


QUEUE_FULL = """
s7   kernel k                 |.aaaaaaaaaabbbbbbbbbb......cccc|
t1   cudaLaunchKernel         |abbbbbbbbbbbbbbbbbb........c...|
t1   cudaDeviceSynchronize    |....................x..........|
"""


def test_a_launch_that_waits_in_a_full_queue_is_no_work_of_the_host() -> None:
    """Of 300 us the device needs 240; the launch waits 180, the sync 10: the host needs 110."""
    assert told(QUEUE_FULL) == {"host-sync": 60.0}


def test_what_the_host_needs_beyond_the_device_is_its_own() -> None:
    """Without that wait it needs 290 of the 300, 50 more than the device: 5/6 of what is idle."""
    busy = QUEUE_FULL.replace("abbbbbbbbbbbbbbbbbb..", "ab...................")

    assert told(busy) == {"host-sync": 10.0, "launch-bound": 50.0}


DRAINED = """
s7   kernel k                 |.aaaaaa...bbb|
t1   cudaLaunchKernel         |a.........b..|
t1   cudaStreamSynchronize    |.xxxx........|
"""


@pytest.mark.parametrize(("end_us", "cause"), [(69.999, "host-sync"), (70.0, "launch-bound")])
def test_a_wait_drains_the_device_until_shortly_after_it(end_us: float, cause: str) -> None:
    """The wait returns after 50 us."""
    assert set(told(DRAINED, gpu_us={"a": [10.0, end_us]})) == {cause}


CAUGHT_UP = """
s7   kernel k                 |.aaaaaaaaaaaa....bbbbbbcccc....dd|
t1   cudaLaunchKernel         |a...............b.c...........d..|
t1   cudaStreamSynchronize    |.xxxxxxxxxxxx....................|
t1   cudaEventQuery           |.......................q...r.....|
"""


@pytest.mark.parametrize(
    ("start_us", "causes"), [(240.0, {"host-sync", "launch-bound"}), (239.999, {"host-sync"})]
)
def test_a_launch_well_ahead_ends_the_blame_of_a_wait(start_us: float, causes: set[str]) -> None:
    """Its launch returned after 190 us."""
    exact = {"b": [170.0, start_us], "c": [start_us, 270.0]}

    assert set(told(CAUGHT_UP, gpu_us=exact)) == causes


ABSENT_HOST = """
s7   kernel k                 |.aaaa........bb|
t1   cudaLaunchKernel         |a..........b...|
"""


@pytest.mark.parametrize(
    ("start_us", "cause"), [(110.0, "host-starved"), (109.999, "launch-bound")]
)
def test_a_tenth_of_a_millisecond_without_a_call_is_away(start_us: float, cause: str) -> None:
    """The call before returned after 10 us."""
    assert cause in told(ABSENT_HOST, host_us={"b": [start_us, 120.0]})


def test_a_thread_that_only_copies_is_not_away_nor_present() -> None:
    copies = ABSENT_HOST + "t2   cudaMemcpyAsync          |.....c.........|\n"

    assert "host-starved" in told(copies + "s9   h2d pinned 1KiB          |......c........|\n")
    assert "host-starved" not in told(ABSENT_HOST + "t1   cudaEventQuery  |.....c.........|\n")


@pytest.mark.parametrize(("size", "cause"), [(65536, "host-sync"), (65537, "pageable-copy")])
def test_a_small_read_back_is_a_wait_and_a_larger_one_a_copy(size: int, cause: str) -> None:
    text = f"""
        s7   kernel k             |.aaaa......bb|
        s7   d2h pageable {size}B |.....cc......|
        t1   cudaLaunchKernel     |a........b...|
        t1   cudaMemcpyAsync      |.cccccc......|
        """

    assert cause in told(text)


BLOCKING = """
s7   kernel k                 |..aaaa....|
t1   cudaLaunchKernel         |.aaaaaa...|
"""


@pytest.mark.parametrize(("repeat", "blocking"), [(20, True), (19, False)])
def test_twenty_launches_that_outlast_their_kernels_show_the_variable(
    repeat: int, blocking: bool
) -> None:
    assert ("launch-blocking" in told(BLOCKING, repeat=repeat)) is blocking


@pytest.mark.parametrize(("returning", "blocking"), [(2, True), (3, False)])
def test_nine_tenths_of_them_are_enough(returning: int, blocking: bool) -> None:
    """Of 20 launches."""
    early = "efg"[:returning]
    kernels = "".join(f"..{mark * 4}...." for mark in early)
    calls = "".join(f".{mark}........" for mark in early)
    letters = [chr(c) for c in range(ord("A"), ord("A") + 20 - returning)]
    kernels += "".join(f"..{mark * 4}...." for mark in letters)
    calls += "".join(f".{mark * 6}..." for mark in letters)

    found = told(f"s7 kernel k |{kernels}|\nt1 cudaLaunchKernel |{calls}|")

    assert ("launch-blocking" in found) is blocking


LATE = """
s7   kernel fwd               |.aaaaaaabbbb...cc|
t1   cudaLaunchKernel         |a.b...........c..|
t1   cudaEventQuery           |.......q.........|
"""


@pytest.mark.parametrize(
    ("end_us", "cause"), [(130.0, "launch-latency"), (130.001, "launch-bound")]
)
def test_late_by_the_distance_of_two_launches_is_late_once(end_us: float, cause: str) -> None:
    """The kernel before, launched well ahead, ends after 120 us."""
    late = told(LATE, host_us={"c": [end_us - 5, end_us]}, gpu_us={"c": [end_us, 170.0]})

    assert set(late) == {cause}


@pytest.mark.parametrize(("end_us", "late"), [(51.0, False), (51.001, True)])
def test_a_launch_within_the_error_of_the_clocks_was_in_time(end_us: float, late: bool) -> None:
    """The kernel before ends after 50 us; what follows is a start that took long."""
    found = told(
        """
        s7   kernel k             |.aaaa...bb|
        t1   cudaLaunchKernel     |a...b.....|
        """,
        host_us={"b": [40.0, end_us]},
    )

    assert ("launch-bound" in found) is late


@pytest.mark.parametrize(("start_us", "bound"), [(10.0, True), (10.001, False)])
def test_a_link_that_is_busy_nine_tenths_of_the_time_is_the_bound(
    start_us: float, bound: bool
) -> None:
    """Until 100 us of a window of 100."""
    found = told(
        """
        s7   kernel k             |aa......bb|
        s7   h2d pinned 64MiB     |.ccccccccc|
        t1   cudaLaunchKernel     |a.b.......|
        t1   cudaMemcpyAsync      |.c........|
        """,
        gpu_us={"c": [start_us, 100.0]},
    )

    assert ("copy-bound" in found) is bound


def test_another_device_of_the_process_changes_nothing_of_the_order_on_this_one() -> None:
    text = """
        gpu0 s7   kernel k        |.aaaa......bbb|
        gpu0 s7   h2d pinned 64MiB|.....cccccc...|
        gpu1 s9   kernel k        |.ddddddddddddd|
        t1   cudaLaunchKernel     |a.b...........|
        t1   cudaMemcpyAsync      |.c............|
        t2   cudaLaunchKernel     |d.............|
        """
    first = picture(text, column_us=10).measure().devices[0].ledger

    assert set(first.reason.tolist()) == {Reason.SAME_STREAM}


@pytest.mark.parametrize("waits", ["vw", "wv"])
def test_of_two_events_the_one_that_came_last_was_waited_for(waits: str) -> None:
    text = f"""
        s7   kernel k             |.aaaa.......bbb|
        s13  h2d pinned 64MiB     |.ccccccccccc...|
        s14  d2h pinned 64MiB     |.ddddddd.......|
        t1   cudaLaunchKernel     |a.......b......|
        t1   cudaMemcpyAsync      |.cd............|
        t1   cudaEventRecord      |...rq..........|
        t1   cudaStreamWaitEvent  |.....{waits}........|
        """
    found = told(
        text,
        records=[{"call": "r", "stream": 13}, {"call": "q", "stream": 14}],
        waits=[
            {"call": "w", "stream": 7, "record": "r"},
            {"call": "v", "stream": 7, "record": "q"},
        ],
        host_us={"c": [-2.0, -1.5], "d": [-1.0, -0.5]},
    )

    assert sum(found.values()) == 70.0
    assert "unexplained" not in found
    assert "launch-latency" not in found
