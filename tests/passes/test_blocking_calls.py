from __future__ import annotations

from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from tests.export import RealExport
from tests.pictures import Picture, picture, tid_of


def blocking(drawing: Picture, **selection: object) -> list[tuple[str, int, int, int, int]]:
    """(API, thread, count, total us, idle us) in order."""
    trace = drawing.trace()
    (device,) = measure(trace, Selection(**({"skip": 0} | selection))).devices  # type: ignore[arg-type]
    calls = device.blocking
    return [
        (
            trace.strings.text(int(calls.name_id[i])),
            int(calls.tid[i]) - tid_of(1, 0),
            int(calls.count[i]),
            int(calls.total_ns[i]) // 1000,
            int(calls.idle_ns[i]) // 1000,
        )
        for i in range(len(calls))
    ]


def test_a_long_call_held_its_thread_and_costs_the_idle_time_within() -> None:
    calls = blocking(
        picture(
            """
            s7  kernel k              |aaaa....bb|
            s13 h2d pageable 64MiB    |..cccc....|
            t1  cudaMemcpyAsync       |.ccccc....|
            """,
            column_us=10,
        )
    )

    assert calls == [("cudaMemcpyAsync", 1, 1, 50, 20)]


def test_calls_shorter_than_twenty_microseconds_hold_nobody() -> None:
    drawing = """
        s7 kernel k               |aaaaaaaaaa|
        t1 cudaStreamSynchronize  |.c........|
        t1 cudaDeviceSynchronize  |...dd.....|
        """

    assert blocking(picture(drawing, column_us=10)) == [("cudaDeviceSynchronize", 1, 1, 20, 0)]


def test_making_a_stream_wait_for_an_event_holds_no_thread() -> None:
    calls = blocking(
        picture(
            """
            s7  kernel k            |aaaa......bb|
            t1  cudaEventRecord     |e...........|
            t1  cudaStreamWaitEvent |.w..........|
            """,
            column_us=10,
            records=[{"call": "e", "stream": 14}],
            waits=[{"call": "w", "stream": 7, "record": "e"}],
        )
    )

    assert calls == []


def test_wait_event_is_never_listed_in_a_real_trace(real_export: RealExport) -> None:
    for name in ("cu_double_buffer", "pt_capture_range"):
        trace = read_trace(real_export(name))
        (device,) = measure(trace, Selection()).devices
        names = {trace.strings.text(int(i)) for i in device.blocking.name_id}

        assert "cudaStreamWaitEvent" in trace.strings.texts.values()
        assert not any("WaitEvent" in listed for listed in names)


def test_calls_are_grouped_by_api_and_thread() -> None:
    calls = blocking(
        picture(
            """
            s7 kernel k              |aaaaaaaaaaaaaaaaaaaa|
            t1 cudaStreamSynchronize |ccc...ddd...........|
            t1 cudaDeviceSynchronize |.........eee........|
            t2 cudaStreamSynchronize |..ffff..............|
            """,
            column_us=10,
        )
    )

    assert calls == [
        ("cudaStreamSynchronize", 1, 2, 60, 0),
        ("cudaStreamSynchronize", 2, 1, 40, 0),
        ("cudaDeviceSynchronize", 1, 1, 30, 0),
    ]


def test_the_costliest_in_idle_time_comes_first() -> None:
    calls = blocking(
        picture(
            """
            s7 kernel k              |aaaaaaaaaa...b|
            t1 cudaStreamSynchronize |cccccccc......|
            t1 cudaMalloc            |..........ddd.|
            """,
            column_us=10,
        )
    )

    assert [name for name, *_ in calls] == ["cudaMalloc", "cudaStreamSynchronize"]


def test_calls_are_clipped_to_the_window() -> None:
    calls = blocking(
        picture(
            """
            s7 kernel k              |....aa....bb....|
            t1 cudaStreamSynchronize |..cccc....ddddd.|
            t1 cudaMalloc            |ee............ff|
            """,
            column_us=10,
        )
    )

    assert calls == [("cudaStreamSynchronize", 1, 2, 40, 0)]


def test_calls_of_two_processes_do_not_mix() -> None:
    one, two = (
        picture(
            """
        p1 s7 kernel k              |aaaaaa|
        p2 s7 kernel k              |bbbbbb|
        p1 t1 cudaStreamSynchronize |.ccc..|
        """,
            column_us=10,
        )
        .measure()
        .devices
    )

    assert (len(one.blocking), len(two.blocking)) == (1, 0)


def test_the_longest_call_can_be_found_again() -> None:
    (device,) = (
        picture(
            """
        s7 kernel k              |aaaaaaaaaaaaaa|
        t1 cudaStreamSynchronize |ccc..ddddd....|
        """,
            column_us=10,
        )
        .measure()
        .devices
    )

    assert device.blocking.longest_ns.tolist() == [50_000]
    assert device.blocking.longest_start_ns.tolist() == [50_000]


def test_a_call_inside_a_call_is_listed_under_its_own_name() -> None:
    calls = blocking(
        picture(
            """
            s7 kernel k                |aaaaaaaaaa|
            t1 cudaDeviceSynchronize   |.ccccccc..|
            t1 cuCtxSynchronize        |..ddddd...|
            """,
            column_us=10,
        )
    )

    assert calls == [("cudaDeviceSynchronize", 1, 1, 70, 0), ("cuCtxSynchronize", 1, 1, 50, 0)]
