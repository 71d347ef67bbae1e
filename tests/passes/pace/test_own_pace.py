"""The own pace by hand: what a control shows, what the device needs, and where nothing is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlapcheck.measurements import WindowSource
from overlapcheck.pace import Control, Pace, PaceSource
from overlapcheck.passes.pace.control import control_of
from overlapcheck.passes.pace.own_pace import own_paces, paced_devices
from tests.paces import AHEAD, MS, RECORDED_NS, STEPS, control, program
from tests.pictures import Picture, picture


def controls(*drawn: Picture) -> list[Control]:
    return [control_of(f"{number}.sqlite", one.trace()) for number, one in enumerate(drawn)]


def pace(drawing: Picture, *drawn: Picture, step_time_ns: float | None = None) -> Pace:
    (found,) = own_paces(drawing.measure(skip=1), controls(*drawn), step_time_ns)
    assert found is not None
    return found


def test_nobody_asked() -> None:
    assert own_paces(program().measure(), []) == (None,)


def test_a_control_tells_the_pace_of_the_host() -> None:
    found = pace(program(), control(6))

    assert found == Pace(RECORDED_NS, 6 * MS, 6 * MS, 6 * MS, PaceSource.CONTROL, 1)
    assert found.told == (
        "recorded 9.3 ms per step, own pace 6.0 ms (1 control run): 3.3 ms are the recording's"
    )


def test_several_controls_tell_how_far_it_spreads() -> None:
    found = pace(program(), control(6), control(7), control(6.5))

    assert (found.own_ns, found.low_ns, found.high_ns) == (6.5 * MS, 6 * MS, 7 * MS)
    assert "(3 control runs, 6.0 to 7.0 ms)" in found.told


def test_a_device_needs_its_time_however_early_the_host_is() -> None:
    # 35 ms of kernels in seven steps.
    assert pace(program(), control(1)).own_ns == 5 * MS


def test_a_slower_control_changes_nothing() -> None:
    assert pace(program(), control(20)).own_ns == RECORDED_NS


def test_a_host_that_is_ahead_leaves_the_recorded_pace() -> None:
    found = pace(program(AHEAD), control(2))

    assert found.own_ns is not None and found.recorded_ns is not None
    assert found.own_ns >= 0.98 * found.recorded_ns


def test_what_delays_every_fourth_step_is_the_programs() -> None:
    # 5, 5, 5 and 13 ms: the median is 5 ms, and the program takes 7 ms.
    rows = "t1 nvtx step |" + "0" * 5 + "1" * 5 + "2" * 5 + "3" * 13 + "|"

    found = pace(program(), picture(rows, column_us=1000, repeat=4))

    assert found.own_ns is not None
    assert found.own_ns == pytest.approx(7 * MS, rel=0.06)


def uneven(*away_ms: int) -> Picture:
    """Steps of a kernel of 5 ms each, after which the host is away; nothing follows the last."""
    kernels = launches = marks = ""
    for number, away in enumerate(away_ms):
        letter = chr(ord("a") + number)
        kernels += letter * 5 + "." * away
        launches += letter.ljust(5 + away, ".")
        marks += "01"[number % 2] * (5 + away)
    return picture(
        f"s7 kernel k |{kernels}|\nt1 cudaLaunchKernel |{launches}|\nt1 nvtx step |{marks}|",
        column_us=1000,
    )


def test_a_late_host_in_one_step_says_nothing_of_the_others() -> None:
    found = pace(uneven(*[0] * 6, 3, *[0] * 6), step_time_ns=1.0 * MS)

    assert found.recorded_ns == round((12 * 5 + 3) * MS / 12)
    assert found.own_ns == found.recorded_ns


def test_where_the_host_is_late_in_all_steps_the_longest_wait_counts_whole() -> None:
    found = pace(uneven(*[5] * 9, 30, *[5] * 3), step_time_ns=1.0 * MS)

    assert found.own_ns == 5 * MS


def test_a_user_may_know_the_step_time() -> None:
    found = pace(program(), step_time_ns=6.2 * MS)

    assert (found.own_ns, found.source, found.controls) == (6.2 * MS, PaceSource.OPTION, 0)


def test_what_is_measured_is_believed_before_what_is_said() -> None:
    found = pace(program(), control(6), step_time_ns=8.0 * MS)

    assert (found.own_ns, found.source) == (6 * MS, PaceSource.CONTROL)


def test_steps_of_kernel_names_may_be_several_of_the_programs() -> None:
    unmarked = program("s7 kernel k |aaaaa.....|\nt1 cudaLaunchKernel |a.........|", steps=80)

    (known,) = own_paces(unmarked.measure(skip=None), [], 6.0 * MS)
    (guessed,) = own_paces(unmarked.measure(skip=None), [], 2.0 * MS)

    assert known and known.own_ns == 6 * MS
    assert guessed
    assert guessed.own_ns is None
    assert "may be several of 2.0 ms" in guessed.why


def test_a_guess_of_half_a_step_of_kernel_names_is_believed() -> None:
    unmarked = program("s7 kernel k |aaaaa.....|\nt1 cudaLaunchKernel |a.........|", steps=80)
    measured = unmarked.measure(skip=None)
    (one,) = paced_devices(measured)
    half = one.recorded_ns / 2

    for said, believed in ((half, True), (half - 1, False)):
        (found,) = own_paces(measured, [], said)
        assert found
        assert (found.own_ns is not None) is believed


def test_of_marked_steps_any_time_is_believed() -> None:
    assert pace(program(), step_time_ns=1.0 * MS).own_ns == 5 * MS


# Steps of 10.3 ms: 3.5 ms are the restart after a synchronisation, and no idle time is lateness
# alone.
RESTARTS = f"""
s7 kernel k              |{"a" * 40}{"." * 40}{"b" * 23}|
t1 cudaLaunchKernel      |a{"." * 79}b{"." * 22}|
t1 cudaStreamSynchronize |.{"w" * 44}{"." * 58}|
t1 nvtx step             |{"0" * 103}|
"""


@pytest.mark.parametrize(
    ("host_ns", "own_ns"),
    [(10_000_000, 10_300_000), (9_999_999, 9_999_999), (7_000_000, 7_000_000), (1, 6_800_000)],
    ids=["3 % shorter", "more", "much more", "as short as the device allows"],
)
def test_a_host_more_than_three_percent_faster_tells_of_restarts_that_they_are_late(
    host_ns: int, own_ns: int
) -> None:
    drawn = picture(RESTARTS, column_us=100, repeat=STEPS)
    found = pace(drawn, step_time_ns=float(host_ns))

    assert (found.recorded_ns, found.own_ns) == (10_300_000, own_ns)


@pytest.mark.parametrize(
    ("drawn", "why"),
    [
        (program(), "CUDA was recorded in it too, so it is no control"),
        (picture("t1 os poll |xxxx|"), "it holds no NVTX ranges"),
        (control(6, name="phase"), "it holds no 'step #' ranges"),
        (control(6, steps=STEPS * 4), f"it holds 32 steps, the recording {STEPS}"),
        (control(6, steps=3), "2 steps of it are left after the warm-up"),
        (
            picture("t1 nvtx step |001122334455|\nt2 nvtx step |001122334455|"),
            "2 threads have 'step #' ranges at once",
        ),
        (
            picture("p1 t1 nvtx step |0011223344|\np2 t1 nvtx step |0011223344|"),
            "2 processes have 'step #' ranges, 1 of the recording",
        ),
    ],
)  # fmt: skip
def test_what_is_no_control_of_this_recording_says_why(drawn: Picture, why: str) -> None:
    found = pace(program(), drawn)

    assert (found.recorded_ns, found.own_ns, found.source) == (RECORDED_NS, None, None)
    assert found.why == f"0.sqlite: {why}"
    assert found.told == f"own pace not known: {found.why}"


def test_one_that_is_of_no_use_does_not_spoil_the_others() -> None:
    found = pace(program(), program(), control(6))

    assert (found.own_ns, found.controls) == (6 * MS, 1)
    assert found.told.endswith("; of no use: 0.sqlite: CUDA was recorded in it too, so it is no"
                               " control")  # fmt: skip


@pytest.mark.parametrize(
    ("recorded", "held", "own_ns"), [(8, 24, 6 * MS), (8, 25, None), (12, 4, 6 * MS), (13, 4, None)]
)
def test_up_to_three_times_as_many_steps_or_as_few_are_the_same_program(
    recorded: int, held: int, own_ns: int | None
) -> None:
    found = pace(program(steps=recorded), control(6, steps=held))

    assert found.own_ns == own_ns
    why = "" if own_ns else f"0.sqlite: it holds {held} steps, the recording {recorded}"
    assert found.why == why


def test_without_steps_there_is_no_pace() -> None:
    found = pace(picture("s7 kernel k |.aa..b|\nt1 cudaLaunchKernel |a...b.|"), control(6))

    assert (found.recorded_ns, found.own_ns) == (None, None)
    assert "no steps" in found.why


def test_processes_have_controls_of_their_own() -> None:
    both = "".join(
        f"p{n} gpu{n} s7 kernel k |{mark * 5}.....|\np{n} t1 cudaLaunchKernel |{mark}.........|\n"
        f"p{n} t1 nvtx step |0000000000|\n"
        for n, mark in ((1, "a"), (2, "b"))
    )
    rows = f"p1 t1 nvtx step |{'0' * 6}{'1' * 6}{'2' * 6}{'3' * 6}|\n"
    rows += f"p2 t1 nvtx step |{'0' * 5}{'1' * 5}{'2' * 5}{'3' * 5}....|\n"
    measured = picture(both, column_us=1000, repeat=6).measure(skip=1)

    found = own_paces(measured, controls(picture(rows, column_us=1000)))

    assert [one.own_ns for one in found if one] == [6 * MS, 5 * MS]


LATE_PEER = """
p1 gpu0 s7  kernel fwd                   |.aaa............|
p1 gpu0 s20 kernel ncclDevKernel_AllReduce |....bbbbbbbbbb..|
p1 gpu0 s7  kernel opt                   |..............c.|
p1 t1   cudaLaunchKernel                 |a.............c.|
p1 t1   cuLaunchKernelEx                 |.b..............|
p1 t1   nvtx step                        |0000000000000000|
p2 gpu1 s7  kernel fwd                   |.........ddd....|
p2 gpu1 s20 kernel ncclDevKernel_AllReduce |............ee..|
p2 gpu1 s7  kernel opt                   |..............f.|
p2 t1   cudaLaunchKernel                 |........d.....f.|
p2 t1   cuLaunchKernelEx                 |.........e......|
p2 t1   nvtx step                        |0000000000000000|
"""


def test_devices_that_meet_go_at_one_pace_and_do_not_wait_for_one_another_without_cause() -> None:
    measured = picture(LATE_PEER, column_us=1000, repeat=8).measure(skip=1)
    assert measured.meetings

    alone = control(9)
    pair = picture(
        f"p1 t1 nvtx step |{'0' * 9}|\np2 t1 nvtx step |{'0' * 9}|", column_us=1000, repeat=8
    )
    one_for_both = own_paces(measured, controls(alone))
    own = own_paces(measured, controls(pair))

    # Device 0 waits 8 ms of each step for device 1, whose host is late: no fault of its own.
    assert [found.own_ns for found in own if found] == [9 * MS, 9 * MS]
    assert one_for_both == own


def ranks_of(first_ms: int, second_ms: int) -> Picture:
    """A control of two processes."""
    rows = ["".join(str(step) * ms for step in range(8)) for ms in (first_ms, second_ms)]
    width = max(map(len, rows))
    return picture(
        "\n".join(f"p{n} t1 nvtx step |{row.ljust(width, '.')}|" for n, row in enumerate(rows, 1)),
        column_us=1000,
    )


def test_ranks_that_meet_go_as_fast_as_the_slowest_host() -> None:
    measured = picture(LATE_PEER, column_us=1000, repeat=8).measure(skip=1)

    for control_ in (ranks_of(9, 11), ranks_of(11, 9)):
        found = own_paces(measured, controls(control_))
        assert [one.own_ns for one in found if one] == [11 * MS, 11 * MS]


def test_the_host_of_a_device_that_is_not_judged_by_steps_sets_no_pace() -> None:
    measured = picture(LATE_PEER, column_us=1000, repeat=8).measure(skip=1)
    first, second = measured.devices
    window = replace(second.window, source=WindowSource.WHOLE_RUN, steps=None)
    measured = replace(measured, devices=(first, replace(second, window=window)))

    found = own_paces(measured, controls(ranks_of(9, 11)))

    assert [one.own_ns for one in found if one] == [9 * MS, None]


def test_a_device_without_steps_keeps_no_other_from_its_pace() -> None:
    measured = picture(LATE_PEER, column_us=1000, repeat=8).measure(skip=1)
    first, second = measured.devices
    window = replace(first.window, source=WindowSource.WHOLE_RUN, steps=None)
    measured = replace(measured, devices=(replace(first, window=window), second))

    found = own_paces(measured, controls(ranks_of(9, 11)))

    assert [one.own_ns for one in found if one] == [None, 11 * MS]


def test_devices_of_one_process_go_as_fast_as_the_slowest() -> None:
    both = program(
        """
        gpu0 s7  kernel k          |aaaaa.....|
        gpu1 s8  kernel k          |bbbbbbbb..|
        t1       cudaLaunchKernel  |a.........|
        t2       cudaLaunchKernel  |b.........|
        t1       nvtx step         |0000000000|
        """
    ).measure(skip=1)

    assert [one.own_ns for one in own_paces(both, [], 1.0 * MS) if one] == [8 * MS, 8 * MS]


def test_steps_of_two_threads_have_no_cadence_of_their_own() -> None:
    found = pace(
        program(
            """
            s7  kernel k          |aaaaa.....|
            t1  cudaLaunchKernel  |a.........|
            t1  nvtx step         |0000011111|
            t2  nvtx step         |0000000000|
            """
        ),
        control(6),
    )

    assert found.own_ns is None
    assert found.why == "2 threads of the recording have 'step #' ranges"
