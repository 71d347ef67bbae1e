from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from overlapcheck import pipeline
from overlapcheck.device_report import DeviceReport
from overlapcheck.renderers import renderers
from overlapcheck.renderers.terminal import TerminalRenderer
from overlapcheck.report import Report
from overlapcheck.reporting.picture import COLUMNS
from overlapcheck.selection import Selection
from overlapcheck.verdict import Outcome
from tests.export import RealExport, edit
from tests.pictures import Picture, picture, tid_of


def report(drawing: Picture, folder: Path, **selection: Any) -> Report:
    path = drawing.export(folder / "drawn.sqlite")
    return pipeline.analyze(path, selection=Selection(**({"skip": 0} | selection)))


def device(drawing: Picture, folder: Path, **selection: Any) -> DeviceReport:
    (found,) = report(drawing, folder, **selection).devices
    return found


def test_the_capture_is_summed_up_without_its_folder(tmp_path: Path) -> None:
    capture = report(
        picture(
            "s7 kernel k |aa|",
            program="python3 train.py",
            diagnostics=[
                {"severity": 2, "text": "Mind  the\n gap"},
                {"severity": 2, "text": "Mind the gap"},
            ],
        ),
        tmp_path,
    ).capture

    assert (capture.report, capture.program) == ("drawn.sqlite", "python3 train.py")
    assert (capture.nsys_version, capture.schema_version) == ("2025.3.2.0", "3.20.3")
    assert capture.messages == ("Mind the gap",)
    assert len(capture.problems) == 1


def test_a_process_is_named_by_its_executable_and_pid(tmp_path: Path) -> None:
    assert device(picture("p3 s7 kernel k |aa|"), tmp_path).process == "python3 (3000)"


def test_the_longest_gaps_of_the_device_come_first_with_their_neighbours(tmp_path: Path) -> None:
    gaps = device(
        picture("""
        s7  kernel fwd    |aa......bb..cc|
        s13 h2d pinned 1B |...ddd........|
        """),
        tmp_path,
    ).gaps

    assert [(g.start_ns, g.end_ns, g.copy_ns) for g in gaps] == [
        (2_000, 8_000, 3_000),
        (10_000, 12_000, 0),
    ]
    assert {(g.before, g.after, g.stream_id) for g in gaps} == {("fwd", "fwd", None)}


def test_blocking_calls_name_api_and_thread(tmp_path: Path) -> None:
    (call,) = device(
        picture(
            """
            s7 kernel k            |aaa...bbb|
            t2 cudaEventSynchronize |.ccccc...|
            """,
            column_us=10,
            threads={"t2": "loader"},
        ),
        tmp_path,
    ).blocking

    assert (call.api, call.thread, call.tid) == ("cudaEventSynchronize", "loader", tid_of(1, 2))
    assert (call.count, call.total_ns, call.idle_ns) == (1, 50_000, 30_000)


def test_streams_show_their_roles_and_copy_time(tmp_path: Path) -> None:
    streams = device(
        picture(
            """
            s7  kernel k      |aaaaaa|
            s13 h2d pinned 1B |.bb...|
            s13 d2h pinned 1B |...c..|
            """,
            streams={"7": "null", "13": "blocking"},
        ),
        tmp_path,
    ).streams

    assert [(s.stream_id, s.role, s.kind) for s in streams] == [
        (7, "compute", "null"),
        (13, "copy", "blocking"),
    ]
    assert streams[1].copy_ns == {"h2d": 2_000, "d2h": 1_000}


def test_only_the_busiest_streams_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    rows = "\n".join(
        f"s{number} kernel k |{'.' * number}{chr(0x0430 + number)}{'.' * (29 - number)}|"
        for number in range(1, 30)
    )
    found = device(picture(rows), tmp_path)

    assert (len(found.streams), found.streams_total) == (20, 29)


