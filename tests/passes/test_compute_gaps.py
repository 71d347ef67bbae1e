from __future__ import annotations

from overlapcheck.columns import ABSENT
from overlapcheck.intervals import Intervals
from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from tests.export import RealExport
from tests.pictures import Picture, picture


def gaps_of(drawing: Picture, **selection: object) -> list[tuple[int, int, int, str, str, int]]:
    """(stream, start us, end us, before, after, copy us) of each gap, the device's first."""
    trace = drawing.trace()
    (device,) = measure(trace, Selection(**({"skip": 0} | selection))).devices  # type: ignore[arg-type]
    text = trace.strings.text
    return [
        (
            int(gaps.stream_id[i]),
            int(gaps.start_ns[i]) // 1000,
            int(gaps.end_ns[i]) // 1000,
            text(int(gaps.before_name_id[i])),
            text(int(gaps.after_name_id[i])),
            int(gaps.copy_ns[i]) // 1000,
        )
        for gaps in (device.gaps, *device.stream_gaps)
        for i in range(len(gaps))
    ]


def test_gaps_have_their_neighbours_and_come_in_order_of_time() -> None:
    gaps = gaps_of(
        picture("""
        s7 kernel fwd |aa..........dd|
        s8 kernel bwd |....bbbb......|
        """)
    )

    assert gaps == [
        (ABSENT, 2, 4, "fwd", "bwd", 0),
        (ABSENT, 8, 12, "bwd", "fwd", 0),
        (7, 2, 12, "fwd", "fwd", 0),
    ]


def test_the_only_streams_gaps_are_the_devices() -> None:
    gaps = gaps_of(picture("s7 kernel k |aa..bb|"))

    assert gaps == [(ABSENT, 2, 4, "k", "k", 0), (7, 2, 4, "k", "k", 0)]


def test_touching_kernels_leave_no_gap() -> None:
    assert gaps_of(picture("s7 kernel k |aaabbb|")) == []


def test_copy_time_is_idle_time_and_says_how_much_of_it_copies_fill() -> None:
    (gap, _) = gaps_of(
        picture("""
        s7  kernel k      |aa......bb|
        s13 h2d pinned 1B |.ccccc....|
        s14 d2h pinned 1B |....dd....|
        """)
    )

    assert gap == (ABSENT, 2, 8, "k", "k", 4)


def test_a_memset_fills_no_gap() -> None:
    gaps = gaps_of(picture("s7 kernel k |aa..bb|\ns7 memset 1B |..cc..|"))

    assert gaps[0] == (ABSENT, 2, 4, "k", "k", 0)


def test_gaps_at_the_edges_of_the_window_have_one_neighbour() -> None:
    gaps = gaps_of(picture("s7 kernel k |..aa....|"), window_ns=(0, 8_000))

    assert gaps == [(ABSENT, 0, 2, "", "k", 0), (ABSENT, 4, 8, "k", "", 0)]


def test_communication_is_a_gap_of_compute() -> None:
    gaps = gaps_of(
        picture("""
        s7 kernel k          |aa....bb|
        s8 kernel ncclKernel |..cccc..|
        """)
    )

    assert (ABSENT, 2, 6, "k", "k", 0) in gaps


def test_the_device_is_idle_exactly_in_its_gaps() -> None:
    device = picture("""
        s7 kernel k |aa....bb..cc|
        s8 kernel k |...dd.......|
        """).device()

    assert Intervals.of(device.gaps.start_ns, device.gaps.end_ns) == device.idle
    assert device.idle_ns == 4_000


def test_opaque_blocks_have_no_name() -> None:
    gaps = gaps_of(picture("s7 graph |aa....|\ns7 kernel k |....bb|"))

    assert gaps[0] == (ABSENT, 2, 4, "", "k", 0)


def test_gaps_of_a_real_trace_add_up_to_its_idle_time(real_export: RealExport) -> None:
    path = real_export("pt_pageable")
    (device,) = measure(read_trace(path), Selection(skip=3)).devices

    assert int((device.gaps.end_ns - device.gaps.start_ns).sum()) == device.idle_ns
