"""From when on evidence is worth a word: each limit, just under and just at it."""

from __future__ import annotations

from typing import Any

import pytest

from overlapcheck.causes.ranking.findings import findings
from tests.pictures import picture


def evidence(cause: str, text: str, **options: Any) -> str:
    """What a finding says; one column is 10 us. "" where the cause was not found."""
    found = findings(picture(text, column_us=10, **options).measure())
    return "\n".join(line for one in found if one.cause == cause for line in one.evidence)


@pytest.mark.parametrize(("size", "told"), [(65536, True), (65535, False)])
def test_small_copies_say_nothing_of_the_speed_of_the_link(size: int, told: bool) -> None:
    waited = f"""
        s7   kernel fwd               |.aaaa......bb|
        s7   h2d pinned {size}B       |.....cccccc..|
        t1   cudaLaunchKernel         |a.b..........|
        t1   cudaMemcpyAsync          |.c...........|
        """
    called = f"""
        s7   kernel fwd               |.aaaa......bb|
        s7   h2d pinned {size}B       |.....cccccc..|
        t1   cudaLaunchKernel         |a...........b|
        t1   cudaMemcpy               |.cccccccccc..|
        """

    assert ("B/s" in evidence("same-stream", waited)) is told
    assert ("B/s" in evidence("sync-copy", called, gpu_us={"b": [130.0, 150.0]})) is told


@pytest.mark.parametrize(("end_us", "told"), [(90.0, True), (89.999, False)])
def test_a_link_that_is_idle_most_of_the_time_is_not_the_bound(end_us: float, told: bool) -> None:
    """Copies in fill the window of 120 us; copies out begin at 30, and fill half of it or less."""
    text = """
        s7   kernel fwd               |a..........b|
        s13  h2d pinned 64MiB         |cccccccccccc|
        s14  d2h pinned 64MiB         |...dddddd...|
        t1   cudaLaunchKernel         |a.b.........|
        t1   cudaMemcpyAsync          |cd..........|
        """
    exact = {"c": [-1.0, -0.5], "d": [-0.4, -0.2]}
    said = evidence("copy-bound", text, gpu_us={"d": [30.0, end_us]}, host_us=exact)

    assert "h2d copies run in" in said
    assert ("d2h copies run in" in said) is told


QUEUED = """
s7   kernel bwd               |..aaaaaggggg......bbbb|
s17  kernel ncclDevKernel_AllReduce_Sum_bf16 |............cccccc....|
t1   cudaLaunchKernel         |a.g.c...b.............|
t1   cudaEventRecord          |.....r................|
t1   cudaStreamWaitEvent      |......w...............|
"""


def queued(text: str = QUEUED, **exact: Any) -> bool:
    said = evidence(
        "exposed-collective",
        text,
        records=[{"call": "r", "stream": 17}],
        waits=[{"call": "w", "stream": 7, "record": "r"}],
        **exact,
    )
    return "behind kernels of other streams" in said


@pytest.mark.parametrize(("launched_us", "held"), [(70.0, True), (70.001, False)])
def test_a_collective_that_waited_long_was_held(launched_us: float, held: bool) -> None:
    """It began at 120 us."""
    assert queued(host_us={"c": [60.0, launched_us], "r": [71.0, 72.0], "w": [73.0, 74.0]}) is held


@pytest.mark.parametrize(("begin_us", "held"), [(57.0, True), (57.001, False)])
def test_compute_ran_nearly_all_the_while(begin_us: float, held: bool) -> None:
    """Of the 70 us from its launch to 120, less than 63 are not nearly all."""
    exact = {"a": [20.0, 50.0], "g": [begin_us, 120.0]}

    assert queued(gpu_us=exact) is held


@pytest.mark.parametrize(("end_us", "told"), [(280.0, True), (280.001, False)])
def test_what_is_less_than_half_of_the_exposed_time_does_not_speak_for_it(
    end_us: float, told: bool
) -> None:
    """60 us of the first collective, which was held, beside 60 or more of one launched late."""
    text = """
        s7   kernel bwd           |..aaaaaggggg......bbbb.......eee|
        s17  kernel ncclAllReduce |............cccccc....dddddd....|
        t1   cudaLaunchKernel     |a.g.c...b............d..e.......|
        t1   cudaEventRecord      |.....r..........................|
        t1   cudaStreamWaitEvent  |......w.........................|
        """

    assert queued(text, gpu_us={"d": [220.0, end_us]}) is told


@pytest.mark.parametrize(("extra_us", "told"), [(40.0, True), (39.9, False)])
def test_kernels_that_cost_half_a_percent_more_are_worth_a_word(
    extra_us: float, told: bool
) -> None:
    """Five kernels of 100 us, in a window of 40 ms, take 40 us longer each, or a little less."""
    text = """
        s7   kernel fwd               |a...b...|
        s13  h2d pinned 64MiB         |....c...|
        t1   cudaLaunchKernel         |a...b...|
        t1   cudaMemcpyAsync          |...c....|
        """
    end = 2000.0 + 100.0 + extra_us
    drawing = picture(
        text,
        column_us=500,
        repeat=5,
        gpu_us={"a": [0.0, 100.0], "b": [2000.0, end], "c": [2000.0, end]},
    )
    found = findings(drawing.measure(window_ns=(0, 40_000_000)))

    assert ("contention" in {one.cause for one in found}) is told


