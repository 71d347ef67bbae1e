from __future__ import annotations

from overlapcheck.checks.judge import judge
from overlapcheck.verdict import Outcome, Policy, Verdict
from tests.pictures import Picture, picture

OVERLAPPED = """
s7  kernel k         |.aaaaaaaaaa|
s13 h2d pinned 1B    |...bbbb....|
t1  cudaLaunchKernel |a..........|
t1  cudaMemcpyAsync  |..b........|
"""
SERIAL = """
s7  kernel k         |.aaaa....cc|
s13 h2d pinned 1B    |.....bbbb..|
t1  cudaLaunchKernel |a...c......|
t1  cudaMemcpyAsync  |..b........|
"""


def verdict(drawing: Picture, policy: Policy | None = None, **selection: object) -> Verdict:
    return judge(drawing.measure(**selection), policy or Policy())


def outcomes(judged: Verdict) -> dict[str, str]:
    return {check.name: check.outcome.value for check in judged.checks}


def test_an_overlapped_program_passes_every_check() -> None:
    judged = verdict(picture(OVERLAPPED))

    assert outcomes(judged) == {"capture": "PASS", "overlap h2d": "PASS", "recoverable": "PASS"}
    assert judged.outcome is Outcome.PASS
    assert judged.checks[0].reason == "complete"


def test_a_serial_program_fails() -> None:
    judged = verdict(picture(SERIAL))

    assert outcomes(judged) == {"capture": "PASS", "overlap h2d": "FAIL", "recoverable": "FAIL"}
    assert judged.outcome is Outcome.FAIL


def test_a_policy_adds_checks() -> None:
    judged = verdict(
        picture(OVERLAPPED),
        Policy(max_idle=0.5, max_exposed_communication=0.5, require_copies=True),
    )

    assert list(outcomes(judged)) == [
        "capture",
        "overlap h2d",
        "recoverable",
        "idle",
        "exposed comm",
        "copies",
    ]


OPAQUE = """
s7  graph            |.aaaaaaaa..|
s13 h2d pinned 1B    |...bbbb....|
t1  cudaGraphLaunch  |a..........|
t1  cudaMemcpyAsync  |..b........|
"""


def test_what_passes_only_because_graphs_count_as_compute_is_inconclusive() -> None:
    judged = verdict(picture(OPAQUE))

    assert outcomes(judged) == {
        "capture": "INCONCLUSIVE",
        "overlap h2d": "PASS",
        "recoverable": "PASS",
    }
    assert judged.outcome is Outcome.INCONCLUSIVE
    assert judged.checks[0].reason == "graph launches of unknown content fill 100.0 % of the window"
    assert "--cuda-graph-trace=node" in judged.checks[0].settle_with


def test_what_fails_although_graphs_count_as_compute_fails() -> None:
    judged = verdict(
        picture("""
        s7  graph            |.aa.....cc|
        s13 h2d pinned 1B    |...bbbbb..|
        t1  cudaGraphLaunch  |a.....c...|
        t1  cudaMemcpyAsync  |..b.......|
        """)
    )

    assert judged.outcome is Outcome.FAIL
    assert outcomes(judged)["capture"] == "INCONCLUSIVE"


def test_on_an_incomplete_recording_nothing_is_judged() -> None:
    judged = verdict(picture(SERIAL + "t1 cuLaunchKernel |..x........|"))

    assert set(outcomes(judged).values()) == {"INCONCLUSIVE"}
    assert judged.outcome is Outcome.INCONCLUSIVE
    assert all(check.measured is None for check in judged.checks)
    assert judged.checks[1].reason == "not judged: the recording is incomplete"
    assert judged.checks[0].reason == "1 of 3 kernel launches left no row on the device"


def test_steps_without_work_are_not_judged_by_other_work() -> None:
    drawing = picture("""
        s7 kernel k         |.......aaaaa|
        t1 cudaLaunchKernel |......a.....|
        t1 nvtx shard       |001122......|
        """)
    judged = verdict(drawing, steps="shard")

    assert judged.outcome is Outcome.INCONCLUSIVE
    (window,) = (check for check in judged.checks if check.name == "window")
    assert window.reason == "no kernel was launched in the 3 'shard #' ranges"
    assert "--steps" in window.settle_with
    assert all(check.measured is None for check in judged.checks)


