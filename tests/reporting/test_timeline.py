"""The timeline: rows from pictures, blocks that lose nothing, chains behind the worst pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlapcheck.device_report import DeviceReport
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.pipeline import analyze
from overlapcheck.reporting.level_of_detail import Part, detail, reduced
from overlapcheck.timeline import EventKind, RowRole, Timeline
from tests.export import RealExport
from tests.pictures import picture


def timeline_of(drawing: str, folder: Path, **options: object) -> Timeline:
    path = picture(drawing, **options).export(folder / "drawn.sqlite")
    (device,) = analyze(path).devices
    assert device.timeline is not None
    return device.timeline


def events(timeline: Timeline, row: int) -> list[tuple[str, int, int, str]]:
    """Kind, start and end in us from the window's start, and name of each event of a row."""
    table = timeline.events.rows(timeline.events.row == row)
    return [
        (
            EventKind(kind).name if kind < EventKind.IDLE else Reason(kind - EventKind.IDLE).cause,
            (start - timeline.start_ns) // 1000,
            (end - timeline.start_ns) // 1000,
            timeline.names[name],
        )
        for kind, start, end, name in zip(
            table.kind.tolist(),
            table.start_ns.tolist(),
            table.end_ns.tolist(),
            table.name.tolist(),
            strict=True,
        )
    ]


COPY_WAITS = """
s7  kernel fwd               |aaaa..........bbbb|
s13 h2d pageable 64MiB       |.....cccccccc.....|
t1  cudaLaunchKernel         |a............b....|
t1  cudaMemcpyAsync          |.ccccccccccccc....|
"""


def test_rows_are_causes_streams_and_threads(tmp_path: Path) -> None:
    drawn = timeline_of(COPY_WAITS, tmp_path, column_us=100)

    roles = [(row.role, row.label) for row in drawn.rows]
    assert roles == [
        (RowRole.CAUSES, "no compute"),
        (RowRole.STREAM, "s7"),
        (RowRole.STREAM, "s13"),
        (RowRole.THREAD, "python3"),
    ]
    assert events(drawn, 1) == [("COMPUTE", 0, 400, "fwd"), ("COMPUTE", 1400, 1800, "fwd")]
    assert events(drawn, 2) == [("H2D", 500, 1300, "h2d copy from pageable memory")]
    assert ("HELD", 100, 1400, "cudaMemcpyAsync") in events(drawn, 3)
    assert int(drawn.events.bytes.sum()) == 64 << 20
    assert (drawn.recorded, drawn.resolution_ns) == (len(drawn.events), 0)


def test_the_causes_row_is_the_ledger(real_export: RealExport) -> None:
    for name in ("pt_pageable", "ddp_bucketed", "pt_graph", "fx_p2p_serial"):
        for device in analyze(real_export(name)).devices:
            assert device.timeline is not None
            table = device.timeline.events
            causes = table.rows(table.row == 0)
            spent = {
                entry.cause: int(
                    causes.busy_ns[causes.kind == EventKind.IDLE + _reason(entry.cause)].sum()
                )
                for entry in device.ledger
            }
            assert spent == {entry.cause: entry.ns for entry in device.ledger}


def _reason(cause: str) -> int:
    return next(int(reason) for reason in Reason if reason.cause == cause)


def test_the_worst_piece_carries_its_chain_in_order(tmp_path: Path) -> None:
    drawn = timeline_of(COPY_WAITS, tmp_path, column_us=100)

    first = drawn.instances[0]
    assert first.cause == "pageable-copy"
    assert [mark.role for mark in first.marks] == ["held", "idle", "waited for", "launch", "kernel"]
    rows = [drawn.rows[mark.row].label for mark in first.marks]
    assert rows == ["python3", "no compute", "s13", "python3", "s7"]
    assert [mark.start_ns for mark in first.marks] == sorted(m.start_ns for m in first.marks)
    assert first.view_start_ns <= first.start_ns < first.end_ns <= first.view_end_ns


