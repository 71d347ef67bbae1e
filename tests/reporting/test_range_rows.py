"""Rows of NVTX ranges: levels that never overlap themselves, few however many ranges there are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlapcheck.pipeline import analyze
from overlapcheck.reporting import timeline as timelines
from overlapcheck.reporting.range_rows import MAX_LEVELS, MAX_THREADS, range_rows
from overlapcheck.selection import Selection
from overlapcheck.timeline import EventKind, RowRole
from overlapcheck.trace_tables import Ranges
from tests.export import RealExport
from tests.pictures import picture

NESTED = """
s7 kernel fwd        |..aaaa..bbbb..cccc..|
t1 cudaLaunchKernel  |..a.....b.....c.....|
t1 nvtx epoch        |xxxxxxxxxxxxxxxxxxxx|
t1 nvtx step 1       |..xxxxxx............|
t1 nvtx step 2       |........xxxxxx......|
t1 nvtx forward      |..xxx...............|
t2 nvtx loader       |...xxxxx............|
"""


def ranges_of(rows: list[tuple[int, int, int]]) -> Ranges:
    """From (tid, start, length), in the order that a trace has them in."""
    tid, start, length = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    order = np.lexsort((-(start + length), start))
    end = start + length
    name = np.arange(len(rows), dtype=np.int64)
    return Ranges(start[order], end[order], np.zeros_like(start), tid[order], name[order])


def test_each_level_of_a_thread_has_a_row(tmp_path: Path) -> None:
    path = picture(NESTED, column_us=100).export(tmp_path / "nested.sqlite")
    (device,) = analyze(path, selection=Selection(skip=0)).devices
    timeline = device.timeline
    assert timeline is not None

    rows = [n for n, row in enumerate(timeline.rows) if row.role is RowRole.RANGES]
    names = [
        [timeline.names[n] for n in timeline.events.name[timeline.events.row == row].tolist()]
        for row in rows
    ]
    assert names == [["epoch"], ["step 1", "step 2"], ["forward"], ["loader"]]
    tids = [timeline.rows[row].tid for row in rows]
    assert tids[0] == tids[1] == tids[2] != tids[3]
    kinds = timeline.events.kind[np.isin(timeline.events.row, rows)]
    assert set(kinds.tolist()) == {EventKind.RANGE}


@given(
    st.lists(
        st.tuples(st.integers(1, 5), st.integers(0, 200), st.integers(0, 60)),
        min_size=1,
        max_size=60,
    )
)
def test_levels_never_overlap_themselves_and_are_few(rows: list[tuple[int, int, int]]) -> None:
    made = range_rows(ranges_of(rows), {}, 7, 1000)

    assert [part.row for part in made.parts] == list(range(7, 7 + len(made.rows)))
    assert len({row.tid for row in made.rows}) <= MAX_THREADS
    assert len(made.rows) <= MAX_THREADS * MAX_LEVELS
    for part in made.parts:
        assert len(part) > 0
        assert (part.start_ns[1:] >= part.end_ns[:-1]).all()
    drawn = [name for part in made.parts for name in part.name.tolist()]
    assert len(drawn) == len(set(drawn)), "a range is drawn once"
    if not any("left out" in row.note for row in made.rows) and len({r[0] for r in rows}) <= 3:
        assert len(drawn) == len(rows)


def test_deeper_levels_are_left_out_and_said_to_be() -> None:
    made = range_rows(ranges_of([(1, n, 100 - 2 * n) for n in range(10)]), {1: "main"}, 0, 100)

    assert len(made.rows) == MAX_LEVELS
    assert ["left out" in row.note for row in made.rows] == [False] * (MAX_LEVELS - 1) + [True]
    assert {row.label for row in made.rows} == {"main"}


def test_names_of_ranges_crowd_out_no_kernel(
    real_export: RealExport, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = analyze(real_export("pt_pageable")).devices[0].timeline
    assert whole is not None
    of_ranges = whole.events.kind == EventKind.RANGE
    others = set(whole.events.name[~of_ranges].tolist())
    monkeypatch.setattr(timelines, "MAX_NAMES", len(others))

    timeline = analyze(real_export("pt_pageable")).devices[0].timeline

    assert timeline is not None
    assert set(timeline.names[:-1]) == {whole.names[n] for n in others}
