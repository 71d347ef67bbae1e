"""Device time of NVTX ranges: what belongs to them, and what is measured inside them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapcheck.copies import Direction
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.time_use import RangeUse
from overlapcheck.trace import Trace, rows_or_none
from overlapcheck.trace_tables import ApiCalls, Copies, Kernels, Memsets, Ranges
from tests.export import RealExport
from tests.pictures import Picture, device_of, picture

HERE_HIDDEN_THERE_EXPOSED = """
s7  kernel k         |.aaaaaaaa.......cccc..|
s13 h2d pinned 1B    |...bbbb....dddd.......|
t1  cudaLaunchKernel |a..............c......|
t1  cudaMemcpyAsync  |.b........d...........|
t1  nvtx forward     |xxxx..................|
t1  nvtx load        |.........xxxxxxxx.....|
"""


def used(drawing: Picture, pattern: str, **selection: object) -> RangeUse:
    """The use of one pattern on the only device."""
    (found,) = drawing.device(ranges=(pattern,), **selection).ranges
    return found


def time(rows: str, pattern: str = "part", **selection: object) -> list[tuple[int, int]]:
    """Device time of a pattern in columns of a picture."""
    found = used(picture(rows), pattern, **selection)
    return [(start // 1000, end // 1000) for start, end in found.time]


def test_copies_are_hidden_in_one_range_and_exposed_in_another() -> None:
    device = picture(HERE_HIDDEN_THERE_EXPOSED).device(ranges=("forward", "load"))
    forward, load = device.ranges
    hidden, exposed = forward.copies[Direction.H2D], load.copies[Direction.H2D]

    assert list(forward.time) == [(1_000, 9_000)]
    assert (forward.length_ns, forward.compute_ns, forward.idle_ns) == (8_000, 8_000, 0)
    assert (hidden.copy_ns, hidden.hidden_ns, hidden.overlap) == (4_000, 4_000, 1.0)
    assert forward.recoverable == 0
    assert list(load.time) == [(11_000, 20_000)]
    assert (load.length_ns, load.compute_ns, load.idle_ns) == (9_000, 4_000, 5_000)
    assert (exposed.copy_ns, exposed.hidden_ns, exposed.overlap) == (4_000, 0, 0.0)
    assert (exposed.ceiling, exposed.could_win_ns) == (1.0, 4_000)
    assert load.recoverable == pytest.approx(5 / 9)
    assert (forward.key, load.pattern) == (device.key, "load")


def test_nothing_is_measured_unless_it_is_named() -> None:
    assert picture(HERE_HIDDEN_THERE_EXPOSED).device().ranges == ()


def test_work_belongs_to_the_range_that_is_open_whatever_thread_launches() -> None:
    assert time("""
        s7 kernel k         |...aa.bb.cc.|
        t1 cudaLaunchKernel |a.......c...|
        t2 cudaLaunchKernel |..b.........|
        t1 nvtx part        |.xxxx.......|
        """) == [(6, 8)]


def test_a_call_that_starts_when_the_range_closes_is_outside() -> None:
    rows = """
        s7 kernel k         |......aa..bb|
        t1 cudaLaunchKernel |..a..b......|
        t1 nvtx part        |..xxx.......|
        """
    assert time(rows) == [(6, 8)]


def test_copies_and_memsets_are_work_too() -> None:
    assert time("""
        s7  kernel k         |a....bb.......|
        s13 d2h pinned 1B    |.......ccc....|
        s14 memset 1B        |..........dd..|
        t1  cudaLaunchKernel |a.b...........|
        t1  cudaMemcpyAsync  |...c..........|
        t1  cudaMemsetAsync  |....d.........|
        t1  nvtx part        |..xxx.........|
        """, window_ns=(0, 14_000)) == [(5, 12)]  # fmt: skip


def test_a_graph_launched_in_a_range_is_its_work() -> None:
    found = used(
        picture("""
        s7 kernel k         |a......bb.|
        s7 graph            |..hgggg...|
        t1 cudaLaunchKernel |a.b.......|
        t1 cudaGraphLaunch  |hg........|
        t1 nvtx part        |.xx.......|
        """),
        "part",
    )

    assert list(found.time) == [(3_000, 9_000)]
    assert list(found.opaque) == [(3_000, 7_000)]


def test_a_kernel_without_a_launch_row_belongs_to_none() -> None:
    assert (
        time("""
        s7 kernel k         |a...bb|
        t1 cudaLaunchKernel |a.....|
        t1 nvtx part        |.xxxxx|
        """)
        == []
    )


def test_other_work_that_runs_meanwhile_counts_inside() -> None:
    """The stretch is what is judged: compute of others hides the range's copy."""
    found = used(
        picture("""
        s7  kernel k         |.aaaaaa...|
        s13 h2d pinned 1B    |....bbbbb.|
        t1  cudaLaunchKernel |a.........|
        t1  cudaMemcpyAsync  |..b.......|
        t1  nvtx load        |..x.......|
        """),
        "load",
        window_ns=(0, 10_000),
    )

    assert list(found.time) == [(4_000, 9_000)]
    assert found.copies[Direction.H2D].overlap == pytest.approx(3 / 5)
    assert found.compute_ns == 3_000


