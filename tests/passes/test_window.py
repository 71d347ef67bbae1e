from __future__ import annotations

import numpy as np
import pytest

from overlapcheck.copies import Direction
from overlapcheck.errors import PolicyInvalid
from overlapcheck.kinds import CopyKind
from overlapcheck.measurements import WindowSource
from overlapcheck.passes.window.period import Period
from overlapcheck.passes.window.window import _holds_its_copies
from overlapcheck.thresholds import USUAL
from overlapcheck.trace_tables import Copies, Kernels
from tests.pictures import picture

STEPS = """
s7   kernel k         |....aaaa....bbbb....cccccc..xxxx|
s13  h2d pinned 4KiB  |..........dddd..............y...|
t1   cudaLaunchKernel |.a.......b.......c.......x......|
t1   nvtx step        |000000001111111122222222........|
"""


def test_steps_run_from_their_first_kernel_to_the_last_one_launched_before_the_last_closed() -> (
    None
):
    window = picture(STEPS).device().window

    assert (window.start_ns, window.end_ns) == (4_000, 26_000)
    assert (window.source, window.step_family) == (WindowSource.NVTX_STEPS, "step #")
    assert (window.steps, window.skipped) == (3, 0)


def test_skipped_steps_do_not_belong_to_the_window() -> None:
    window = picture(STEPS).device(skip=1).window

    assert (window.start_ns, window.end_ns) == (12_000, 26_000)
    assert (window.steps, window.skipped, window.why) == (2, 1, "--skip 1")
    assert (window.first_step, window.last_step) == (1, 2)


def test_an_operation_across_an_edge_is_clipped_and_not_dropped() -> None:
    device = picture(STEPS).device(skip=1)
    h2d = device.copies[Direction.H2D]

    assert (h2d.count, h2d.bytes, h2d.copy_ns, h2d.hidden_ns) == (1, 4096, 2_000, 2_000)


def test_a_kernel_across_the_end_is_clipped() -> None:
    device = picture("""
        s7 kernel k         |.aa.bb.cc....|
        s8 kernel k         |......xxxxxxx|
        t1 cudaLaunchKernel |a..b..c..x...|
        t1 nvtx step        |000111222....|
        """).device()

    assert device.window.end_ns == 9_000
    assert device.compute_ns == 2_000 + 2_000 + 3_000


@pytest.mark.parametrize("skip", [3, 9])
def test_skipping_every_step_is_refused_and_says_how_many_there_are(skip: int) -> None:
    with pytest.raises(PolicyInvalid, match=rf"--skip {skip} leaves no step.*has 3 steps of"):
        picture(STEPS).measure(skip=skip)


def test_the_last_step_may_stand_alone() -> None:
    window = picture(STEPS).device(skip=2).window

    assert (window.start_ns, window.end_ns, window.steps) == (20_000, 26_000, 1)


def test_a_process_with_fewer_steps_gets_no_window_of_its_own() -> None:
    drawing = picture("""
        p1 s7 kernel k         |.aa.bb.cc.dd|
        p1 t1 cudaLaunchKernel |a..b..c..d..|
        p1 t1 nvtx step        |000111222333|
        p2 s7 kernel k         |.ee.ff.gg...|
        p2 t1 cudaLaunchKernel |e..f..g.....|
        p2 t1 nvtx step        |000111222...|
        """)

    assert [device.window.steps for device in drawing.measure(skip=2).devices] == [2, 1]
    with pytest.raises(PolicyInvalid, match=r"--skip 3 leaves no step.*has 3 steps"):
        drawing.measure(skip=3)


IDLE_IN_ITS_LAST_STEPS = """
gpu0 s7 kernel k    |.aa.bb.cc.dd|
gpu1 s7 kernel k    |.ee.........|
t1 cudaLaunchKernel |a..b..c..d..|
t2 cudaLaunchKernel |e...........|
t1 nvtx step        |000111222333|
"""


def test_a_device_without_work_in_the_steps_kept_is_not_judged() -> None:
    one, two = picture(IDLE_IN_ITS_LAST_STEPS).measure(skip=1).devices

    assert one.window.source is WindowSource.NVTX_STEPS
    assert two.window.source is WindowSource.NOTHING
    assert two.window.why == "no kernel was launched in the last 3 of the 4 'step #' ranges"


def test_a_device_that_worked_before_all_steps_has_none() -> None:
    text = IDLE_IN_ITS_LAST_STEPS.replace("|000111222333|", "|...000111222|")
    one, two = picture(text).measure().devices

    assert one.window.source is WindowSource.NVTX_STEPS
    assert two.window.source is WindowSource.WHOLE_RUN


def test_steps_that_the_user_names_are_judged_or_nothing_is() -> None:
    text = IDLE_IN_ITS_LAST_STEPS.replace("|000111222333|", "|...000111222|")
    one, two = picture(text).measure(steps="step").devices

    assert one.window.source is WindowSource.NVTX_STEPS
    assert two.window.source is WindowSource.NOTHING
    assert two.window.why == "no kernel was launched in the 3 'step #' ranges"


