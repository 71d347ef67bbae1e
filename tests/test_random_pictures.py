"""Laws that hold whatever a program does, on drawings made at random."""

from __future__ import annotations

import json
import string
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from overlapcheck import pipeline
from overlapcheck.renderers import renderers
from overlapcheck.report import Report
from overlapcheck.selection import Selection
from tests.pictures import Picture, picture

COLUMNS = 24
GPU_ROWS = (
    "kernel fwd",
    "kernel bwd",
    "kernel ncclDevKernel_AllReduce",
    "graph",
    "h2d pageable 64MiB",
    "h2d pinned 1MiB",
    "d2h pinned 4B",
    "d2h pageable 4KiB",
    "d2d 1MiB",
    "p2p 1MiB from gpu1",
    "memset 4KiB",
)
CALLS = (
    "cudaLaunchKernel",
    "cudaMemcpyAsync",
    "cudaMemcpy",
    "cudaGraphLaunch",
    "cudaMemsetAsync",
    "cudaStreamSynchronize",
    "cudaDeviceSynchronize",
    "cudaMalloc",
    "cuModuleLoadData",
    "cudaStreamWaitEvent",
    "cudaStreamBeginCapture",
)


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    """A few streams and threads with arbitrary work, half of it launched by a drawn call."""
    letters = iter(string.ascii_letters)
    rows = []
    launched: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        place = draw(st.sampled_from(("s7", "s13", "s14", "gpu1 s7")))
        cells, marks = _cells(draw, letters)
        launched += [mark for mark in marks if draw(st.booleans())]
        rows.append(f"{place} {draw(st.sampled_from(GPU_ROWS))} |{cells}|")
    for mark in launched:
        start = draw(st.integers(0, COLUMNS - 1))
        length = draw(st.integers(1, min(4, COLUMNS - start)))
        cells = "." * start + mark * length
        thread = draw(st.sampled_from(("t1", "t2")))
        rows.append(f"{thread} {draw(st.sampled_from(CALLS))} |{cells.ljust(COLUMNS, '.')}|")
    for _ in range(draw(st.integers(0, 2))):
        cells, _ = _cells(draw, letters)
        rows.append(f"t1 {draw(st.sampled_from(CALLS))} |{cells}|")
    if draw(st.booleans()):
        rows.append(f"t1 nvtx step |{'0' * 8}{'1' * 8}{'2' * 8}|")
    if draw(st.booleans()):
        rows.append(f"t1 os poll |{'..xxxx'.ljust(COLUMNS, '.')}|")
    return picture(
        "\n".join(rows),
        column_us=draw(st.sampled_from((1, 50))),
        repeat=draw(st.sampled_from((1, 1, 4))),
        streams={"7": "null", "13": "non-blocking", "14": "blocking"},
    )


def _cells(draw: st.DrawFn, letters: Iterator[str]) -> tuple[str, list[str]]:
    cells = ""
    marks: list[str] = []
    while len(cells) < COLUMNS and len(marks) < 4:
        mark = next(letters)
        cells += "." * draw(st.integers(0, 6)) + mark * draw(st.integers(1, 8))
        if mark in cells[:COLUMNS]:
            marks.append(mark)
    return cells[:COLUMNS].ljust(COLUMNS, "."), marks


def analysed(drawing: Picture, skip: int | None) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        path = drawing.export(Path(folder) / "random.sqlite")
        return pipeline.analyze(path, selection=Selection(skip=skip))


@settings(max_examples=120)
@given(pictures(), st.sampled_from((None, 0, 1)))
def test_the_laws_of_conservation_hold(drawing: Picture, skip: int | None) -> None:
    report = analysed(drawing, skip)

    for device in report.devices:
        assert device.compute_ns + device.idle_ns == device.window_ns
        assert sum(entry.ns for entry in device.ledger) == device.idle_ns
        assert 0 <= device.bound_ns <= device.window_ns
        assert 0 <= device.communication_hidden_ns <= device.communication_ns
        assert sum(gap.end_ns - gap.start_ns for gap in device.gaps) <= device.idle_ns
        for copies in device.copies.values():
            assert copies.hidden_ns + copies.exposed_ns == copies.copy_ns <= device.window_ns
            assert copies.hidden_ns <= device.compute_ns
            assert copies.overlap is None or 0 <= copies.overlap <= (copies.ceiling or 0)
        for call in device.blocking:
            assert 0 <= call.idle_ns <= call.total_ns <= device.window_ns
    for finding in report.findings:
        assert 0 < finding.share <= 1


@settings(max_examples=60)
@given(pictures())
def test_every_report_can_be_shown_in_every_format(drawing: Picture) -> None:
    report = analysed(drawing, None)
    texts = {name: renderer.render(report) for name, renderer in renderers().items()}

    assert json.loads(texts["json"])["verdict"]["outcome"] == report.verdict.outcome
    assert max(map(len, texts["terminal"].splitlines())) <= 80
    assert report.verdict.outcome in texts["terminal"].splitlines()[0]
