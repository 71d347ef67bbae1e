"""What is left of a recording gives the answer of the whole, is small, and names nobody."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

import overlapcheck
from overlapcheck.errors import NotTrimmed
from overlapcheck.reading import Reading
from overlapcheck.report import Report
from overlapcheck.shared_part import Part
from overlapcheck.sharing.trim import MOST_BYTES
from overlapcheck.sources.nsys import SOURCE
from tests.export import RealExport, query
from tests.pictures import picture
from tests.sharing.plants import SECRET, planted, with_telling_names
from tests.sources.toy import ToySource
from tests.table_folder import write_parquet, write_tables

EXPORTS = (
    "pt_pageable", "pt_graph", "pt_capture_range", "cu_legacy_default", "cu_double_buffer",
    "ddp_bucketed", "fx_p2p_serial", "fx_launch_blocking",
)  # fmt: skip
SHARED = Path(__file__).parents[3] / "shared"
HARD = (
    # Nothing recorded of the steps; a step that is not like the others; others' exports.
    "traces/pt_broken_capture", "traces/rank_0", "public/rtx6000_2021_no_metadata",
    "public/a100_cloverleaf",
)  # fmt: skip


def answer(report: Report) -> tuple[str, str | None]:
    return report.verdict.outcome, report.findings[0].cause if report.findings else None


def trimmed(path: Path, target: Path, *, rename: bool = False) -> Report:
    """Trim, and judge what is left."""
    found = overlapcheck.trim(path, rename=rename)
    assert len(found.content) <= MOST_BYTES
    assert not found.too_large
    target.write_bytes(found.content)
    return overlapcheck.analyze(target)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_part_gives_the_answer_of_the_whole(
    name: str, real_export: RealExport, tmp_path: Path
) -> None:
    export = real_export(name)

    for rename in (False, True):
        found = trimmed(export, tmp_path / f"{rename}.sqlite", rename=rename)
        assert answer(found) == answer(overlapcheck.analyze(export))


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared with the recorded traces is not here")
@pytest.mark.parametrize("name", HARD)
def test_so_does_one_of_a_trace_that_is_not_alike_everywhere(name: str, tmp_path: Path) -> None:
    export = tmp_path / "whole.sqlite"
    export.write_bytes(lzma.decompress((SHARED / f"{name}.sqlite.xz").read_bytes()))

    found = trimmed(export, tmp_path / "small.sqlite")

    assert answer(found) == answer(overlapcheck.analyze(export))


@pytest.mark.parametrize("rename", [False, True])
@pytest.mark.parametrize("name", ["pt_pageable", "ddp_bucketed", "pt_graph", "fx_p2p_serial"])
def test_all_rows_give_the_same_numbers(
    name: str, rename: bool, real_export: RealExport, tmp_path: Path
) -> None:
    """A column that the reader knows and that is not written shows here."""
    export, copy = real_export(name), tmp_path / "copy.sqlite"
    content, kept = SOURCE.shared(export, Part(None, rename))
    copy.write_bytes(content)

    assert numbers(overlapcheck.analyze(copy)) == numbers(overlapcheck.analyze(export))
    assert kept.rows > 0.9 * kept.rows_before


def numbers(report: Report) -> list[object]:
    """Of a report, without its names."""
    found: list[object] = [
        (check.name, check.outcome, check.measured) for check in report.verdict.checks
    ]
    for one in report.devices:
        assert one.window.steps is None or one.window.step_family is not None
        window = (one.window.start_ns, one.window.end_ns, one.window.steps, one.window.skipped)
        found += [window, one.compute_ns, one.idle_ns, one.communication_ns, one.bound_ns]
        found += [one.copies, one.ledger, one.migrations, one.steps, one.streams]
    return [*found, *((f.cause, f.blamed, f.saves_at_most_ns) for f in report.findings)]


def test_a_secret_is_in_no_byte_of_it_and_in_no_output(
    real_export: RealExport, tmp_path: Path
) -> None:
    export = planted(real_export("pt_pageable"), tmp_path / "whole.sqlite")
    assert SECRET.encode() in export.read_bytes()

    found = overlapcheck.trim(export)

    assert SECRET.encode() not in found.content
    assert SECRET[:5].encode() not in found.content
    assert (found.outcome, found.first_cause) == ("FAIL", "pageable-copy")


def test_names_that_tell_of_a_home_are_replaced_and_steps_stay_steps(
    real_export: RealExport, tmp_path: Path
) -> None:
    export = planted(real_export("pt_pageable"), tmp_path / "whole.sqlite")
    found = overlapcheck.trim(with_telling_names(export))
    small = tmp_path / "small.sqlite"
    small.write_bytes(found.content)

    assert SECRET[:5].encode() not in found.content
    (device,) = overlapcheck.analyze(small).devices
    assert device.window.step_family is not None
    assert device.window.step_family.endswith(" step #")


def test_renaming_leaves_no_name_of_the_program(real_export: RealExport, tmp_path: Path) -> None:
    export, small = real_export("ddp_bucketed"), tmp_path / "small.sqlite"
    small.write_bytes(overlapcheck.trim(export, rename=True).content)
    names = (
        "SELECT value FROM StringIds JOIN CUPTI_ACTIVITY_KIND_KERNEL ON id = shortName"
        " UNION SELECT text FROM NVTX_EVENTS WHERE text > ''"
    )
    before, after = (names_in(query(path, names)) for path in (export, small))

    assert any(name.startswith("step") for name in before)
    assert all(name.startswith("nccl") for name in before & after)
    assert any(name.startswith("ncclDevKernel_AllReduce") for name in after)


def names_in(rows: list[tuple[object, ...]]) -> set[str]:
    return {str(name) for (name,) in rows}


def test_a_lost_row_stays_lost(tmp_path: Path) -> None:
    """Steps of which every other launch has no kernel: the part must not be whole."""
    whole, lost = "abcdefghijkl", "mnopqrstuvwx"
    export = picture(
        f"""
        s7  kernel k         |{"".join(f"{one}{one}.." for one in whole)}|
        t1  cudaLaunchKernel |{"".join(f"{a}.{b}." for a, b in zip(whole, lost, strict=True))}|
        t1  nvtx step        |{"".join(one * 4 for one in whole)}|
        """,
        column_us=100,
    ).export(tmp_path / "lost.sqlite")
    before = overlapcheck.analyze(export)

    assert before.verdict.outcome == "INCONCLUSIVE"
    assert answer(trimmed(export, tmp_path / "small.sqlite")) == answer(before)


def test_a_folder_of_tables_is_trimmed_too(real_export: RealExport, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    write_tables(real_export("cu_legacy_default"), folder, write_parquet)

    found = trimmed(folder, tmp_path / "small.sqlite")

    assert answer(found) == ("FAIL", "default-stream")


def test_a_trimmed_recording_can_be_trimmed(real_export: RealExport, tmp_path: Path) -> None:
    first = overlapcheck.trim(real_export("cu_legacy_default"))
    small = tmp_path / "small.sqlite"
    small.write_bytes(first.content)

    assert overlapcheck.trim(small).first_cause == first.first_cause


def test_a_source_that_cannot_share_says_so(tmp_path: Path) -> None:
    path = tmp_path / "walk.toy"
    path.write_text('{"toy": [[1, 0, 1, 9, 0]]}')

    with pytest.raises(NotTrimmed, match="recordings of toy cannot be trimmed; give a report"):
        overlapcheck.trim(path, reading=Reading(sources=[ToySource()]))