def test_only_copies_that_touch_the_range_are_counted() -> None:
    found = used(picture(HERE_HIDDEN_THERE_EXPOSED.replace("1B", "64KiB")), "load")
    copies = found.copies[Direction.H2D]

    assert (copies.count, copies.bytes, copies.pageable_count) == (1, 64 << 10, 0)


@pytest.mark.parametrize("memory", ["pageable", "pinned"])
def test_copy_time_of_each_memory_is_that_inside_the_range(memory: str) -> None:
    found = used(
        picture(f"""
        s7  kernel k         |.aaaa.........|
        s13 h2d {memory} 1B  |..bbbbbb......|
        t1  cudaLaunchKernel |a.............|
        t1  cudaMemcpyAsync  |.b............|
        t1  nvtx part        |x.............|
        """),
        "part",
        window_ns=(0, 14_000),
    )
    copies = found.copies[Direction.H2D]

    of_memory = {"pageable": copies.pageable, "pinned": copies.pinned}
    assert list(of_memory.pop(memory)) == [(2_000, 5_000)]
    assert [other.total_ns for other in of_memory.values()] == [0]
    assert (copies.copy_ns, found.bound_ns) == (3_000, 4_000)


def test_communication_is_clipped_too() -> None:
    found = used(
        picture("""
        s7 kernel k          |.aaaa.......dd|
        s8 kernel ncclKernel |...bbbb..ccc..|
        t1 cudaLaunchKernel  |a.........d...|
        t1 cuLaunchKernel    |.b.....c......|
        t1 nvtx part         |xx............|
        """),
        "part",
    )

    assert list(found.time) == [(1_000, 7_000)]
    assert (found.communication.total_ns, found.communication_hidden_ns) == (4_000, 2_000)


# ---- instances


def test_repeated_instances_stay_apart_even_side_by_side() -> None:
    found = used(
        picture("""
        s7 kernel k         |..aa......bb..cc|
        t1 cudaLaunchKernel |a...b.....c.....|
        t1 nvtx part        |xxxxyyyyyyzzzzzz|
        """),
        "part",
    )

    assert list(found.time) == [(2_000, 4_000), (10_000, 12_000), (14_000, 16_000)]
    assert (found.closed, found.instances) == (3, 3)


NESTED = """
s7 kernel k          |..aa......bb......cc|
t1 cudaLaunchKernel  |a...b......c........|
t1 nvtx forward      |xxxxxx..............|
t1 nvtx forward/head |xx..................|
"""


def test_an_instance_inside_another_adds_nothing() -> None:
    assert time(NESTED, "forward") == [(2, 12)]
    assert time(NESTED, "forward/head") == [(2, 4)]
    assert time(NESTED, "forward*") == [(2, 12)]
    assert used(picture(NESTED), "forward*").instances == 2


def test_instances_that_share_a_launch_are_one_stretch_and_others_are_not() -> None:
    shared = """
        s7 kernel k         |..aa....bb....cc|
        t1 cudaLaunchKernel |a...b...c.......|
        t1 nvtx part        |xxxxxx..........|
        t2 nvtx part        |...xxxxxxx......|
        """

    # With b: 2 to 10, and 8 to 16. Without it neither reaches the other.
    assert time(shared) == [(2, 16)]
    assert time(shared.replace("|a...b...c", "|a.......c").replace("bb", "..")) == [
        (2, 4),
        (14, 16),
    ]


def test_device_time_is_cut_at_the_window() -> None:
    rows = """
        s7 kernel k         |.aaaa...bbbb..cc|
        t1 cudaLaunchKernel |a......b.....c..|
        t1 nvtx part        |x......y.....z..|
        """
    found = used(picture(rows), "part", window_ns=(3_000, 10_000))

    assert list(found.time) == [(3_000, 5_000), (8_000, 10_000)]
    assert (found.closed, found.instances, found.compute_ns) == (3, 2, 4_000)