def test_collectives_are_told_from_kernels_of_the_same_stream(tmp_path: Path) -> None:
    drawn = timeline_of(
        """
        s7 kernel fwd                     |aaa...bbb|
        s7 kernel ncclDevKernel_AllReduce |...ccc...|
        t1 cudaLaunchKernel               |a..c.....|
        """,
        tmp_path,
    )

    kinds = [kind for kind, *_ in events(drawn, 1)]
    assert kinds == ["COMPUTE", "COMMUNICATION", "COMPUTE"]


def test_every_device_gets_its_share_of_the_page(real_export: RealExport) -> None:
    devices: tuple[DeviceReport, ...] = analyze(real_export("ddp_bucketed")).devices

    assert len(devices) == 2
    for device in devices:
        assert device.timeline is not None
        assert len(device.timeline.events) <= 50_000
        assert device.timeline.start_ns == device.window.start_ns


# --- level of detail --------------------------------------------------------------------------


def part(starts: list[int], lengths: list[int], row: int = 0, kind: int = 0) -> Part:
    start = np.array(starts, dtype=np.int64)
    length = np.array(lengths, dtype=np.int64)
    return Part(row, kind, start, start + length, np.arange(start.size), length * 2)


def test_few_events_are_left_alone() -> None:
    made, resolution = reduced([part([0, 10, 20], [5, 5, 5])], Intervals.empty(), 10)

    assert resolution == 0
    assert made.count.tolist() == [1, 1, 1]


def test_short_neighbours_become_a_block_named_after_the_longest() -> None:
    starts = list(range(0, 1000, 10))
    lengths = [3] * 100
    lengths[7] = 9

    made, resolution = reduced([part(starts, lengths)], Intervals.empty(), 10)

    assert len(made) <= 10
    assert int(made.count.sum()) == 100
    assert int(made.busy_ns.sum()) == sum(lengths)
    assert made.name[0] == 7
    assert int((made.end_ns - made.start_ns).max()) <= resolution + 9


def test_long_events_and_what_is_kept_stay_whole() -> None:
    starts = [*range(0, 1000, 10), 1000]
    made, _ = reduced([part(starts, [3] * 100 + [5000])], Intervals.span(500, 550), 20)

    single = made.rows(made.count == 1)
    assert 5000 in (single.end_ns - single.start_ns).tolist()
    assert {500, 510, 520, 530, 540} <= set(single.start_ns.tolist())


@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(1, 60)), min_size=1, max_size=120),
    st.integers(2, 40),
    st.integers(1, 3),
)
def test_blocks_lose_no_event_no_time_and_no_byte(
    drawn: list[tuple[int, int]], most: int, rows: int
) -> None:
    starts = np.cumsum([gap for gap, _ in drawn]).tolist()
    lengths = [length for _, length in drawn]
    parts = [part(starts, lengths, row, row % 2) for row in range(rows)]
    kept = detail(parts, [(0, 200, 100), (1000, 3000, 2000)], most)

    made, _ = reduced(parts, kept, max(most, 2 * rows))

    assert int(made.count.sum()) == rows * len(drawn)
    assert int(made.busy_ns.sum()) == rows * sum(lengths)
    assert int(made.bytes.sum()) == 2 * rows * sum(lengths)
    assert (np.diff(made.row) >= 0).all()
    for row in range(rows):
        mine = made.rows(made.row == row)
        assert (np.diff(mine.start_ns) >= 0).all()
        assert int(mine.end_ns.max()) == max(s + n for s, n in zip(starts, lengths, strict=True))


@pytest.mark.parametrize("most", [4, 40, 400])
def test_detail_is_bounded_and_keeps_the_focus(most: int) -> None:
    parts = [part(list(range(0, 10_000, 10)), [5] * 1000)]

    kept = detail(parts, [(0, 10_000, 5_000)], most)

    inside = int(kept.overlap_with([0], [10_000])[0])
    assert inside <= most // 2 * 10 + 10
    assert kept.overlap_with([4_990], [5_010])[0] > 0
