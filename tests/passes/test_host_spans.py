"""What holds a thread and is no single call: each term, just within its limit and just beyond."""

from __future__ import annotations

from typing import Any

import pytest

from overlapcheck.ledger import Reason
from tests.pictures import picture


def told(text: str, column_us: float = 10, **options: Any) -> dict[str, float]:
    """Idle microseconds by cause, of all devices."""
    found: dict[str, float] = {}
    for device in picture(text, column_us=column_us, **options).measure().devices:
        ledger = device.ledger
        for reason, ns in zip(ledger.reason, ledger.end_ns - ledger.start_ns, strict=True):
            cause = Reason(int(reason)).cause
            found[cause] = found.get(cause, 0) + int(ns) / 1000
    return found


def polling(queries: str, other: str = "", **options: Any) -> bool:
    """Whether a thread that asks so, between launches at 0 and 180 us, is found to wait."""
    width = len(queries)
    text = f"""
    s7   kernel k          |{".aaaa".ljust(width - 2, ".")}bb|
    t1   cudaLaunchKernel  |{"a".ljust(width - 3, ".")}b..|
    t1   cudaEventQuery    |{queries}|
    {other}
    """
    return "host-sync" in told(text, **options)


def test_four_questions_are_a_wait_and_three_are_not() -> None:
    assert polling(".q.r.s.t.............")
    assert not polling(".q.r.s...............")


def test_three_questions_are_none_however_much_was_called_before() -> None:
    width = 21
    launches = "cdef".ljust(width, ".")
    before = f"s7 kernel early |{launches}|\nt1 cuLaunchKernel |{launches}|"

    assert not polling("......q.r.s..........", before, column_us=10)


@pytest.mark.parametrize(("until_us", "waits"), [(60.0, True), (59.999, False)])
def test_questions_are_a_wait_from_fifty_microseconds_on(until_us: float, waits: bool) -> None:
    """The first is asked at 10 us."""
    exact = {"q": [10.0, 12.0], "r": [20.0, 22.0], "s": [30.0, 32.0], "t": [40.0, until_us]}

    assert polling(".qrst................", host_us=exact) is waits


@pytest.mark.parametrize(("asked_us", "waits"), [(1400.0, True), (1400.001, False)])
def test_who_asks_only_after_a_millisecond_does_not_wait(asked_us: float, waits: bool) -> None:
    """The question before is answered at 400 us."""
    queries = ".qrs..........t......"

    assert polling(queries, column_us=100, host_us={"t": [asked_us, 1500.0]}) is waits


def test_what_is_handed_over_between_questions_ends_the_wait() -> None:
    between = """
    s7   kernel k          |.....c...............|
    t1   cuLaunchKernel    |....c................|
    """
    assert polling(".q.r.s.t.............")
    assert not polling(".q.r.s.t.............", between)


@pytest.mark.parametrize(("until_us", "waits"), [(89.999, True), (90.0, False)])
def test_a_short_call_between_questions_does_not_end_the_wait(until_us: float, waits: bool) -> None:
    """It begins at 40 us."""
    between = "t1 cudaGetDevice |....x................|"

    assert (
        polling(
            ".q.r.....s.t.........",
            between,
            host_us={"x": [40.0, until_us]},
        )
        is waits
    )


def test_two_threads_that_ask_twice_each_do_not_wait() -> None:
    text = """
    s7   kernel k          |.aaaa.............bb.|
    s9   kernel l          |.cccc.............dd.|
    t1   cudaLaunchKernel  |a................b...|
    t2   cudaLaunchKernel  |c................d...|
    t1   cudaEventQuery    |....q.r..............|
    t2   cudaEventQuery    |.......s.t...........|
    """
    assert "host-sync" not in told(text)
    assert "host-sync" in told(text.replace("|....q.r.....", "|....q.r.u.v."))


def test_who_launches_nothing_may_ask_forever() -> None:
    other = "t2 cudaEventQuery |.....m.n.o.p.........|"

    assert not polling(".....................", other)


def waiting_for_ranks(calls: str, other: str = "", name: str = "MPI_Test", **options: Any) -> float:
    """Microseconds of waiting for ranks of a thread that calls MPI so."""
    width = len(calls)
    text = f"""
    s7   kernel k          |{".aaaa".ljust(width - 2, ".")}bb|
    t1   cudaLaunchKernel  |{"a".ljust(width - 3, ".")}b..|
    t1   mpi {name}        |{calls}|
    {other}
    """
    return told(text, **options).get("mpi-wait", 0)