def test_the_ledger_adds_up_to_the_idle_time(real_export: RealExport) -> None:
    for name in ("pt_pageable", "cu_legacy_default", "ddp_bucketed", "pt_graph"):
        for found in pipeline.analyze(real_export(name)).devices:
            assert sum(entry.ns for entry in found.ledger) == found.idle_ns


STEPS = """
s7  kernel k         |..aaaa....bbbb....cccc....dddd|
s13 h2d pinned 1B    |....eeee....ffff....gggg......|
t1  cudaLaunchKernel |a.......b.......c.......d.....|
t1  cudaMemcpyAsync  |.e.......f.......g............|
t1  nvtx step        |000000001111111122222222333333|
"""


def test_three_steps_are_drawn_with_a_row_per_stream(tmp_path: Path) -> None:
    drawing = device(picture(STEPS), tmp_path).picture

    assert [(row.label, row.role, row.kind) for row in drawing.rows] == [
        ("s7", "compute", ""),
        ("s13", "copy", "h2d"),
    ]
    assert [text for _, text in drawing.ticks] == ["step 1", "step 2", "step 3"]
    assert [column for column, _ in drawing.ticks] == [0, COLUMNS // 3, COLUMNS * 2 // 3]
    assert (drawing.start_ns, drawing.end_ns) == (6_000, 30_000)


@pytest.mark.parametrize("name", ["step {'epoch':", "step {}", "step {loss}"])
def test_steps_may_have_braces_in_their_name(name: str, tmp_path: Path) -> None:
    drawing = device(picture(STEPS.replace("nvtx step ", f"nvtx {name} ")), tmp_path).picture

    assert len(drawing.ticks) == 3


def test_cells_hold_the_busy_share_of_their_time(tmp_path: Path) -> None:
    compute, copy = device(picture(STEPS), tmp_path).picture.rows

    # Kernels run 12 of the 24 drawn microseconds; of the first copy only half lies in them.
    for row, busy_us in ((compute, 12), (copy, 10)):
        assert len(row.cells) == COLUMNS
        assert all(0 <= cell <= 1 for cell in row.cells)
        assert sum(row.cells) / COLUMNS == pytest.approx(busy_us / 24, abs=0.01)
    assert (compute.cells[0], copy.cells[0]) == (0.0, 1.0)
    assert compute.cells[COLUMNS // 4] == 1.0


def test_a_short_operation_does_not_vanish(tmp_path: Path) -> None:
    (row,) = device(
        picture("s7 kernel k |a...................b|", column_us=10, gpu_us={"a": [0, 0.5]}),
        tmp_path,
    ).picture.rows

    assert 0 < row.cells[0] < 0.2


def test_a_damaged_time_is_drawn_without_a_warning(tmp_path: Path) -> None:
    path = picture("s7 kernel k |aa..bb|\nt1 cudaLaunchKernel |a..b..|").export(
        tmp_path / "drawn.sqlite"
    )
    edit(path, 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = 9223372036854775807 WHERE rowid = 2')
    (found,) = pipeline.analyze(path).devices

    assert found.picture.end_ns == 2**63 - 1


def test_the_longest_held_thread_is_drawn(tmp_path: Path) -> None:
    rows = device(
        picture(
            """
            s7 kernel k              |aaaaaaaaaaaa|
            t1 cudaStreamSynchronize |..cccccc....|
            t2 cudaDeviceSynchronize |.........dd.|
            """,
            column_us=10,
        ),
        tmp_path,
    ).picture.rows

    host = rows[-1]
    assert (host.role, host.label, host.kind) == ("host", "python3", "cudaStreamSynchronize")
    assert host.note.endswith("50.0 %")


def test_long_copies_within_the_device_are_drawn_and_short_ones_are_not(tmp_path: Path) -> None:
    def kinds(copies: str) -> list[str]:
        rows = device(
            picture(f"s7 kernel k |{'a' * 40}|\ns8 d2d 1B |{copies.ljust(40, '.')}|"), tmp_path
        ).picture.rows
        return [row.kind for row in rows]

    assert kinds("bbb") == ["", "d2d"]
    assert kinds("b") == [""]


@pytest.mark.parametrize("memory", ["pageable", "pinned"])
def test_a_copy_row_says_how_fast_and_from_what_memory(memory: str, tmp_path: Path) -> None:
    rows = device(
        picture(f"s7 kernel k |aaaa|\ns13 h2d {memory} 20KB |.bb.|"), tmp_path
    ).picture.rows

    assert rows[1].note == f"10.0 GB/s {memory}"


ONE_PASS = """
s7 kernel k         |......aa......|
s7 h2d pageable 1MiB|.xxxxx........|
s7 d2h pageable 1MiB|........yyyyy.|
t1 cudaMemcpy       |xxxxxx........|
t1 cudaLaunchKernel |......a.......|
t1 cuMemcpyDtoH     |.......yyyyyyy|
"""


def test_a_program_without_steps_has_no_figures_per_step_and_advice_of_its_own(
    tmp_path: Path,
) -> None:
    found = report(picture(ONE_PASS), tmp_path)
    first = found.findings[0]

    assert found.devices[0].steps is None
    assert (first.cause, first.per_step_ns) == ("pageable-copy", None)
    assert "in pieces" in first.advice
    assert "loop" not in first.advice
    assert "per step" not in TerminalRenderer().render(found)


def test_a_program_with_steps_is_advised_about_its_loop(tmp_path: Path) -> None:
    looped = picture(ONE_PASS + "t1 nvtx step        |00000000000000|", repeat=3)
    first = report(looped, tmp_path).findings[0]

    assert first.per_step_ns is not None
    assert "outside the loop" in first.advice


@pytest.mark.parametrize(("gap", "said"), [(1, True), (2, False)])
def test_nothing_to_gain_is_said_only_of_what_passes(gap: int, said: bool, tmp_path: Path) -> None:
    """Kernels of 10 us with 1 or 2 us of latency between them: 9.1 or 16.7 % to win."""
    drawing = picture(
        "s7 kernel k |aaaaaaaaaa" + "." * gap + "|\nt1 cudaLaunchKernel |a" + "." * (gap + 9) + "|",
        repeat=20,
        host_us={"a": [-40, -39]},
    )
    found = report(drawing, tmp_path)

    assert found.verdict.outcome is (Outcome.PASS if said else Outcome.FAIL)
    assert bool(found.devices[0].conclusion) is said


def test_kernels_that_wait_for_pages_are_not_called_compute_bound(tmp_path: Path) -> None:
    text = "s7 kernel k |.aaaaaaaaa|\nt1 cudaLaunchKernel |a.........|"
    bound = device(picture(text, column_us=100), tmp_path)
    stalled = device(
        picture(text + "\nuvm h2d 1MiB |....x.....|", column_us=100, gpu_us={"x": [400, 420]}),
        tmp_path,
    )

    assert "compute-bound" in bound.conclusion
    assert stalled.stalled_ns == 20_000
    assert stalled.conclusion == ""


@pytest.mark.parametrize("form", ["terminal", "markdown", "html", "json"])
def test_stalled_compute_and_notes_are_shown_where_there_are_any(form: str, tmp_path: Path) -> None:
    render = renderers()[form].render
    found = report(picture("s7 kernel k |aaaa|\nuvm h2d 4KiB |.bb.|"), tmp_path)
    (one,) = found.devices
    noted = replace(found, devices=(replace(one, notes=("kernel k may be much",)),))
    plain = replace(found, devices=(replace(one, stalled_ns=0),))

    assert "kernel k may be much" in render(noted)
    if form == "json":
        assert '"stalled_ns": 2000' in render(noted)
    else:
        assert "for pages" in render(noted)
        assert "for pages" not in render(replace(plain, findings=()))
