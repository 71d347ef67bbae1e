"""What evidence says, counted by hand from the picture; and in which order findings stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from overlapcheck.capture_problem import NotKnown
from overlapcheck.causes import causes
from overlapcheck.causes._base import Context
from overlapcheck.causes._facts import environment
from overlapcheck.causes.ranking.findings import findings
from overlapcheck.finding import Finding
from overlapcheck.measurements import Framework
from tests.pictures import picture

STEPS = """
s7   kernel fwd               |.aaaa...bbbb....cccc.......|
t1   cudaLaunchKernel         |a......b.......c...........|
t1   cudaStreamSynchronize    |.xxxx...yyyy...............|
t1   nvtx step                |0000000111111112222222222..|
"""
NO_STEPS = "\n".join(line for line in STEPS.splitlines() if "nvtx" not in line)


def found(text: str, **options: Any) -> dict[str, Finding]:
    """Findings by cause; one column is 10 us."""
    return {one.cause: one for one in findings(picture(text, column_us=10, **options).measure())}


def test_waits_are_told_with_their_steps() -> None:
    assert found(STEPS)["host-sync"].evidence[1:] == (
        "2 waits in 2 of 3 steps, 70.0 us together",
        "longest 40.0 us at step 2, between kernels fwd and fwd",
    )


def test_the_first_step_is_step_0() -> None:
    text = """
        s7   kernel fwd               |.aaaa.......bbbb...cccc|
        t1   cudaLaunchKernel         |a..........b......c....|
        t1   cudaStreamSynchronize    |.xxxxxxxxxx............|
        t1   nvtx step                |00000000000000111222...|
        """

    said = found(text)["host-sync"].evidence

    assert said[1] == "2 waits in 2 of 3 steps, 100.0 us together"
    assert said[2].startswith("longest 70.0 us at step 0, ")


def test_a_window_that_is_given_has_no_steps() -> None:
    ranked = findings(picture(STEPS, column_us=10).measure(window_ns=(10_000, 190_000)))
    (said,) = (one.evidence for one in ranked if one.cause == "host-sync")

    assert said[1:] == (
        "2 waits, 70.0 us together",
        "longest 40.0 us at 0.000120 s, between kernels fwd and fwd",
    )


def test_the_pieces_of_a_wait_are_one_wait() -> None:
    """Each sync goes on for 20 us after its kernel, and the restart takes 20."""
    text = """
        s7   kernel fwd               |.aaaa....bbbb....cccc|
        t1   cudaLaunchKernel         |a......b.......c.....|
        t1   cudaStreamSynchronize    |.xxxxxx..yyyyyy......|
        """
    assert found(text)["host-sync"].evidence[1] == "2 waits, 80.0 us together"


@pytest.mark.parametrize(
    ("window", "told"),
    [
        ((0, 200_000), "longest 100.0 us at 0.000000 s, before kernel fwd"),
        ((100_000, 330_000), "longest 120.0 us at 0.000210 s, after kernel bwd"),
    ],
)
def test_at_the_edges_of_the_window_one_kernel_is_named(window: tuple[int, int], told: str) -> None:
    text = """
        s7   kernel fwd               |..........aaaa....................|
        s7   kernel bwd               |................bbbbb.............|
        t1   cudaLaunchKernel         |.........a.....b..................|
        """
    ranked = findings(picture(text, column_us=10).measure(window_ns=window))

    assert told in [line for one in ranked for line in one.evidence]


def test_late_launches_are_told_per_step_where_there_are_as_many() -> None:
    """Six late launches in three steps."""
    text = """
        s7   kernel fwd               |.a.b.c.d.e.f.g.|
        t1   cudaLaunchKernel         |a.b.c.d.e.f.g..|
        t1   nvtx step                |000011112222222|
        """
    said = found(text)["launch-bound"].evidence[0]
    without = found("\n".join(text.splitlines()[:-2]))["launch-bound"].evidence[0]

    assert said.startswith("6 launches of thread python3 came after the device had run dry, 2 per")
    assert "per step" not in without
    assert without.endswith("10.0 us of idle time each (median)")


@pytest.mark.parametrize(("late", "told"), [("b.c.d", ", 1 per step"), ("b.c..", "")])
def test_fewer_late_launches_than_steps_are_not_told_per_step(late: str, told: str) -> None:
    """Three late launches in three steps, or two."""
    text = f"""
        s7   kernel fwd               |.a.{late}...|
        t1   cudaLaunchKernel         |a.{late}....|
        t1   nvtx step                |00011222222|
        """
    said = found(text)["launch-bound"].evidence[0]

    assert said.split(";")[0].endswith(f"after the device had run dry{told}")


def test_variables_of_the_program_are_told_where_they_are_set() -> None:
    device = picture(STEPS, environment={"NCCL_DEBUG": "INFO"}, column_us=10).measure()
    context = Context(device.devices[0].ledger, device.devices[0], device)

    assert environment("CUDA_X", "NCCL_DEBUG")(context) == ["the program ran with NCCL_DEBUG=INFO"]


def test_the_costliest_calls_are_told_two_of_them() -> None:
    text = """
        s7   kernel fwd               |.aa..bb....cc....dd|
        t1   cudaLaunchKernel         |a...b.....c.....d..|
        t1   cudaEventSynchronize     |.xxx...............|
        t1   cudaStreamSynchronize    |.....yyyyy.........|
        t1   cudaDeviceSynchronize    |...........zzzzz...|
        """
    said = found(text)["host-sync"].evidence
    calls = [line.split()[0] for line in said if " held " in line]

    assert calls == ["cudaStreamSynchronize", "cudaDeviceSynchronize"]
    assert said[0].endswith("40.0 us idle during and after")


@pytest.mark.parametrize(
    ("name", "told"),
    [("k" * 36, "k" * 36), ("a" * 18 + "b" * 19, "a" * 16 + "..." + "b" * 16)],
)
def test_long_names_lose_their_middle(name: str, told: str) -> None:
    text = STEPS.replace("kernel fwd", f"kernel {name}")

    assert found(text)["host-sync"].evidence[2].endswith(f" between kernels {told} and {told}")


def test_without_steps_the_time_says_where_the_longest_wait_was() -> None:
    assert found(NO_STEPS)["host-sync"].evidence[1:] == (
        "2 waits, 70.0 us together",
        "longest 40.0 us at 0.000120 s, between kernels fwd and fwd",
    )


def test_a_thread_goes_by_its_name_else_by_its_number() -> None:
    named = found(STEPS, threads={"t1": "main"})["host-sync"].evidence[0]
    called = found(STEPS, threads={"t1": "thread pool"})["host-sync"].evidence[0]

    assert named.startswith("cudaStreamSynchronize held thread main 2 times")
    assert called.startswith("cudaStreamSynchronize held thread pool 2 times")


@pytest.mark.parametrize(
    ("end_us", "told"), [(120.0, "30.0 us each"), (120.1, "20.0 us – 40.1 us each")]
)
def test_values_that_differ_by_more_than_twice_are_a_range(end_us: float, told: str) -> None:
    exact = {"x": [30.0, 50.0], "y": [80.0, end_us]}

    assert told in found(STEPS, host_us=exact)["host-sync"].evidence[0]


def test_advice_for_a_program_of_one_pass_is_given_only_there() -> None:
    cause = causes()["host-sync"]
    plain = picture(NO_STEPS, column_us=10).measure()
    pytorch = replace(plain, framework=Framework.PYTORCH)
    once = cause.advise(plain, True)

    assert once != cause.advise(plain, False)
    assert cause.advise(plain) == cause.advise(plain, False)
    assert cause.advise(pytorch, True) == cause.advise(pytorch, False)
    assert found(NO_STEPS)["host-sync"].advice == once
    assert found(STEPS)["host-sync"].advice != once


def test_contention_stands_behind_all_that_is_idle() -> None:
    """It costs 400 us of kernels; the smallest wait is idle time all the same."""
    text = """
        s7   kernel fwd               |aaaa..bbbbbbbbbbbb|
        s13  h2d pinned 4MiB          |......cccccccccccc|
        t1   cudaLaunchKernel         |a....b............|
        t1   cudaMemcpyAsync          |.c................|
        """
    order = list(found(text, repeat=6))

    assert order[-1] == "contention"
    assert len(order) > 1


def test_of_two_devices_the_one_that_loses_the_larger_share_stands_first() -> None:
    """Device 0 waits 40 us of 240, device 1 30 us of 80."""
    text = """
        gpu0 s7 kernel fwd            |.aaaaaaaaaa....bbbbbbbbbb|
        gpu1 s9 kernel fwd            |.cccc...d................|
        t1   cudaLaunchKernel         |a.............b..........|
        t2   cudaLaunchKernel         |c......d.................|
        t1   cudaStreamSynchronize    |.xxxxxxxxxx..............|
        t2   cudaStreamSynchronize    |.yyyy....................|
        """
    ranked = findings(picture(text, column_us=10).measure())
    syncs = [one for one in ranked if one.cause == "host-sync"]

    assert [one.device.device_id for one in syncs] == [1, 0]
    assert [one.blamed.total_ns for one in syncs] == [30_000, 40_000]


def test_ceilings_are_told_of_the_directions_that_have_one_below_all() -> None:
    """Copies in take 120 us beside 30 us of compute; copies out take 10."""
    text = """
        s14  kernel fwd               |..........a..b..c|
        s13  h2d pinned 5MiB          |.....dddddddddddd|
        s15  d2h pinned 5MiB          |..........e......|
        t1   cudaLaunchKernel         |..a.b.c..........|
        t1   cudaMemcpyAsync          |de...............|
        """
    said = [line for line in found(text)["copy-bound"].evidence if "compute runs in" in line]

    assert len(said) == 1
    assert "of the h2d copy time" in said[0]


ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
MET = f"""
p1 gpu0 s7  kernel k            |.aaaa......bbb|
p1 gpu0 s7  kernel {ALL_REDUCE} |.....rrrrrr...|
p2 gpu1 s7  kernel k            |.cccccccc..ddd|
p2 gpu1 s7  kernel {ALL_REDUCE} |.........ss...|
p1 t1 cudaLaunchKernel          |a.b...........|
p1 t1 cuLaunchKernelEx          |.r............|
p2 t1 cudaLaunchKernel          |c.d...........|
p2 t1 cuLaunchKernelEx          |.s............|
p1 t1 nvtx step                 |00000000000000|
p2 t1 nvtx step                 |00000000000000|
"""


@pytest.mark.parametrize(("gpu", "late"), [("gpu1", "device 1"), ("gpu0", "process 2000")])
def test_who_waits_for_whom_is_counted(gpu: str, late: str) -> None:
    """Four times, the second rank comes 40 us later; both then move data for 20."""
    text = MET.replace("gpu1", gpu)
    measured = picture(text, column_us=10, repeat=4).measure()
    first, second = (
        [*one.evidence]
        for one in sorted(findings(measured), key=lambda one: one.device)
        if one.cause == "exposed-collective"
    )

    assert first[1:5] == [
        "on the compute stream: all-reduce and kernels share stream 7, which runs them in order"
        " (240.0 us exposed)",
        "of 240.0 us exposed in 4 collectives met by 2 ranks, 160.0 us wait for a rank that comes"
        " later and 80.0 us move data",
        f"{late} comes last in 4 of 4: 160.0 us of the waiting",
        "0.0 % of 240.0 us of communication run under compute",
    ]
    assert second[1:4] == [
        "on the compute stream: all-reduce and kernels share stream 7, which runs them in order"
        " (80.0 us exposed)",
        "none of it waits for another rank: this one comes last in 4 of 4 collectives, and the"
        " others wait for it",
        "0.0 % of 80.0 us of communication run under compute",
    ]


BOUND = """
s14  kernel fwd               |..........a..b..c|
s13  h2d pinned 5MiB          |.....dddddddddddd|
s15  d2h pinned 5MiB          |..........e......|
t1   cudaLaunchKernel         |..a.b.c..........|
t1   cudaMemcpyAsync          |de...............|
"""


@pytest.mark.parametrize("engines", [3, 1])
def test_how_full_the_link_was_is_told_with_its_engine_where_it_is_the_only_one(
    engines: int,
) -> None:
    """5 MiB in 120 us; kernels of 30 us run beside."""
    said = found(BOUND, copy_engines=engines)["copy-bound"].evidence
    one = (
        "the device has one copy engine: copies in and out take turns on it, and fill 100.0 % of"
        " the window"
    )

    assert (said[0] == one) is (engines == 1)
    assert said[-4:-2] == (
        "h2d copies run in 100.0 % of the window: 5.0 MiB at 43.7 GB/s",
        "compute runs in 25.0 % of it: 25.0 % of the h2d copy time is hidden, at most 25.0 % can"
        " be",
    )


@pytest.mark.parametrize(("process", "told"), [(0, True), (1, False)])
def test_what_could_not_be_looked_at_is_told_of_the_process_that_lacks_it(
    process: int, told: bool
) -> None:
    text = """
        s7   kernel fwd               |..aaaa..........|
        s9   kernel bwd               |............bbbb|
        t1   cudaLaunchKernel         |a.b.............|
        """
    measured = picture(text, column_us=10).measure()
    missing = NotKnown(process, "not seen", frozenset({"event-wait"}), "more")
    other = NotKnown(process, "no matter", frozenset(), "more")
    ranked = findings(replace(measured, not_known=(missing, other)))
    said = [line for one in ranked if one.cause == "unexplained" for line in one.evidence]

    assert said
    assert ("not seen" in said) is told
    assert "no matter" not in said


def test_migrations_under_kernels_and_beside_them_are_one_finding() -> None:
    """4 columns run under the kernel, 4 in the open."""
    text = """
        s7   kernel fwd               |aaaaaaaa....bbbb|
        uvm  h2d 2MiB                 |....xxxxyyyy....|
        t1   cudaLaunchKernel         |a.b.............|
        """
    one = found(text)["uvm-migration"]

    assert one.blamed.total_ns == 80_000
    assert one.evidence[:2] == (
        "pages migrate in 40.0 us of the kernel time, 33.3 % of it: the kernels wait for them",
        "2 migrations of unified memory, 4.0 MiB, 80.0 us together",
    )
    assert one.evidence[2].startswith("1 wait, 40.0 us together")


def test_migrations_under_kernels_alone_are_told_too() -> None:
    text = """
        s7   kernel fwd               |aaaaaaaabbbb|
        uvm  h2d 2MiB                 |....xx......|
        t1   cudaLaunchKernel         |a.b.........|
        """
    assert found(text)["uvm-migration"].evidence == (
        "pages migrate in 20.0 us of the kernel time, 16.7 % of it: the kernels wait for them",
        "1 migration of unified memory, 2.0 MiB, 20.0 us together",
    )


def test_graphs_are_a_share_of_the_window_and_of_compute() -> None:
    """40 us of 160, beside kernels of 80."""
    text = """
        s7   graph                    |gggg............|
        s7   kernel fwd               |....aaaa....bbbb|
        t1   cudaGraphLaunch          |g...............|
        t1   cudaLaunchKernel         |.a.b............|
        """
    assert found(text)["graph-opaque"].evidence == (
        "1 stretch of graph launches, 40.0 us, 25.0 % of the window",
        "they are 33.3 % of what counts as compute; copies and pauses inside them are invisible",
    )


CONTENDED = """
s7   kernel fwd               |aaaa..bbbbbbbb..........|
s13  h2d pinned 4MiB          |......cccccc............|
s14  d2h pinned 4MiB          |........eeeeee..........|
t1   cudaLaunchKernel         |a....b..................|
t1   cudaMemcpyAsync          |.ce.....................|
"""


@pytest.mark.parametrize(
    ("until_us", "end_us", "net"),
    [
        (140.0, 140.0, "net 240.0 us won"),
        (100.0, 140.0, "net 0 ns won"),
        (105.0, 150.0, "net 30.0 us lost"),
    ],
)
def test_overlap_wins_what_is_hidden_less_what_it_costs(
    until_us: float, end_us: float, net: str
) -> None:
    """Six kernels of 40 us take 80 or 90; both directions together hide 80, 40 or 45 of each."""
    said = found(
        CONTENDED,
        repeat=6,
        gpu_us={"b": [60.0, end_us], "c": [60.0, min(until_us, 120.0)], "e": [80.0, until_us]},
        host_us={"c": [-60.0, -55.0], "e": [-50.0, -45.0]},
    )["contention"].evidence

    assert net in said[0]


def test_work_of_another_process_on_the_gpu_goes_by_its_name() -> None:
    text = """
        p1 gpu0 s7   kernel fwd       |......aaaaaaaa........bbbbbbbb|
        p2 gpu0 s7   kernel gen       |..............cccccccc........|
        p1 t1   cudaLaunchKernel      |a.b...........................|
        p2 t1   cudaLaunchKernel      |..c...........................|
        """
    measured = picture(text, column_us=10).measure()
    one, two = measured.devices
    for name, told in (("server", "server (pid 2000)"), ("", "a process (pid 2000)")):
        both = replace(measured, devices=(one, replace(two, process_name=name)))
        said = [line for f in findings(both) if f.device == one.key for line in f.evidence]

        assert f"{told} also runs kernels on device 0" in said


def test_evidence_names_the_share_of_communication_that_is_hidden() -> None:
    """20 of the 60 us run beside a kernel."""
    text = """
        s7   kernel bwd               |aaaaaa....bbbb|
        s17  kernel ncclAllReduce     |....cccccc....|
        t1   cudaLaunchKernel         |a.b...........|
        t2   cudaLaunchKernel         |..c...........|
        """
    said = found(text)["exposed-collective"].evidence

    assert "33.3 % of 60.0 us of communication run under compute" in said


def test_a_collective_wins_only_what_is_hidden() -> None:
    """Of its 100 us 80 run beside the kernel, which takes 40 us longer; six times."""
    text = """
        s7   kernel fwd               |aaaa..bbbbbbbb..............|
        s17  kernel ncclAllReduce     |......cccccccccc............|
        t1   cudaLaunchKernel         |ac...b......................|
        """
    said = found(text, repeat=6)["contention"].evidence

    assert "net 240.0 us won" in said[0]


@pytest.mark.parametrize("direction", ["h2d", "d2h"])
def test_the_speed_of_a_called_copy_is_the_copys_own(direction: str) -> None:
    """The call has also waited for kernels: 80 us for a copy of 60."""
    text = f"""
        s7   kernel fwd               |.aaaa......bb|
        s7   {direction} pinned 64MiB |.....cccccc..|
        t1   cudaLaunchKernel         |a...........b|
        t1   cudaMemcpy               |.cccccccccc..|
        """
    said = found(text, gpu_us={"b": [130.0, 150.0]})["sync-copy"].evidence
    (line,) = (line for line in said if "of 64.0 MiB" in line)

    assert line.endswith(f"{(64 << 20) / 60_000:.1f} GB/s")


def test_an_engine_is_no_event_and_its_order_not_called_inferred_from_one() -> None:
    text = """
        s7   kernel fwd               |......aaaaaaaaaa....bbbbbbbb|
        s13  h2d pinned 4MiB          |......cccccccccc............|
        s15  h2d pinned 2MiB          |................dddd........|
        t1   cudaLaunchKernel         |a....b......................|
        t1   cudaMemcpyAsync          |.cd.........................|
        t1   cudaEventRecord          |...r........................|
        t1   cudaStreamWaitEvent      |....w.......................|
        """
    said = found(
        text,
        records=[{"call": "r", "stream": 15}],
        waits=[{"call": "w", "stream": 7, "record": "r"}],
    )["copy-engine"].evidence

    assert any("queue behind another stream's copies" in line for line in said)
    assert not any("inferred" in line for line in said)