def test_four_tests_are_a_wait_for_ranks_and_three_are_not() -> None:
    """From the first at 60 us to the end of the last."""
    assert waiting_for_ranks("......m.n.o.p........") == 70
    assert waiting_for_ranks("......m.n.o..........") == 0
    assert waiting_for_ranks("......m.n.o..........", name="MPI_Wait") == 30


def test_tests_after_others_are_counted_from_their_first() -> None:
    """Five, a launch, then three."""
    other = """
    s7   kernel k          |.................c.............|
    t1   cuLaunchKernel    |...............c...............|
    """
    assert waiting_for_ranks("......m.n.o.p.q....r.s.t.......", other) == 90


@pytest.mark.parametrize(("column_us", "waits"), [(1.0, True), (0.999, False)])
def test_tests_are_a_wait_from_fifty_microseconds_on(column_us: float, waits: bool) -> None:
    """Fifty columns from the first to the end of the last."""
    calls = f"......m{15 * '.'}n{15 * '.'}o{16 * '.'}p{14 * '.'}"

    assert (waiting_for_ranks(calls, column_us=column_us) > 0) is waits


@pytest.mark.parametrize(("column_us", "waits"), [(100.0, True), (100.1, False)])
def test_who_tests_only_after_a_millisecond_does_not_wait(column_us: float, waits: bool) -> None:
    """Ten columns lie between the third and the fourth."""
    assert (waiting_for_ranks("......mno..........p......", column_us=column_us) > 0) is waits


def test_tests_of_a_thread_that_launches_nothing_are_not_the_hosts() -> None:
    other = "t2 mpi MPI_Test |......m.n.o.p........|"

    assert waiting_for_ranks(".....................", other) == 0
    both = "t2 cudaEventQuery |......c..............|\nt2 mpi MPI_Test |.....m..n............|"
    assert waiting_for_ranks("......m.n............", both) == 0


CAPTURES = """
s7   kernel k                |.aaaa...............bb|
t1   cudaLaunchKernel        |a..................b..|
t1   cudaStreamBeginCapture  |......x.....u.........|
t1   cudaStreamEndCapture    |.........y.....v......|
"""


def test_each_capture_lasts_to_its_own_end() -> None:
    """From 60 to 100 and from 120 to 160 us."""
    assert told(CAPTURES)["graph-launch"] == 80
    first = CAPTURES.replace("x.....u", "x......").replace("y.....v", "y......")
    assert told(first)["graph-launch"] == 40


def test_a_capture_that_another_thread_ends_is_none() -> None:
    apart = CAPTURES.replace("t1   cudaStreamEnd", "t2   cudaStreamEnd")

    assert "graph-launch" not in told(apart)


def test_a_beginning_that_is_not_recorded_begins_no_capture() -> None:
    late = CAPTURES.replace("......x.....u", "............u")

    assert told(late)["graph-launch"] == 40


SLEEP = """
s7   kernel k                |.aaaaaaaaaa.........bb|
t1   cudaLaunchKernel        |a..................b..|
t1   os pthread_cond_wait    |..xxxxxxxxxx..........|
t2   cudaDeviceSynchronize   |..yyyyyyyyy...........|
"""


def test_sleep_until_another_thread_is_back_from_its_wait_is_that_wait() -> None:
    """The device runs dry at 110 us, and the thread launches again at 190."""
    assert told(SLEEP)["host-sync"] > 0
    assert "host-sync" not in told(SLEEP.replace("t1   os", "t2   os"))
    other = SLEEP.replace("cudaDeviceSynchronize", "cudaHostRegister     ")
    assert "host-sync" not in told(other)


def blocked(text: str, **options: Any) -> bool:
    return "launch-blocking" in told(text, **options)


WAITED = """
s7   kernel k          |..aaaaaa|
t1   cudaLaunchKernel  |.aaaaaaa|
"""


@pytest.mark.parametrize(("launches", "found"), [(20, True), (19, False)])
def test_twenty_launches_that_outlast_their_kernels_tell(launches: int, found: bool) -> None:
    assert blocked(WAITED, repeat=launches) is found


def ten(waited: int) -> str:
    """Ten launches, so many of which return when their kernel has ended."""
    marks = "abcdefghij"
    kernels = "".join(f"..{mark * 4}.." for mark in marks)
    calls = "".join(
        f".{mark * 5}.." if i < waited else f".{mark}......" for i, mark in enumerate(marks)
    )
    return f"s7 kernel k |{kernels}|\nt1 cudaLaunchKernel |{calls}|"


@pytest.mark.parametrize(("waited", "found"), [(9, True), (8, False)])
def test_nine_in_ten_launches_tell(waited: int, found: bool) -> None:
    assert blocked(ten(waited), repeat=2) is found


