from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from overlapcheck.capture_problem import CaptureFault, CaptureProblem
from overlapcheck.columns import ABSENT
from overlapcheck.passes.measure import measure
from overlapcheck.recorder import UNKNOWN_RECORDER
from overlapcheck.selection import Selection
from tests.export import RealExport, edit
from tests.pictures import Picture, measure_file, picture


def problems(drawing: Picture) -> list[CaptureProblem]:
    return list(drawing.measure().problems)


def faults(drawing: Picture) -> list[CaptureFault]:
    return [problem.fault for problem in problems(drawing)]


def test_a_recording_in_which_every_launch_has_its_row_is_complete() -> None:
    assert not problems(
        picture("""
        s7  kernel k         |.aa.bb.......|
        s13 h2d pinned 1B    |......cc.....|
        s13 memset 1B        |.........d...|
        t1  cudaLaunchKernel |a..b.........|
        t1  cudaMemcpyAsync  |.....c.......|
        t1  cudaMemsetAsync  |........d....|
        """)
    )


def test_a_launch_without_a_row_before_one_with_a_row_is_a_loss() -> None:
    (problem,) = problems(
        picture("""
        s7 kernel k         |.aa....cc|
        t1 cudaLaunchKernel |a..b..c..|
        """)
    )

    assert problem.fault is CaptureFault.LAUNCHES_WITHOUT_ROWS
    assert problem.process == 0
    assert problem.what == "1 of 3 kernel launches left no row on the device"
    assert problem.settle_with


def test_launches_that_the_end_of_the_capture_cut_off_are_no_loss() -> None:
    assert not problems(
        picture("""
        s7 kernel k         |...aa.bbbbbb|
        t1 cudaLaunchKernel |abcd........|
        """)
    )


def test_the_last_two_launches_of_a_thread_may_be_on_their_way_when_recording_stops() -> None:
    assert not problems(
        picture("""
        s7 kernel k         |.aa.......|
        t1 cudaLaunchKernel |a...b..c..|
        """)
    )


def test_more_launches_after_the_last_row_of_all_are_a_loss() -> None:
    (problem,) = problems(
        picture("""
        s7 kernel k         |.aa.........|
        t1 cudaLaunchKernel |a...b..c..d.|
        """)
    )

    assert problem.fault is CaptureFault.LAUNCHES_WITHOUT_ROWS
    assert problem.what == "3 of 4 kernel launches left no row on the device"


def test_launches_on_their_way_excuse_no_loss_before_them() -> None:
    (problem,) = problems(
        picture("""
        s7 kernel k         |.aa....cc...|
        t1 cudaLaunchKernel |a..b..c...d.|
        """)
    )

    assert problem.what == "1 of 4 kernel launches left no row on the device"


def test_each_thread_has_its_own_cut_off_tail() -> None:
    assert not problems(
        picture("""
        s7 kernel k         |.....aa.bbbb|
        t1 cudaLaunchKernel |a....b......|
        t2 cudaLaunchKernel |..cd........|
        """)
    )


@pytest.mark.parametrize(
    "call", ["cuLaunchKernel", "cudaLaunchKernelExC_v11060", "cudaLaunchKernel_ptsz"]
)
def test_driver_and_versioned_launches_count(call: str) -> None:
    found = faults(picture(f"s7 kernel k |.aa....cc|\nt1 {call} |a..b..c..|"))

    assert found == [CaptureFault.LAUNCHES_WITHOUT_ROWS]


def test_a_launch_that_failed_leaves_no_row() -> None:
    text = """
        s7 kernel k         |.aa....cc|
        t1 cudaLaunchKernel |a..b..c..|
        """

    assert not problems(picture(text, failed=["b"]))