def test_warm_up_is_no_part_of_it() -> None:
    found = used(
        picture("""
        s7 kernel k         |..aa...bb...cc..|
        t1 cudaLaunchKernel |a.....b....c....|
        t1 nvtx step        |00000111112222..|
        t1 nvtx part        |x.....x....x....|
        """),
        "part",
        skip=1,
    )

    assert list(found.time) == [(7_000, 9_000), (12_000, 14_000)]
    assert (found.closed, found.instances) == (3, 2)


@pytest.mark.parametrize(
    ("pattern", "closed"), [("idle", 1), ("nowhere", 0), ("Part", 0), ("part", 1)]
)
def test_what_has_no_work_in_the_window_has_no_time(pattern: str, closed: int) -> None:
    rows = """
        s7 kernel k         |.aa.....bb..|
        t1 cudaLaunchKernel |a......b....|
        t1 nvtx idle        |...xxx......|
        t1 nvtx part        |xx..........|
        """
    found = used(picture(rows), pattern, window_ns=(5_000, 12_000))

    assert (list(found.time), found.closed, found.instances) == ([], closed, 0)
    assert (found.length_ns, found.recoverable, found.copies) == (0, None, {})


def test_a_trace_without_any_launch_has_no_device_time() -> None:
    assert time("s7 kernel k |aa.bb|\nt1 nvtx part |xxxxx|") == []


def test_patterns_are_those_of_allowed_calls() -> None:
    rows = NESTED.replace("forward/head", "forward 0[x]")

    assert time(rows, "forward ?[[]x]") == [(2, 4)]
    assert time(rows, "*") == [(2, 12)]


# ---- devices and processes

TWO = """
p1 gpu0 s7 kernel k    |.aaaa.......|
p1 gpu1 s7 kernel k    |...bb...cc..|
p1 t1 cudaLaunchKernel |ab.....c....|
p1 t1 nvtx part        |xxx.........|
p2 gpu0 s7 kernel k    |......dd.ee.|
p2 t1 cudaLaunchKernel |.d....e.....|
p2 t1 nvtx part        |......x.....|
"""


def test_each_device_of_each_process_has_its_own() -> None:
    devices = picture(TWO).measure(ranges=("part",)).devices

    assert {device.key: list(device.ranges[0].time) for device in devices} == {
        device_of(1): [(1_000, 5_000)],
        device_of(1, 1): [(3_000, 5_000)],
        device_of(2): [(9_000, 11_000)],
    }


# ---- against the definition, operation by operation


def launched(trace: Trace, device: DeviceMeasurements) -> list[tuple[int, int, int]]:
    """Launch, start and end of each operation of a device."""
    process, device_id = device.process, device.key.device_id
    calls = rows_or_none(trace.api_calls, ApiCalls)
    own = calls.rows(calls.process == process)
    started = dict(zip(own.correlation_id.tolist(), own.start_ns.tolist(), strict=True))
    found = []
    for table, kind in (
        (trace.kernels, Kernels),
        (trace.copies, Copies),
        (trace.memsets, Memsets),
    ):
        rows: Any = rows_or_none(table, kind)
        rows = rows.rows((rows.process == process) & (rows.device_id == device_id))
        found += [
            (started[call], start, end)
            for call, start, end in zip(
                rows.correlation_id.tolist(), rows.start_ns.tolist(), rows.end_ns.tolist(),
                strict=True,
            )
            if call in started
        ]  # fmt: skip
    return found


def slowly(
    trace: Trace, device: DeviceMeasurements, work: list[tuple[int, int, int]], pattern: str
) -> Intervals:
    """The definition: every instance, every operation."""
    ranges, window = rows_or_none(trace.ranges, Ranges), device.window
    pieces = []
    for i in range(len(ranges)):
        name = trace.strings.text(int(ranges.name_id[i]))
        if ranges.process[i] == device.process and fnmatchcase(name, pattern):
            opened, closed = int(ranges.start_ns[i]), int(ranges.end_ns[i])
            own = [(start, end) for at, start, end in work if opened <= at < closed]
            if any(start < window.end_ns and end > window.start_ns for start, end in own):
                pieces.append((min(start for start, _ in own), max(end for _, end in own)))
    return Intervals.pairs(pieces).clip(window.start_ns, window.end_ns)