@pytest.mark.parametrize(("waited", "found"), [(5, True), (4, False)])
def test_with_the_variable_half_of_them_are_enough(waited: int, found: bool) -> None:
    assert blocked(ten(waited), environment={"CUDA_LAUNCH_BLOCKING": "1"}) is found


def test_copies_say_nothing_of_launches() -> None:
    copies = """
    s9   h2d pinned 1MiB   |..ccccc.|
    t2   cudaMemcpyAsync   |.c......|
    """
    assert blocked(WAITED + copies, repeat=20)


@pytest.mark.parametrize(("column_us", "found"), [(5.0, True), (4.999, False)])
def test_a_kernel_shorter_than_a_hand_over_does_not_tell(column_us: float, found: bool) -> None:
    """Four columns long."""
    assert blocked(ten(10), repeat=2, column_us=column_us) is found


MUTEX = """
s7   kernel k                |.aaaaaa........bbbbbb|
t1   cudaLaunchKernel        |a...bbbbbbbbbbb......|
t1   os pthread_mutex_lock   |....xxxxxxxxxxx......|
t2   cudaGetDevice           |q....................|
"""


def test_a_lock_that_another_thread_waits_for_holds_no_call_of_this_one() -> None:
    assert "driver-lock" in told(MUTEX)
    assert "driver-lock" not in told(MUTEX.replace("t1   os", "t2   os"))
    assert "driver-lock" not in told(MUTEX.replace("pthread_mutex_lock", "poll              "))


COMPILED = """
s7   kernel k                |.aaaa............................bb|
t1   cudaLaunchKernel        |a...............................b..|
t1   cuModuleGetFunction     |........................xxxxx......|
"""


@pytest.mark.parametrize(("until_us", "loads"), [(290.0, True), (289.999, False)])
def test_a_long_question_for_code_loads_it_and_what_came_before_compiled_it(
    until_us: float, loads: bool
) -> None:
    """From 240 us on; the thread was away from 10 us on, the device idle from 50."""
    found = told(COMPILED, host_us={"x": [240.0, until_us]})

    assert (found.get("module-load", 0) >= 190) is loads


def test_code_that_is_loaded_by_name_was_compiled_before_however_short_it_took() -> None:
    named = COMPILED.replace("cuModuleGetFunction", "cuModuleLoadData   ")

    assert told(named, host_us={"x": [240.0, 243.0]})["module-load"] >= 190
    other = named.replace("t1   cuModuleLoad", "t2   cuModuleLoad")
    assert told(other, host_us={"x": [240.0, 243.0]}).get("module-load", 0) == 0


READ_BACK = """
s7   kernel k                |.aaaa.........bb|
s7   d2h pinned 4B           |.......ccc......|
t1   cudaLaunchKernel        |a............b..|
t1   cudaMemcpyAsync         |......cccc......|
"""


def test_a_read_back_that_returns_when_it_is_done_is_a_wait_whatever_its_name() -> None:
    found = told(READ_BACK)

    assert "host-sync" in found
    assert "sync-copy" not in found
    assert "sync-copy" in told(READ_BACK.replace("4B  ", "1MiB"))


@pytest.mark.parametrize(("since_us", "waits"), [(80.0, True), (80.001, False)])
def test_a_call_that_its_copy_does_not_half_fill_only_hands_it_over(
    since_us: float, waits: bool
) -> None:
    """The call takes 40 us, no longer than a slow hand-over, and both end at 100."""
    upload = READ_BACK.replace("d2h pinned 4B  ", "h2d pinned 1MiB")
    found = told(upload, gpu_us={"c": [since_us, 100.0]})

    assert ("sync-copy" in found) is waits


@pytest.mark.parametrize(("called_us", "waits"), [(80.0, True), (80.001, False)])
def test_a_call_shorter_than_nearly_all_hand_overs_waits_for_nothing(
    called_us: float, waits: bool
) -> None:
    """Twenty microseconds, which the copy fills."""
    upload = READ_BACK.replace("d2h pinned 4B  ", "h2d pinned 1MiB")
    found = told(upload, gpu_us={"c": [81.0, 100.0]}, host_us={"c": [called_us, 100.0]})

    assert ("sync-copy" in found) is waits


def test_the_only_call_of_a_program_is_named() -> None:
    text = """
    s7   kernel k                |.aaaa.........bb|
    s7   h2d pageable 1MiB       |.......ccc......|
    t1   cudaMemcpyAsync         |......cccc......|
    """
    measured = picture(text, column_us=10).measure()
    (device,) = measured.devices
    names = {measured.names.strings.text(i) for i in device.ledger.call_name_id.tolist() if i >= 0}

    assert names == {"cudaMemcpyAsync"}
    assert 40_000 in device.ledger.call_ns.tolist()
