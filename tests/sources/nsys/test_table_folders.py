"""Folders of tables as inputs: told apart, and refused in one line where they are none."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from overlapcheck.cli import main
from overlapcheck.errors import (
    ExitCode,
    InputUnreadable,
    NotAReport,
    OverlapcheckError,
    ReportDamaged,
)
from overlapcheck.ranks.inputs import expand, is_several
from overlapcheck.ranks.work import content_digest
from overlapcheck.sources.nsys.columnar import is_table_folder
from overlapcheck.sources.nsys.database import EXPORT_TABLES
from overlapcheck.sources.nsys.identify import InputKind, identify
from overlapcheck.sources.nsys.read import read_trace
from tests.export import RealExport
from tests.table_folder import (
    SUFFIX,
    Write,
    write_file,
    write_parquet,
    write_stream,
    write_tables,
)

WRITERS: list[Write] = [write_parquet, write_stream, write_file]
KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
AGAIN = {
    ".parquet": "export it again: nsys export --type=parquetdir --force-overwrite=true "
    "REPORT.nsys-rep",
    ".arrow": "export it again: nsys export --type=arrowdir --force-overwrite=true REPORT.nsys-rep",
}
Folder = Callable[[Write], Path]


@pytest.fixture
def folder(real_export: RealExport, tmp_path: Path) -> Folder:
    """A real export as a folder that a test may bend."""
    return lambda write: write_tables(real_export("cu_double_buffer"), tmp_path / "tables", write)


def failure(path: Path) -> OverlapcheckError:
    with pytest.raises(OverlapcheckError) as caught:
        read_trace(path)
    assert caught.value.exit_code is ExitCode.COULD_NOT_RUN
    assert "\n" not in str(caught.value)
    assert str(path) in caught.value.message
    return caught.value


def bend(file: Path, content: bytes) -> None:
    assert file.exists()
    file.write_bytes(content)


# ---- what is no export, or a damaged one


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("kept", [0.9, 0.5, 0.01, 0.0])
def test_a_truncated_table_is_named(kept: float, write: Write, folder: Folder) -> None:
    path = folder(write)
    table = path / f"{KERNELS}{SUFFIX[write]}"
    content = table.read_bytes()
    bend(table, content[: int(len(content) * kept)])
    error = failure(path)

    assert isinstance(error, ReportDamaged)
    kind = "Parquet" if table.suffix == ".parquet" else "Arrow"
    assert error.message.startswith(f"{table}: damaged {kind} table (")
    assert error.hint == AGAIN[table.suffix]


def test_a_stream_cut_between_two_batches_is_not_taken_for_a_short_table(folder: Folder) -> None:
    path = folder(write_stream)
    table = path / f"{KERNELS}.arrow"
    content = table.read_bytes()
    with pa.ipc.open_stream(content[:-8]) as reader:
        # Arrow itself sees nothing wrong.
        assert len(reader.read_all()) > 0
    bend(table, content[:-8])

    assert "truncated: its end mark is missing" in failure(path).message


@pytest.mark.parametrize("write", WRITERS)
def test_random_bytes_are_a_damaged_table(write: Write, folder: Folder) -> None:
    path = folder(write)
    for seed in range(8):
        bend(path / f"StringIds{SUFFIX[write]}", random.Random(seed).randbytes(10**seed // 1000))
        assert isinstance(failure(path), ReportDamaged)


@pytest.mark.parametrize("table", [KERNELS, "StringIds", "NVTX_EVENTS"])
@pytest.mark.parametrize("write", WRITERS)
def test_flipped_bytes_are_damaged_or_read_but_never_crash(
    write: Write, table: str, folder: Folder
) -> None:
    path = folder(write)
    file = path / f"{table}{SUFFIX[write]}"
    whole = file.read_bytes()
    for seed in range(25):
        content, noise = bytearray(whole), random.Random(seed)
        for _ in range(noise.choice((1, 5, 50))):
            content[noise.randrange(len(content))] = noise.randrange(256)
        bend(file, bytes(content))
        try:
            read_trace(path)
        except OverlapcheckError as error:
            assert str(path) in error.message  # either outcome is right
            assert "\n" not in str(error)


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("values", [["1", "2"], [1.5, 2.5]], ids=["text", "real"])
def test_what_should_be_whole_numbers_and_is_not(
    values: list[str] | list[float], write: Write, folder: Folder
) -> None:
    path = folder(write)
    rows = pa.table({"start": pa.array([1, 2]), "end": pa.array([3, 4]), "streamId": values})
    write(rows, path / f"{KERNELS}{SUFFIX[write]}")
    error = failure(path)

    assert isinstance(error, ReportDamaged)
    assert error.message == (
        f"{path}: damaged export (column streamId holds something other than whole numbers)"
    )
    assert error.hint == AGAIN[SUFFIX[write]]


def test_tables_that_nsys_did_not_write_are_no_export(tmp_path: Path) -> None:
    write_parquet(pa.table({"x": [1]}), tmp_path / "train.parquet")
    error = failure(tmp_path)

    assert isinstance(error, NotAReport)
    assert error.message == f"{tmp_path}: a folder, but no Nsight Systems export (train.parquet)"
    with pytest.raises(InputUnreadable, match="a directory, with no report in it"):
        identify(tmp_path)


def test_a_folder_of_both_kinds_is_ambiguous(folder: Folder) -> None:
    path = folder(write_parquet)
    write_stream(pa.table({"id": [1], "value": ["k"]}), path / "StringIds.arrow")
    error = failure(path)

    assert isinstance(error, NotAReport)
    assert error.hint == "export the report into a folder of its own"


def test_one_table_alone_names_its_folder(folder: Folder) -> None:
    path = folder(write_stream)
    with pytest.raises(NotAReport) as caught:
        identify(path / "StringIds.arrow")

    assert caught.value.message == f"{path}/StringIds.arrow: one table of an export"
    assert caught.value.hint == f"name its folder: {path}"


# ---- one report, or a folder of reports


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("table", EXPORT_TABLES)
def test_a_folder_with_a_table_of_nsys_is_one_report(
    table: str, suffix: str, tmp_path: Path
) -> None:
    (tmp_path / f"{table}{suffix}").touch()

    assert identify(tmp_path) is InputKind.TABLES
    assert is_table_folder(tmp_path)
    assert not is_several([str(tmp_path)], is_table_folder)


@pytest.mark.parametrize("name", ["kernels.parquet", "StringIds.txt", "rank_0.sqlite"])
def test_other_folders_are_not(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()

    assert not is_table_folder(tmp_path)
    assert is_several([str(tmp_path)], is_table_folder)


def test_folders_of_tables_are_ranks_like_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "job"
    for name in ("rank_0_pqtdir/StringIds.parquet", "n1/rank_1_arwdir/StringIds.arrow"):
        (job / name).parent.mkdir(parents=True)
        (job / name).touch()
    (job / "rank_2.sqlite").touch()
    (tmp_path / "list.txt").write_text("job/rank_0_pqtdir\njob/n1\njob/rank_2.sqlite\n")
    monkeypatch.chdir(tmp_path)
    expected = ["rank_1_arwdir", "rank_0_pqtdir", "rank_2.sqlite"]

    assert [path.name for path in expand(["job"], is_table_folder).reports] == expected
    assert [path.name for path in expand(["job/*"], is_table_folder).reports] == expected
    assert [path.name for path in expand(["@list.txt"], is_table_folder).reports] == expected
    assert [path.name for path in expand(["job/rank_0_pqtdir"], is_table_folder).reports] == [
        "rank_0_pqtdir"
    ]


def test_a_report_and_its_exports_count_once(tmp_path: Path) -> None:
    for name in ("r0.nsys-rep", "r1.nsys-rep", "r2.nsys-rep", "r1.sqlite", "r2.sqlite"):
        (tmp_path / name).touch()
    for name in ("r0_pqtdir/StringIds.parquet", "r0_arwdir/StringIds.arrow"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    shutil.copytree(tmp_path / "r0_pqtdir", tmp_path / "r1.parquetdir")
    shutil.copytree(tmp_path / "r0_pqtdir", tmp_path / "r3")

    names = [path.name for path in expand([str(tmp_path)], is_table_folder).reports]
    assert names == ["r0_arwdir", "r1.sqlite", "r2.sqlite", "r3"]


def test_a_kept_result_is_of_every_table(folder: Folder) -> None:
    path = folder(write_parquet)
    before = content_digest(path)
    write_parquet(pa.table({"id": [1], "value": ["k"]}), path / "StringIds.parquet")

    assert content_digest(path) != before


# ---- the command line


@pytest.fixture
def overlapcheck(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, list[str]]]:
    """Exit code and lines of a command."""

    def run(*arguments: str | Path) -> tuple[int, list[str]]:
        monkeypatch.setattr(sys, "argv", ["overlapcheck", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        return int(stop.value.code or 0), capfd.readouterr().out.splitlines()

    return run


@pytest.mark.parametrize("write", WRITERS)
def test_commands_take_a_folder_where_they_take_a_report(
    write: Write,
    folder: Folder,
    real_export: RealExport,
    overlapcheck: Callable[..., tuple[int, list[str]]],
) -> None:
    path, export = folder(write), real_export("cu_double_buffer")
    (code, answer), expected = overlapcheck("analyze", path), overlapcheck("analyze", export)

    assert (code, answer[0]) == (expected[0], expected[1][0])
    code, answer = overlapcheck("compare", export, path)
    assert (code, answer[0].split("  ")[0]) == (0, "NO CHANGE")


def test_ranks_may_be_folders(
    folder: Folder,
    real_export: RealExport,
    tmp_path: Path,
    overlapcheck: Callable[..., tuple[int, list[str]]],
) -> None:
    (tmp_path / "job").mkdir()
    folder(write_parquet).rename(tmp_path / "job" / "rank_0_pqtdir")
    shutil.copy(real_export("pt_pageable"), tmp_path / "job" / "rank_1.sqlite")
    code, answer = overlapcheck("analyze", tmp_path / "job", "--jobs", "1", "--expect-ranks", "2")

    assert code == 1
    assert any("2 of 2 reports, 2 ranks" in line for line in answer)


# ---- tables that say of a row that it comes a million times


def test_a_row_that_comes_a_million_times_is_refused_before_it_is_read(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = folder(write_parquet)
    path = tables / f"{KERNELS}.parquet"
    row = parquet.read_table(path).slice(0, 1)
    parquet.write_table(row.take(pa.array([0] * 1_000_000)), path)
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", None)

    assert f"(1000000 rows in {path.stat().st_size} bytes)" in failure(tables).message


@pytest.mark.parametrize("make", [ipc.new_stream, ipc.new_file])
def test_rows_without_a_byte_are_refused(
    folder: Folder, make: Callable[..., ipc.RecordBatchStreamWriter]
) -> None:
    tables = folder(write_stream)
    path = tables / f"{KERNELS}.arrow"
    nothing = pa.Array.from_buffers(pa.null(), 1 << 30, [None])
    rows = pa.RecordBatch.from_arrays([nothing, nothing], ["start", "end"])
    with make(path, rows.schema) as writer:
        writer.write_batch(rows)

    assert f"({1 << 30} rows in {path.stat().st_size} bytes)" in failure(tables).message


@pytest.mark.parametrize("write", WRITERS)
def test_a_long_text_that_comes_again_and_again_is_refused(folder: Folder, write: Write) -> None:
    tables = folder(write)
    path = tables / f"StringIds{SUFFIX[write]}"
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 90_000, pa.int32()), ["x" * 100_000])
    write(pa.table({"id": pa.array(range(90_000)), "value": texts}), path)

    assert f"000 bytes of text in {path.stat().st_size})" in failure(tables).message