@pytest.mark.parametrize("skip", [None, 0, 1])
def test_steps_that_hold_no_kernel_are_not_judged_by_what_follows_them(skip: int | None) -> None:
    device = picture("""
        s7 kernel k         |.......aa.bb|
        t1 cudaLaunchKernel |......a..b..|
        t1 nvtx shard       |001122......|
        """).device(steps="shard", skip=skip)

    assert device.window.source is WindowSource.NOTHING
    assert device.window.why == "no kernel was launched in the 3 'shard #' ranges"


TWO_PROCESSES = """
p1 s7 kernel k         |.aa.bb.cc|
p1 t1 cudaLaunchKernel |a..b..c..|
p2 t1 nvtx load batch  |000111222|
"""


def test_steps_of_a_process_that_computes_nothing_are_a_wrong_option() -> None:
    with pytest.raises(PolicyInvalid, match=r"--steps 'load': matches only ranges of python3"):
        picture(TWO_PROCESSES).measure(steps="load")


def test_steps_of_another_process_are_not_this_ones() -> None:
    text = (
        TWO_PROCESSES
        + """
        p2 s7 kernel k         |.dd.ee.ff|
        p2 t1 cudaLaunchKernel |d..e..f..|
        """
    )
    one, two = picture(text).measure(steps="load").devices

    assert one.window.source is WindowSource.NOTHING
    assert one.window.why == "--steps 'load' matches no ranges of this process"
    assert two.window.source is WindowSource.NVTX_STEPS


def test_without_steps_the_window_is_the_whole_run_with_its_copies() -> None:
    window = (
        picture("""
        s7 kernel k        |..aaa.........|
        s8 kernel k        |....bb........|
        s9 h2d pinned 4B   |.c............|
        s9 d2h pageable 4B |.........d....|
        s9 d2d 4B          |...........e..|
        s9 memset 4B       |f.............|
        s9 p2p 4B to gpu1  |............g.|
        """)
        .device()
        .window
    )

    assert (window.start_ns, window.end_ns) == (1_000, 10_000)
    assert window.source is WindowSource.WHOLE_RUN
    assert window.why.startswith("no NVTX steps, so set-up is in it; ")
    for word in ("NVTX", "--steps", "--skip"):
        assert word in window.why


def test_copies_of_another_device_do_not_widen_the_window() -> None:
    window = (
        picture("""
        gpu0 s7 kernel k      |..aa....|
        gpu1 s9 h2d pinned 4B |b......c|
        """)
        .device()
        .window
    )

    assert (window.start_ns, window.end_ns) == (2_000, 4_000)


def test_kernels_outside_the_steps_are_told_where_they_are_most() -> None:
    def why(outside: str) -> str:
        text = f"""
            s7 kernel set_up    |{outside}|
            s7 kernel k         |...........aabbcc|
            t1 cudaLaunchKernel |..........a..b.c.|
            t1 nvtx step        |..........0001122|
            """
        return picture(text).device().window.why

    assert why("uuuuuu...........") == "--skip 0"
    assert why("uuuuuuu..........") == "--skip 0; 53.8 % of the kernel time lies outside"


def test_without_steps_skip_has_nothing_to_skip() -> None:
    text = "s7 kernel k |.aa.bb.cc|"

    assert picture(text).device(skip=2).window == picture(text).device(skip=0).window


def test_without_steps_and_repetition_the_window_says_that_neither_was_found() -> None:
    window = (
        picture("""
        s7 kernel k         |.aa.........|
        s7 kernel l         |.....bb.....|
        s7 kernel m         |.........cc.|
        t1 cudaLaunchKernel |a...b...c...|
        """)
        .device(skip=None)
        .window
    )

    assert window.source is WindowSource.WHOLE_RUN
    assert window.why.startswith(
        "no NVTX steps and no steadily repeating kernels, so set-up is in it; "
    )


def test_repeating_kernels_are_steps_and_warm_up_and_teardown_fall_out() -> None:
    device = picture("""
        s7 kernel init      |.ii...............................|
        s7 kernel fwd       |.......aa...bb...cc...dd...ee.....|
        s7 kernel bwd       |.........AA...BB...CC...DD...EE...|
        s7 kernel save      |................................zz|
        t1 cudaLaunchKernel |i.....aA...bB...cC...dD...eE....z.|
        """).device(skip=None)

    assert device.window.source is WindowSource.KERNEL_PERIOD
    assert device.window.why == "2 kernels repeat, 1 skipped as warm-up"
    assert (device.window.start_ns, device.window.end_ns) == (12_000, 31_000)
    assert device.window.steps == 4