def test_one_lost_launch_in_a_hundred_and_fifty_is_tolerated(tmp_path: Path) -> None:
    drawing = picture("s7 kernel k |.aa|\nt1 cudaLaunchKernel |a..|", repeat=150)
    path = drawing.export(tmp_path / "one.sqlite")
    edit(path, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 75")

    assert measure_file(path).problems == ()

    edit(path, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 80")

    (problem,) = measure_file(path).problems
    assert problem.what == "2 of 150 kernel launches left no row on the device"


def test_launches_during_stream_capture_submit_nothing() -> None:
    assert not problems(
        picture("""
        s7 kernel k                |.aa.........ee|
        s7 graph                   |.........dd...|
        t1 cudaLaunchKernel        |a...bc.....e..|
        t1 cudaStreamBeginCapture  |...x..........|
        t1 cudaStreamEndCapture    |......y.......|
        t1 cudaGraphLaunch         |........d.....|
        """)
    )


def test_captures_of_several_threads_all_submit_nothing() -> None:
    for first, second in (("t1", "t2"), ("t2", "t1"), ("t1", "t1")):
        assert not faults(
            picture(f"""
            s7 kernel k                       |.aa.........ee|
            {first} cudaStreamBeginCapture    |...x..........|
            {first} cudaStreamEndCapture      |.....y........|
            {second} cudaStreamBeginCapture   |.......z......|
            {second} cudaStreamEndCapture     |.........w....|
            t3 cudaLaunchKernel               |a...b...c..e..|
            """)
        )


def test_a_backward_pass_is_captured_from_a_thread_of_its_own() -> None:
    assert not faults(
        picture("""
        s7 kernel k                |.aa.........ee|
        t1 cudaStreamBeginCapture  |...x..........|
        t1 cudaStreamEndCapture    |......y.......|
        t2 cudaLaunchKernel        |a...b......e..|
        """)
    )


def test_the_unflushed_tail_of_a_stopped_recording_takes_nothing_from_its_window() -> None:
    body = "s7 kernel k |.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.......|\n"
    calls = "t1 cudaLaunchKernel |abcdefghijklmnopqrst.......................U.V.|"
    threads = "\nt2 cudaLaunchKernel |...........................................W...|"

    assert not problems(picture(body + calls + threads))


def test_copies_that_ran_ahead_do_not_make_the_cut_off_launches_before_them_a_loss() -> None:
    assert not problems(
        picture("""
        s7  kernel k          |..aaaa.bbbb............|
        s13 h2d pinned 1MiB   |..............xx.yy.zz.|
        t1  cudaLaunchKernel  |a.b.c.d.e.f.g.h........|
        t1  cudaMemcpyAsync   |.........x...y...z.....|
        """)
    )


def test_graphs_launched_after_the_last_row_are_not_simply_cut_off() -> None:
    (problem,) = problems(
        picture(
            """
            s7 kernel k         |.aa.............|
            t1 cudaLaunchKernel |a...............|
            t1 cudaGraphLaunch  |....b.c.d.e.f.g.|
            """,
            graph_mode="Graph",
        )
    )

    assert problem.fault is CaptureFault.GRAPH_LAUNCHES_INVISIBLE


def test_graph_launches_without_rows_are_invisible() -> None:
    """Up to 2023.4 an export of whole-graph recordings holds nothing of a graph."""
    (problem,) = problems(
        picture(
            """
            s7 kernel k         |.aa......bb|
            t1 cudaLaunchKernel |a.......b..|
            t1 cudaGraphLaunch  |...x.y.....|
            """,
            graph_mode="Graph",
        )
    )

    assert problem.fault is CaptureFault.GRAPH_LAUNCHES_INVISIBLE
    assert problem.what == "2 of 2 graph launches left no rows (recorded as whole graphs)"
    assert "--cuda-graph-trace=node" in problem.settle_with


def test_graph_launches_with_blocks_or_nodes_are_visible() -> None:
    assert not problems(picture("s7 graph |.aa|\nt1 cudaGraphLaunch |a..|"))
    assert not problems(picture("s7 kernel k |.aa.a|\nt1 cudaGraphLaunch |a....|"))


def test_kernels_without_any_call_cannot_be_placed() -> None:
    (problem,) = problems(picture("s7 kernel k |aa.bb|"))

    assert problem.fault is CaptureFault.ROWS_WITHOUT_LAUNCHES
    assert problem.what == (
        "2 kernels, but no CUDA call that launched them: no table CUPTI_ACTIVITY_KIND_RUNTIME"
    )


def test_one_kernel_without_any_call_is_no_plural() -> None:
    (problem,) = problems(picture("s7 kernel k |.aa|"))

    assert problem.what.startswith("1 kernel, but no CUDA call that launched it: no table")


def test_a_kernel_without_its_call_amid_others_is_a_loss() -> None:
    (problem,) = problems(
        picture("""
        s7 kernel k         |.aa.bb.cc|
        t1 cudaLaunchKernel |a.....c..|
        """)
    )

    assert problem.fault is CaptureFault.ROWS_WITHOUT_LAUNCHES
    assert problem.what == "1 of 3 kernels without the CUDA call that launched them"


@pytest.mark.parametrize(("kernels", "tolerated"), [(100, True), (99, False)])
def test_one_kernel_in_a_hundred_may_lack_its_call(
    tmp_path: Path, kernels: int, tolerated: bool
) -> None:
    path = picture("s7 kernel k |.a|\nt1 cudaLaunchKernel |a.|", repeat=kernels).export(
        tmp_path / "orphans.sqlite"
    )
    edit(path, "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid = 5")

    assert (measure_file(path).problems == ()) is tolerated


def test_kernels_launched_before_the_capture_began_are_whole() -> None:
    assert not problems(
        picture("""
        s7 kernel k         |aa.bb.cc.|
        t1 cudaLaunchKernel |.....c...|
        """)
    )


def test_a_real_capture_range_is_complete(real_export: RealExport) -> None:
    assert measure_file(real_export("pt_capture_range")).problems == ()


def test_steps_that_mostly_hold_no_kernel_are_a_broken_capture() -> None:
    (problem,) = problems(
        picture("""
        s7 kernel k         |.aa.........|
        t1 cudaLaunchKernel |a...........|
        t1 nvtx step        |001122334455|
        """)
    )

    assert problem.fault is CaptureFault.STEPS_WITHOUT_WORK
    assert problem.what == "5 of 6 'step #' ranges hold no kernel"


@pytest.mark.parametrize(("kernels", "broken"), [("a.b.....", False), ("a.......", True)])
def test_half_of_the_steps_may_hold_no_kernel(kernels: str, broken: bool) -> None:
    found = problems(
        picture(f"""
        s7 kernel k         |.{kernels[:-1]}|
        t1 cudaLaunchKernel |{kernels}|
        t1 nvtx step        |00112233|
        """)
    )

    assert bool(found) is broken


@pytest.mark.parametrize(("until_ns", "broken"), [(4_000, False), (6_000, True)])
def test_only_steps_that_the_window_holds_whole_are_counted(until_ns: int, broken: bool) -> None:
    """The first of two does, or the first of three."""
    drawing = picture("""
        s7 kernel k         |.a..........|
        t1 cudaLaunchKernel |a...........|
        t1 nvtx step        |001122334455|
        """)

    assert bool(drawing.measure(window_ns=(0, until_ns)).problems) is broken
    assert bool(drawing.measure(window_ns=(0, until_ns + 1_999)).problems) is broken


def test_a_step_without_work_now_and_then_is_the_programs_own() -> None:
    assert not problems(
        picture("""
        s7 kernel k         |.a.b...c|
        t1 cudaLaunchKernel |a.b...c.|
        t1 nvtx step        |00112233|
        """)
    )


def test_rows_without_times_are_a_loss(tmp_path: Path) -> None:
    path = picture("s7 kernel k |.aa.bb|\nt1 cudaLaunchKernel |a..b..|").export(
        tmp_path / "untimed.sqlite"
    )
    edit(
        path,
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1",
        'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 0, "end" = 0 WHERE rowid = 3',
    )
    (problem,) = measure_file(path).problems

    assert problem.fault is CaptureFault.UNTIMED_ROWS
    assert problem.what == "1 device row without timestamps"


COMPLETE = "s7 kernel k |.aa|\nt1 cudaLaunchKernel |a..|"


@pytest.mark.parametrize(
    "text",
    [
        "Some CUPTI events may be missing.",
        "Couldn't allocate CUPTI bufer 12 times",
        "Reached the size limit on recording trace events for this process.",
        "CUDA profiling might have not been started correctly.",
    ],
)
def test_losses_that_nsys_reports_are_believed(text: str) -> None:
    (problem,) = problems(picture(COMPLETE, diagnostics=[{"severity": 2, "text": text}]))

    assert problem.fault is CaptureFault.EVENTS_LOST
    assert problem.what == f"nsys: {text}"


@pytest.mark.parametrize(
    "text",
    [
        "Scheduling information is absent.",
        "Not all NVTX events might have been collected.",
        "Installed CUDA driver version (13.0) is not supported by this build of Nsight Systems.",
    ],
)
def test_milder_warnings_accompany_sound_recordings(text: str) -> None:
    assert not problems(picture(COMPLETE, diagnostics=[{"severity": 2, "text": text}]))


def test_launches_without_a_single_row_are_a_failed_gpu_side() -> None:
    (problem,) = problems(
        picture("""
        t1 cudaLaunchKernel |a.b...|
        t1 cudaMalloc       |...c..|
        t1 nvtx step        |001122|
        """)
    )

    assert problem.fault is CaptureFault.NO_KERNELS
    assert problem.what == (
        "2 kernel launches, but not one kernel row: no table CUPTI_ACTIVITY_KIND_KERNEL"
        " (recorded: 3 CUDA calls, 3 NVTX ranges)"
    )
    assert "WSL2" in problem.settle_with


def test_a_recording_without_cuda_says_what_it_holds_and_how_to_record_it() -> None:
    (problem,) = problems(picture("t1 nvtx step |001122|"))

    assert problem.fault is CaptureFault.NO_KERNELS
    assert problem.what == "no kernel was recorded (recorded: 3 NVTX ranges)"
    assert "nsys profile --trace=cuda" in problem.settle_with


def test_copies_without_kernels_are_nothing_to_judge() -> None:
    (problem,) = problems(picture("s7 h2d pinned 1B |.a.b|\nt1 cudaMemcpyAsync |a.b.|"))

    assert problem.what == "no kernel was recorded (recorded: 2 CUDA calls, 2 copies)"


def test_a_recording_of_nothing_says_what_was_asked_for() -> None:
    (problem,) = problems(picture("t1 os read |.xx|"))

    assert problem.process == ABSENT
    assert problem.what == (
        "no kernel, CUDA call or NVTX range was recorded (asked for: Cuda, NvtxEvents, OSRuntime)"
    )


def test_a_launcher_without_kernels_is_no_fault_while_others_have_them() -> None:
    assert not problems(
        picture("""
        p1 t1 nvtx step        |001122|
        p2 s7 kernel k         |.aa...|
        p2 t1 cudaLaunchKernel |a.....|
        """)
    )


@pytest.mark.parametrize("call", ["cudaMalloc", "cudaMemcpyAsync", "cudaLaunchKernel"])
def test_a_process_that_launched_nothing_lost_nothing(call: str) -> None:
    drawing = picture(
        f"""
        p1 s7 kernel k         |.aa.bb|
        p1 t1 cudaLaunchKernel |a..b..|
        p2 t1 {call}           |.x....|
        """,
        failed=["x"] if call == "cudaLaunchKernel" else [],
    )

    assert CaptureFault.NO_KERNELS not in [problem.fault for problem in problems(drawing)]


def test_a_process_that_lost_every_kernel_is_a_fault_beside_others_that_have_theirs() -> None:
    (problem,) = problems(
        picture("""
        p1 s7 kernel k         |.aa...|
        p1 t1 cudaLaunchKernel |a.....|
        p2 t1 cudaLaunchKernel |b.c...|
        """)
    )

    assert problem.fault is CaptureFault.NO_KERNELS
    assert problem.process == 1
    assert problem.what.startswith("2 kernel launches, but not one kernel row (")


def test_a_process_of_another_device_is_not_asked_for() -> None:
    text = """
        p1 gpu0 s7 kernel k          |.aa...|
        p1 t1 cudaLaunchKernel       |a.....|
        p2 gpu1 s7 h2d pinned 1MiB   |...c..|
        p2 t1 cudaMemcpyAsync        |..c...|
        p2 t1 cudaLaunchKernel       |b.....|
        """

    assert len(picture(text).measure().problems) == 1
    assert not picture(text).measure(device=0).problems


def test_a_problem_concerns_its_own_process() -> None:
    found = problems(
        picture("""
        p1 s7 kernel k         |.aa...|
        p1 t1 cudaLaunchKernel |a.....|
        p2 s7 kernel k         |.bb.cc|
        """)
    )

    assert [problem.process for problem in found] == [1]


def test_steps_before_the_window_are_not_counted() -> None:
    """Only the last of six holds a kernel: two of them are a window, or all."""
    drawing = picture("""
        s7 kernel k         |...........a|
        t1 cudaLaunchKernel |..........a.|
        t1 nvtx step        |001122334455|
        """)

    assert faults(drawing) == [CaptureFault.STEPS_WITHOUT_WORK]
    assert drawing.measure(window_ns=(8_000, 12_000)).problems == ()


@pytest.mark.parametrize(("kernels", "tolerated"), [(100, True), (99, False)])
def test_one_row_without_times_to_a_hundred_kernels_is_tolerated(
    tmp_path: Path, kernels: int, tolerated: bool
) -> None:
    path = picture("s7 kernel k |.a|\nt1 cudaLaunchKernel |a.|", repeat=kernels).export(
        tmp_path / "untimed.sqlite"
    )
    table = "CUPTI_ACTIVITY_KIND_KERNEL"
    edit(
        path,
        f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1",
        f'UPDATE {table} SET start = 0, "end" = 0 WHERE rowid = {kernels + 1}',
    )

    assert (measure_file(path).problems == ()) is tolerated


def test_kernels_of_which_none_took_any_time_tell_no_time(tmp_path: Path) -> None:
    path = picture("s7 kernel k |.aa.bb|\nt1 cudaLaunchKernel |a..b..|").export(
        tmp_path / "moments.sqlite"
    )
    table = "CUPTI_ACTIVITY_KIND_KERNEL"
    edit(path, f'UPDATE {table} SET "end" = start WHERE rowid = 1')
    assert measure_file(path).problems == ()
    edit(path, f'UPDATE {table} SET "end" = start')
    (problem,) = measure_file(path).problems

    assert problem.fault is CaptureFault.UNTIMED_ROWS
    assert problem.what == "2 kernels, but not one that lasted any time"


LOSS = {"severity": 2, "text": "Some CUPTI events may be missing."}


def test_a_loss_of_one_process_is_no_problem_of_another() -> None:
    drawing = picture(
        """
        p1 s7 kernel k         |.aa|
        p1 t1 cudaLaunchKernel |a..|
        p2 s7 kernel k         |.bb|
        p2 t1 cudaLaunchKernel |b..|
        """,
        diagnostics=[LOSS],
    )

    assert [problem.process for problem in problems(drawing)] == [0]


def test_a_loss_is_told_by_a_recorder_without_a_name() -> None:
    trace = replace(picture(COMPLETE, diagnostics=[LOSS]).trace(), recorder=UNKNOWN_RECORDER)
    (problem,) = measure(trace, Selection(skip=0)).problems

    assert problem.what == "the recorder: Some CUPTI events may be missing."


def test_a_recording_of_memsets_alone_holds_nothing_to_judge() -> None:
    (problem,) = problems(picture("s7 memset 1B |.a.b|"))

    assert problem.what == "no kernel was recorded (recorded: nothing)"


def test_a_recording_of_nothing_may_not_know_what_was_asked_for(tmp_path: Path) -> None:
    path = picture("t1 os read |.xx|").export(tmp_path / "nothing.sqlite")
    edit(path, "DELETE FROM META_DATA_CAPTURE")
    (problem,) = measure_file(path).problems

    assert problem.what.endswith("(asked for: unknown)")