@pytest.mark.parametrize(("end_us", "held"), [(100.0, True), (99.999, False)])
def test_a_queue_lets_go_when_kernels_have_ended(end_us: float, held: bool) -> None:
    """The collective began at 120 us."""
    gpu = {"a": [-140.0, 50.0], "g": [50.0, end_us]}
    host = {"a": [-160.0, -155.0], "g": [-154.0, -151.0], "c": [-150.0, -140.0]}

    assert queued(gpu_us=gpu, host_us=host) is held


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({"CUDA_DEVICE_MAX_CONNECTIONS": "1"}, "CUDA_DEVICE_MAX_CONNECTIONS=1, and 2 streams had"),
        ({"CUDA_DEVICE_MAX_CONNECTIONS": "2"}, "2 streams and 2 hardware queues: kernels that"),
        ({}, "2 streams and 8 hardware queues: kernels that"),
        ({"CUDA_DEVICE_MAX_CONNECTIONS": "0"}, "2 streams and 8 hardware queues: kernels that"),
        ({"CUDA_DEVICE_MAX_CONNECTIONS": "²"}, "2 streams and 8 hardware queues: kernels that"),
        ({"CUDA_DEVICE_MAX_CONNECTIONS": "many"}, "2 streams and 8 hardware queues: kernels that"),
    ],
)
def test_streams_are_held_against_the_hardware_queues(
    environment: dict[str, str], why: str
) -> None:
    said = evidence(
        "exposed-collective",
        QUEUED,
        records=[{"call": "r", "stream": 17}],
        waits=[{"call": "w", "stream": 7, "record": "r"}],
        environment=environment,
    )

    assert why in said


@pytest.mark.parametrize(("streams", "shared"), [(8, False), (9, True)])
def test_more_streams_than_the_usual_queues_share_them(streams: int, shared: bool) -> None:
    marks = "hijklmn"[: streams - 2]
    more = "".join(f"s4{i} memset 1B |{mark.ljust(22, '.')}|\n" for i, mark in enumerate(marks))
    said = evidence(
        "exposed-collective",
        QUEUED + more,
        records=[{"call": "r", "stream": 17}],
        waits=[{"call": "w", "stream": 7, "record": "r"}],
        gpu_us={mark: [30.0 + i, 30.5 + i] for i, mark in enumerate(marks)},
    )

    assert ("9 streams share the usual 8 hardware queues" in said) is shared


@pytest.mark.parametrize("event_rows", [True, False])
def test_an_order_without_rows_is_said_to_be_inferred(event_rows: bool) -> None:
    said = evidence(
        "event-wait",
        """
        s7   kernel fwd               |.aaaa.......bbb|
        s13  h2d pinned 64MiB         |.....ccccccc...|
        t1   cudaLaunchKernel         |a......b.......|
        t1   cudaMemcpyAsync          |..c............|
        t1   cudaEventRecord          |.q.r...........|
        t1   cudaStreamWaitEvent      |..v..w.........|
        """,
        event_rows=event_rows,
        records=[{"call": "q", "stream": 7}, {"call": "r", "stream": 13}],
        waits=[
            {"call": "v", "stream": 13, "record": "q"},
            {"call": "w", "stream": 7, "record": "r"},
        ],
        host_us={"q": [10.0, 12.0], "v": [13.0, 15.0]},
    )

    assert "waits for an event recorded behind kernels" in said
    assert ("inferred from adjacent times" in said) is not event_rows


def test_copies_with_the_most_bytes_are_told_first() -> None:
    said = evidence(
        "pageable-copy",
        """
        s7   kernel fwd               |.aa....bb....ee....ff.|
        s9   h2d pageable 64MiB       |....cc................|
        s8   h2d pageable 1MiB        |..........dd....gg....|
        t1   cudaLaunchKernel         |a......b....e.....f...|
        t1   cudaMemcpyAsync          |.cccccc..ddd..ggg.....|
        """,
    )
    lines = [line for line in said.splitlines() if "from pageable memory" in line]

    assert [line.split(" on ")[1][:8] for line in lines] == ["stream 9", "stream 8"]


def test_an_incomplete_recording_stands_before_what_costs_more() -> None:
    drawing = picture(
        """
        s7 kernel fwd           |.aaaa............bbbb.cc|
        t1 cudaLaunchKernel     |a..x.............b.c....|
        t1 cudaStreamSynchronize|.yyyyyyyyyyyyyyy........|
        """,
        column_us=10,
    )
    first, second = findings(drawing.measure())[:2]

    assert first.cause == "incomplete-capture"
    assert second.share > 0
