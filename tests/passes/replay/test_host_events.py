"""What a thread called, one call after the other: one column is 1 us."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from overlapcheck.columns import ABSENT
from overlapcheck.passes.process import process_tables
from overlapcheck.passes.replay.host_events import host_events
from overlapcheck.step_graph import OF_SYSTEM, HostEvents
from tests.pictures import picture

ALL = (0, 1_000_000)


@dataclass(frozen=True)
class Found:
    calls: list[tuple[str, int, int]]
    """Name, start and end, us."""
    events: HostEvents
    of_call: list[int]


def found(text: str, start_ns: int = 0, end_ns: int = 1_000_000, **options: object) -> Found:
    (process,) = process_tables(picture(text, **options).trace(), [0])
    events, of_call = host_events(process, start_ns, end_ns)
    names = [process.strings.text(name) for name in events.name_id.tolist()]
    times = zip(names, events.start_ns.tolist(), events.end_ns.tolist(), strict=True)
    calls = [(name, start // 1000, end // 1000) for name, start, end in times]
    return Found(calls, events, of_call.tolist())


def test_each_call_begins_a_gap_after_the_one_before_on_its_thread() -> None:
    made = found(
        """
        t1 cudaLaunchKernel |aa...bb.....ccc|
        t2 cudaMemcpyAsync  |.d......eee....|
        """
    )

    assert [name for name, _, _ in made.calls] == [
        *("cudaLaunchKernel", "cudaMemcpyAsync", "cudaLaunchKernel"),
        *("cudaMemcpyAsync", "cudaLaunchKernel"),
    ]
    assert made.events.previous.tolist() == [ABSENT, ABSENT, 0, 1, 2]
    assert made.events.gap_ns.tolist() == [0, 0, 3000, 6000, 5000]
    assert made.events.own_ns.tolist() == [2000, 1000, 2000, 3000, 3000]
    assert made.of_call == [0, 1, 2, 3, 4]


def test_calls_within_others_of_their_thread_are_part_of_them() -> None:
    made = found(
        """
        t1 cudaLaunchKernel |aaa.bbbbcc|
        t1 cuLaunchKernel   |.....dd...|
        t2 cudaMemcpyAsync  |......e...|
        """
    )

    assert made.calls == [
        *(("cudaLaunchKernel", 0, 3), ("cudaLaunchKernel", 4, 8)),
        *(("cudaMemcpyAsync", 6, 7), ("cudaLaunchKernel", 8, 10)),
    ]
    # By their start: the inner call lies in the second event.
    assert made.of_call == [0, 1, 1, 2, 3]


def test_calls_that_reach_out_of_another_are_in_none() -> None:
    exact = {"a": [0.0, 4.0], "b": [2.0, 5.0], "c": [6.0, 7.0]}
    made = found("t1 cudaLaunchKernel |abc....|", host_us=exact)

    assert made.calls == [("cudaLaunchKernel", 0, 4), ("cudaLaunchKernel", 6, 7)]
    assert made.of_call == [0, ABSENT, 1]


def test_a_last_call_that_took_no_time_lies_in_its_own_event() -> None:
    made = found("t1 cudaLaunchKernel |a..b|", host_us={"a": [0.0, 1.0], "b": [3.0, 3.0]})

    assert made.calls == [("cudaLaunchKernel", 0, 1), ("cudaLaunchKernel", 3, 3)]
    assert made.of_call == [0, 1]


def test_a_call_before_the_time_lies_in_none_of_its_threads() -> None:
    made = found(
        """
        t1 cudaLaunchKernel |aaaaaaaaaa...|
        t2 cudaLaunchKernel |..b........cc|
        """,
        start_ns=5_000,
    )

    assert made.of_call == [0, ABSENT, 1]


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "calls"),
    [
        (2_000, 8_001, [0, 4, 8]),
        (2_001, 8_001, [4, 8]),
        (2_000, 8_000, [0, 4]),
        (3_000, 3_500, []),
    ],
)
def test_calls_that_touch_the_time_count(start_ns: int, end_ns: int, calls: list[int]) -> None:
    made = found("t1 cudaLaunchKernel |aa..bb..cc|", start_ns, end_ns)

    assert [start for _, start, _ in made.calls] == calls
    assert made.of_call == [calls.index(at) if at in calls else ABSENT for at in (0, 4, 8)]


def test_calls_of_the_operating_system_count_from_five_us_on() -> None:
    exact = {"a": [0.0, 1.0]}
    made = found(
        """
        t1 cudaLaunchKernel |a....................|
        t1 os poll          |..xxxxx..yyyy........|
        """,
        host_us=exact,
    )

    assert made.calls == [("cudaLaunchKernel", 0, 1), ("poll", 2, 7)]
    assert made.events.kind.tolist()[1] == OF_SYSTEM
    assert made.of_call == [0]


def test_and_where_no_cuda_call_of_their_thread_touches_them() -> None:
    made = found(
        """
        t1 cudaLaunchKernel |......aaaaaa...............bbbbbb......|
        t1 os poll          |xxxxxx......yyyyyy...zzzzzzz...........|
        t1 os read          |............................rrrrr......|
        t2 os write         |....wwwwwwwwwwww.......................|
        t2 cudaLaunchKernel |e......................................|
        t3 cudaLaunchKernel |c.....................................d|
        t3 os futex         |.....................fffff.............|
        """
    )

    assert made.calls == [
        *(("cudaLaunchKernel", 0, 1), ("cudaLaunchKernel", 0, 1), ("poll", 0, 6)),
        *(("write", 4, 16), ("cudaLaunchKernel", 6, 12), ("poll", 12, 18), ("futex", 21, 26)),
        *(("cudaLaunchKernel", 27, 33), ("cudaLaunchKernel", 38, 39)),
    ]


def test_threads_whose_cuda_calls_come_later_hide_none_of_the_others() -> None:
    made = found(
        """
        t1 os write         |wwwwww.........|
        t1 cudaLaunchKernel |..............b|
        t2 cudaLaunchKernel |...aaa.........|
        t2 os poll          |xxxxxxxx.......|
        """,
        end_ns=10_000,
    )

    assert [name for name, _, _ in made.calls] == ["write", "cudaLaunchKernel"]


def test_a_call_of_mpi_is_one_of_the_outside() -> None:
    made = found(
        """
        t1 cudaLaunchKernel |a.............b|
        t1 os poll          |.....xxxxxx....|
        t1 mpi MPI_Waitall  |..mmmmmmmmmm...|
        """
    )

    assert [name for name, _, _ in made.calls] == [
        *("cudaLaunchKernel", "MPI_Waitall", "cudaLaunchKernel")
    ]
    assert made.events.gap_ns.tolist() == [0, 1000, 2000]


def test_without_cuda_calls_none_lies_in_an_event() -> None:
    made = found(
        """
        t1 os poll          |xxxxxxx.............|
        t1 cudaLaunchKernel |...................a|
        """,
        end_ns=10_000,
    )

    assert made.calls == [("poll", 0, 7)]
    assert made.of_call == [ABSENT]


@pytest.mark.parametrize(
    ("call", "frees"),
    [
        *(("cudaFree", True), ("cuMemFree", True), ("cudaFreeAsync", False)),
        *(("cudaFreeHost", False), ("cudaMalloc", False), ("cudaMemcpyAsync", False)),
    ],
)
def test_only_device_memory_is_freed_by_waiting(call: str, frees: bool) -> None:
    assert found(f"t1 {call} |aaa|").events.frees.tolist() == [frees]
    assert found(f"t1 os {call} |aaaaaa|").events.frees.tolist() == [False]


def test_no_calls_are_no_events() -> None:
    made = found("s7 kernel k |aaa|")

    assert (len(made.events), made.of_call) == (0, [])