def test_a_device_that_works_beside_the_steps_is_not_judged() -> None:
    drawing = picture("""
        gpu0 s7 kernel k    |.aabbcc.....|
        gpu1 s7 kernel k    |........dddd|
        t1 cudaLaunchKernel |a.b.c..d....|
        t1 nvtx shard       |001122......|
        """)
    reasons = [c.reason for c in verdict(drawing, steps="shard").checks if c.name == "recoverable"]

    assert reasons[1] == "not judged: the steps hold no work of this device"


def test_of_two_doubts_the_incomplete_recording_is_told() -> None:
    drawing = picture("""
        s7 kernel k         |.......aaaaa|
        t1 cudaLaunchKernel |......a.....|
        t1 cuLaunchKernel   |.......x....|
        t1 nvtx shard       |001122......|
        """)
    (check,) = (one for one in verdict(drawing, steps="shard").checks if one.name == "recoverable")

    assert check.reason == "not judged: the recording is incomplete"


def test_several_problems_are_counted() -> None:
    judged = verdict(
        picture(
            SERIAL + "t1 cuLaunchKernel |..x........|",
            diagnostics=[{"severity": 3, "text": "Some CUPTI events may be missing"}],
        )
    )

    assert judged.checks[0].reason.endswith("(and 1 more)")


def test_one_processs_incomplete_recording_does_not_spoil_anothers() -> None:
    judged = verdict(
        picture("""
        p1 s7 kernel k         |.aaaa|
        p1 t1 cudaLaunchKernel |a....|
        p2 s7 kernel k         |.bbbb|
        """)
    )
    good, bad = {check.device for check in judged.checks if check.device}, judged.checks[-1].device
    assert bad is not None
    (fine,) = good - {bad}

    assert judged.of_device(fine).outcome is Outcome.PASS
    assert judged.of_device(bad).outcome is Outcome.INCONCLUSIVE


def test_a_failing_device_fails_the_whole() -> None:
    judged = verdict(
        picture("""
        gpu0 s7 kernel k     |.aaaaaaaaa|
        gpu1 s7 kernel k     |.bb.....cc|
        t1  cudaLaunchKernel |ab....c...|
        """)
    )

    assert judged.outcome is Outcome.FAIL
    assert [
        c.device.device_id for c in judged.checks if c.outcome is Outcome.FAIL and c.device
    ] == [1]


def test_no_data_is_never_a_pass() -> None:
    judged = verdict(picture("t1 nvtx step |001122|"))

    assert outcomes(judged) == {"capture": "INCONCLUSIVE"}
    assert judged.checks[0].device is None
    assert judged.outcome is Outcome.INCONCLUSIVE
    assert judged.exit_code == 3
    assert judged.checks[0].settle_with
    assert not judged.checks[0].reason.startswith("process")


def test_api_rows_without_gpu_rows_are_no_failure_of_overlap() -> None:
    judged = verdict(picture("t1 cudaLaunchKernel |a.b|\nt1 cudaMemcpyAsync |.c.|"))

    assert outcomes(judged) == {"capture": "INCONCLUSIVE"}


def test_a_process_that_lost_every_kernel_cannot_pass_beside_one_that_does() -> None:
    lost = "p2 t1 cudaLaunchKernel |z..........|"
    drawn = "\n".join(f"p1 {line}" for line in OVERLAPPED.strip().splitlines())
    judged = verdict(picture(f"{drawn}\n{lost}"))

    assert judged.outcome is Outcome.INCONCLUSIVE
    assert judged.checks[-1].reason.startswith("process 2000: 1 kernel launch, but not one kernel")


def test_what_no_number_needs_is_said_and_changes_no_verdict() -> None:
    judged = verdict(picture(OVERLAPPED + "t1 cudaStreamWaitEvent |..z........|"))

    assert judged.outcome is Outcome.PASS
    assert judged.checks[0].reason == (
        "complete; what waited for what is not known: no table CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;"
        " what event waits waited for is inferred: no table CUPTI_ACTIVITY_KIND_CUDA_EVENT"
    )