@pytest.mark.parametrize(
    ("long", "source"), [(11, WindowSource.KERNEL_PERIOD), (13, WindowSource.WHOLE_RUN)]
)
def test_kernels_repeat_only_where_they_hold_half_of_the_time(
    long: int, source: WindowSource
) -> None:
    """Six kernels of 2 us, and one of 11 or 13."""
    device = picture(
        """
        s7 kernel fwd       |.aa...bb...cc...dd...ee...ff..........|
        s7 kernel solve     |..............................z.......|
        t1 cudaLaunchKernel |a....b....c....d....e....f...z........|
        """,
        gpu_us={"z": [30, 30 + long]},
    ).device(skip=None)

    assert device.window.source is source


def test_a_warm_up_that_holds_most_of_the_time_is_told_of_repeating_kernels_too() -> None:
    """The first of six takes 20 us, the others 2 each."""
    window = (
        picture(
            """
        s7 kernel fwd       |.aa...bb...cc...dd...ee...ff..........|
        t1 cudaLaunchKernel |a....b....c....d....e....f............|
        """,
            gpu_us={"a": [-19, 1]},
        )
        .device(skip=None)
        .window
    )

    assert window.source is WindowSource.KERNEL_PERIOD
    assert window.why.endswith("; 66.7 % of the kernel time lies outside")


@pytest.mark.parametrize(
    ("inside", "source"), [(3, WindowSource.KERNEL_PERIOD), (1, WindowSource.WHOLE_RUN)]
)
def test_a_few_equal_kernels_between_the_copies_of_a_program_are_no_steps(
    inside: int, source: WindowSource
) -> None:
    device = picture(
        """
        s7 kernel k         |...aa..bb..cc..dd...|
        s9 h2d pinned 4KiB  |.x..................|
        s9 d2h pinned 4KiB  |..........y.........|
        t1 cudaLaunchKernel |..a...b...c...d.....|
        """,
        gpu_us={"x": [0, 2], "y": [10, 10 + inside]},
    ).device(skip=None)

    assert device.window.source is source


@pytest.mark.parametrize(("first", "held"), [(0, True), (1, False), (60, False)])
def test_few_kernels_are_few_wherever_among_all_they_run(first: int, held: bool) -> None:
    """Of 64, the last ones; the only copy is done before all of them."""
    start = np.arange(64) * 10
    kernels = Kernels.filled(64, start_ns=start, end_ns=start + 5)
    copy = Copies.filled(1, start_ns=-900, end_ns=0, kind=CopyKind.HOST_TO_DEVICE)

    assert _holds_its_copies(Period(first, 1, 64 - first), kernels, copy, USUAL) is held


def test_one_kernel_that_repeats_is_told_as_one() -> None:
    text = """
        s7 kernel k         |.aa..bb..cc..dd..ee.|
        t1 cudaLaunchKernel |a...b...c...d...e...|
        """

    assert picture(text).device(skip=None).window.why == "1 kernel repeats, 1 skipped as warm-up"


def test_many_equal_kernels_are_steps_whatever_is_copied_before_them() -> None:
    text = """
        s7 kernel k         |.a|
        t1 cudaLaunchKernel |a.|
        """
    loaded = """
        s9 h2d pinned 4KiB  |x.|
        """
    for repeat, source in ((63, WindowSource.WHOLE_RUN), (64, WindowSource.KERNEL_PERIOD)):
        device = picture(text + loaded, repeat=repeat, gpu_us={"x": [-900, 0]}).device(skip=None)
        assert device.window.source is source


def test_a_given_window_overrides_the_steps() -> None:
    device = picture(STEPS).device(window_ns=(5_000, 14_000))

    assert (device.window.start_ns, device.window.end_ns) == (5_000, 14_000)
    assert device.window.source is WindowSource.OPTION
    assert device.window.step_family == "step #"
    assert device.compute_ns == 3_000 + 2_000
    assert device.idle_ns == 4_000


def test_kernels_of_all_kinds_open_and_close_the_window() -> None:
    """Collectives and graph blocks are kernels here too."""
    window = (
        picture("""
        s7 graph             |.....a....|
        s7 kernel ncclKernel |..b.....c.|
        """)
        .device()
        .window
    )

    assert (window.start_ns, window.end_ns) == (2_000, 9_000)


@pytest.mark.parametrize("skip", [0, 1])
def test_each_device_has_the_window_of_its_own_kernels(skip: int) -> None:
    one, two = (
        picture("""
        gpu0 s7 kernel k    |..aa....bb....cc....|
        gpu1 s7 kernel k    |....dd....ee....ff..|
        t1 cudaLaunchKernel |a.....b.....c.......|
        t2 cudaLaunchKernel |d.....e.....f.......|
        t1 nvtx step        |00000011111122222222|
        """)
        .measure(skip=skip)
        .devices
    )

    assert one.window.start_ns == (2_000, 8_000)[skip]
    assert two.window.start_ns == (4_000, 10_000)[skip]
    assert (one.window.end_ns, two.window.end_ns) == (16_000, 18_000)