@pytest.mark.parametrize("name", ["pt_pageable", "cu_double_buffer", "ddp_bucketed", "pt_graph"])
def test_real_ranges_have_the_device_time_of_the_definition(
    name: str, real_export: RealExport
) -> None:
    trace = read_trace(real_export(name))
    patterns = ("*", "compute", "step *", "chunk 1?", "step 4")
    devices = measure(trace, Selection(skip=3, ranges=patterns)).devices

    assert any(use.time for device in devices for use in device.ranges)
    for device in devices:
        work = launched(trace, device)
        for use in device.ranges:
            assert use.time == slowly(trace, device, work, use.pattern), use.pattern
            assert use.compute == device.compute & use.time
            assert use.compute_ns + use.idle_ns == use.length_ns


COLUMNS = 30


@st.composite
def nested_ranges(draw: st.DrawFn) -> Picture:
    """Kernels on two streams, launched by two threads, under ranges that cross each other."""
    marks = "abcdefgh"[: draw(st.integers(1, 8))]
    rows = []
    for mark in marks:
        start = draw(st.integers(0, COLUMNS - 2))
        length = draw(st.integers(1, min(6, COLUMNS - start)))
        rows.append(_row(f"s{draw(st.sampled_from((7, 13)))} kernel k{mark}", mark, start, length))
        launched = draw(st.integers(0, COLUMNS - 1))
        thread = draw(st.sampled_from(("t1", "t2")))
        if draw(st.integers(0, 9)):
            rows.append(_row(f"{thread} cudaLaunchKernel", mark, launched, 1))
    for number in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, COLUMNS - 2))
        length = draw(st.integers(1, COLUMNS - start))
        rows.append(
            _row(f"t{number % 2 + 1} nvtx {draw(st.sampled_from('pq'))}", "x", start, length)
        )
    return picture("\n".join(rows))


def _row(what: str, mark: str, start: int, length: int) -> str:
    return f"{what} |{('.' * start + mark * length).ljust(COLUMNS, '.')}|"


@settings(max_examples=80, deadline=None)
@given(nested_ranges(), st.sampled_from((None, (5_000, 20_000))))
def test_random_ranges_have_the_device_time_of_the_definition(
    drawing: Picture, window_ns: tuple[int, int] | None
) -> None:
    trace = drawing.trace()
    selection = Selection(skip=0, window_ns=window_ns, ranges=("p", "q", "*"))

    for device in measure(trace, selection).devices:
        for use in device.ranges:
            assert use.time == slowly(trace, device, launched(trace, device), use.pattern)


@pytest.mark.parametrize(("until_ns", "instances"), [(5_000, 1), (5_001, 2)])
def test_work_that_begins_when_the_window_ends_is_not_in_it(until_ns: int, instances: int) -> None:
    drawing = picture("""
        s7 kernel k         |.aa..bb..|
        t1 cudaLaunchKernel |a...b....|
        t1 nvtx part        |x...y....|
        """)

    assert used(drawing, "part", window_ns=(0, until_ns)).instances == instances


@pytest.mark.parametrize(("from_ns", "instances"), [(3_000, 1), (2_999, 2)])
def test_work_that_ends_when_the_window_begins_is_not_in_it(from_ns: int, instances: int) -> None:
    drawing = picture("""
        s7 kernel k         |.aa..bb..|
        t1 cudaLaunchKernel |a...b....|
        t1 nvtx part        |x...y....|
        """)

    assert used(drawing, "part", window_ns=(from_ns, 9_000)).instances == instances


@pytest.mark.parametrize(("until", "count"), [(4.0, 0), (4.001, 1)])
def test_a_copy_that_ends_when_the_range_begins_is_not_counted(until: float, count: int) -> None:
    drawing = picture(
        """
        s7  kernel k         |....aaaa......|
        s13 h2d pinned 1B    |..b...........|
        t1  cudaLaunchKernel |a.............|
        t1  nvtx part        |xx............|
        """,
        gpu_us={"b": [2.0, until]},
    )
    copies = used(drawing, "part", window_ns=(0, 14_000)).copies

    assert sum(found.count for found in copies.values()) == count


def test_kernels_that_unified_memory_stalls_are_told_inside_the_range_only() -> None:
    found = used(
        picture("""
        s7  kernel k         |.aaaaaa.bbbbb.|
        uvm h2d 64KiB        |....xx...yyy..|
        t1  cudaLaunchKernel |a......b......|
        t1  nvtx part        |.......xx.....|
        """),
        "part",
    )

    assert list(found.time) == [(8_000, 13_000)]
    assert list(found.stalled) == [(9_000, 12_000)]
