"""A folder of Parquet or Arrow tables reads as the SQLite export of the same report does."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from overlapcheck import pipeline
from overlapcheck.columns import Columns
from overlapcheck.sources.nsys.columnar import TableFolder, open_folder
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Missing, Trace
from tests.export import RealExport, edit
from tests.pictures import picture
from tests.table_folder import (
    SUFFIX,
    Types,
    Write,
    as_nsys,
    otherwise,
    write_file,
    write_parquet,
    write_snappy,
    write_stream,
    write_tables,
)

WRITERS: list[Write] = [write_parquet, write_snappy, write_stream, write_file]
KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


def assert_same(found: Trace, expected: Trace) -> None:
    """Every column of every table, and all that is said about the recording."""
    for field in fields(Trace):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if not isinstance(other, Columns):
            assert one == other, field.name
            continue
        assert type(one) is type(other), field.name
        for column in fields(other):
            name = f"{field.name}.{column.name}"
            values = getattr(one, column.name)
            np.testing.assert_array_equal(values, getattr(other, column.name), name)
            assert values.dtype == getattr(other, column.name).dtype, name


def texts_of(trace: Trace) -> set[str]:
    ids = set() if isinstance(trace.kernels, Missing) else set(trace.kernels.name_id.tolist())
    return {trace.strings.text(number) for number in ids}


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(
    "name", ["cu_double_buffer", "cu_legacy_default", "ddp_bucketed", "fx_p2p_serial", "pt_graph"]
)
def test_every_column_is_that_of_the_sqlite_export(
    name: str, write: Write, real_export: RealExport, tmp_path: Path
) -> None:
    export = real_export(name)
    folder = write_tables(export, tmp_path / "tables", write)
    assert_same(read_trace(folder), read_trace(export))


@pytest.mark.parametrize("write", WRITERS)
def test_other_types_of_the_same_values_read_the_same(
    write: Write, real_export: RealExport, tmp_path: Path
) -> None:
    """Flags, all-NULL columns, binary texts and dictionaries."""
    export = real_export("pt_pageable")
    folder = write_tables(export, tmp_path / "tables", write, types=otherwise)
    assert_same(read_trace(folder), read_trace(export))


@pytest.mark.parametrize("write", [write_parquet, write_stream])
@pytest.mark.parametrize("name", ["cu_double_buffer", "ddp_bucketed"])
def test_the_order_of_rows_does_not_matter(
    name: str, write: Write, real_export: RealExport, tmp_path: Path
) -> None:
    export = real_export(name)
    folder = write_tables(export, tmp_path / "tables", write, shuffled=True)
    found, expected = pipeline.analyze(folder), pipeline.analyze(export)

    assert expected.devices
    assert (found.verdict, found.devices) == (expected.verdict, expected.devices)


@pytest.mark.parametrize("write", WRITERS)
def test_process_keys_with_their_top_bit_set_stay_what_sqlite_makes_of_them(
    write: Write,
    real_export: RealExport,
    tmp_path: Path,
) -> None:
    export = Path(shutil.copy(real_export("cu_double_buffer"), tmp_path))
    top = -(1 << 63)
    tables = [KERNELS, "CUPTI_ACTIVITY_KIND_MEMCPY", "PROCESSES"]
    edit(
        export,
        *(f"UPDATE {table} SET globalPid = globalPid | {top}" for table in tables),
        f"UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = globalTid | {top}",
    )
    found = read_trace(write_tables(export, tmp_path / "tables", write))

    assert not isinstance(found.kernels, Missing)
    assert {found.processes[n].key.host >> 15 for n in found.kernels.process.tolist()} == {1}
    assert_same(found, read_trace(export))


@pytest.mark.parametrize("write", WRITERS)
def test_null_means_the_same(
    write: Write,
    real_export: RealExport,
    tmp_path: Path,
) -> None:
    export = Path(shutil.copy(real_export("cu_double_buffer"), tmp_path))
    edit(
        export,
        f"UPDATE {KERNELS} SET correlationId = NULL, graphNodeId = NULL WHERE rowid % 3 = 0",
        "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcKind = NULL WHERE rowid % 2 = 0",
        "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET dstKind = NULL",
        "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = NULL WHERE rowid % 5 = 0",
        "UPDATE NVTX_EVENTS SET textId = NULL, text = 'step 1' WHERE rowid % 2 = 0",
    )
    assert_same(read_trace(write_tables(export, tmp_path / "tables", write)), read_trace(export))


@pytest.mark.parametrize("write", WRITERS)
def test_rows_without_a_usable_time_are_counted(
    write: Write,
    real_export: RealExport,
    tmp_path: Path,
) -> None:
    export = Path(shutil.copy(real_export("cu_double_buffer"), tmp_path))
    edit(
        export,
        f'UPDATE {KERNELS} SET start = 0, "end" = 0 WHERE rowid <= 2',
        'UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET "end" = start - 1 WHERE rowid = 1',
    )
    found = read_trace(write_tables(export, tmp_path / "tables", write))

    assert (found.info.dropped_untimed, found.info.dropped_backward) == (2, 1)
    assert_same(found, read_trace(export))


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("emptied", [True, False], ids=["empty", "missing"])
def test_tables_without_rows_and_without_files(
    emptied: bool,
    write: Write,
    real_export: RealExport,
    tmp_path: Path,
) -> None:
    export = Path(shutil.copy(real_export("cu_double_buffer"), tmp_path))
    tables = [
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        "NVTX_EVENTS",
        "OSRT_API",
        "TARGET_INFO_CUDA_STREAM",
        "ENUM_CUDA_MEM_KIND",
        "ThreadNames",
    ]
    edit(export, *(f"{'DELETE FROM' if emptied else 'DROP TABLE'} {table}" for table in tables))
    assert_same(read_trace(write_tables(export, tmp_path / "tables", write)), read_trace(export))


@pytest.mark.parametrize("types", [as_nsys, otherwise])
@pytest.mark.parametrize("write", WRITERS)
def test_names_that_are_no_utf8_are_kept_as_well_as_can_be(
    write: Write, types: Types, tmp_path: Path
) -> None:
    export = picture("s7 kernel k |aa|").export(tmp_path / "odd.sqlite")
    edit(export, "UPDATE StringIds SET value = CAST(X'6BFF80' AS TEXT) WHERE value = 'k'")
    found = read_trace(write_tables(export, tmp_path / "tables", write, types=types))

    assert texts_of(found) == {"k\ufffd\ufffd"}
    assert_same(found, read_trace(export))


@pytest.mark.parametrize("write", WRITERS)
def test_the_newest_of_versioned_tables_is_read(write: Write, tmp_path: Path) -> None:
    export = picture("s7 kernel k |aa|").export(tmp_path / "versions.sqlite")
    edit(
        export,
        f"CREATE TABLE {KERNELS}_V2 AS SELECT * FROM {KERNELS}",
        f"DELETE FROM {KERNELS}",
        f"ALTER TABLE {KERNELS} RENAME TO {KERNELS}_V1",
        "ALTER TABLE META_DATA_CAPTURE RENAME TO META_DATA_CAPTURE_V2",
    )
    found = read_trace(write_tables(export, tmp_path / "tables", write))

    assert texts_of(found) == {"k"}
    assert_same(found, read_trace(export))


@pytest.mark.parametrize("write", WRITERS)
def test_what_2023_4_leaves_out_is_unknown_and_changes_no_answer(
    write: Write, real_export: RealExport, tmp_path: Path
) -> None:
    export = real_export("pt_pageable")
    folder = write_tables(export, tmp_path / "tables", write, without=["META_DATA_CAPTURE"])
    found, expected = pipeline.analyze(folder), pipeline.analyze(export)

    assert expected.capture.program
    assert (found.capture.program, found.capture.environment) == ("", {})
    assert found.capture.nsys_version == expected.capture.nsys_version
    assert found.verdict == expected.verdict
    assert found.devices == expected.devices


@pytest.mark.parametrize("write", WRITERS)
def test_reading_leaves_the_folder_as_it_was(
    write: Write, real_export: RealExport, tmp_path: Path
) -> None:
    folder = write_tables(real_export("cu_double_buffer"), tmp_path / "tables", write)

    def state() -> list[tuple[str, int, bytes]]:
        return [(f.name, f.stat().st_mtime_ns, f.read_bytes()) for f in sorted(folder.iterdir())]

    before = state()
    pipeline.analyze(folder)

    assert state() == before
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("write", [write_parquet, write_stream])
def test_the_folder_one_is_in_can_be_named_by_a_dot(
    write: Write, real_export: RealExport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_tables(real_export("cu_double_buffer"), tmp_path / "tables", write))
    assert pipeline.analyze(".").capture.report == "tables"


@pytest.mark.parametrize("write", [write_parquet, write_stream])
def test_large_tables_are_read_without_pandas_and_without_a_copy_in_sqlite(
    write: Write, real_export: RealExport, tmp_path: Path
) -> None:
    folder = write_tables(real_export("pt_pageable"), tmp_path / "tables", write)
    program = f"""
import sys
from pathlib import Path
from overlapcheck.sources.nsys import columnar, read

class Watched(columnar.TableFolder):
    copied = []

    def _copy(self, table, columns):
        self.copied.append(table)
        super()._copy(table, columns)

columnar.TableFolder = Watched
read.read_trace(Path({str(folder)!r}))
assert "StringIds" in Watched.copied
assert not [name for name in Watched.copied if name.startswith(("CUPTI_", "OSRT"))]
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_table_is_copied_again_only_for_columns_that_it_lacks(
    real_export: RealExport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = []
    copy = TableFolder._copy

    def watched(self: TableFolder, table: str, columns: frozenset[str]) -> None:
        copied.append((table, columns))
        copy(self, table, columns)

    monkeypatch.setattr(TableFolder, "_copy", watched)
    with open_folder(write_tables(real_export("pt_graph"), tmp_path / "tables")) as db:
        assert len(db.query("SELECT id FROM StringIds")) > 0
        assert len(db.query("SELECT ifnull(max(id), 0) AS id FROM StringIds")) == 1
        assert len(db.query("SELECT value FROM StringIds")) == db.rows_at_most("StringIds")
        assert len(db.query("SELECT id, value FROM StringIds")) == db.rows_at_most("StringIds")

    assert copied == [
        ("StringIds", frozenset({"id"})),
        ("StringIds", frozenset({"id", "value"})),
    ]


@pytest.mark.parametrize("write", WRITERS)
def test_a_column_that_holds_one_value_is_stored_once(write: Write, tmp_path: Path) -> None:
    tables = {
        "StringIds": pa.table({"id": pa.array([1] * 5000), "value": pa.array(["a"] * 5000)}),
        KERNELS: pa.table(
            {
                "start": pa.array(range(5000)),
                "deviceId": pa.array([3] * 5000, pa.uint32()),
                "graphNodeId": pa.array([None] * 5000, pa.uint64()),
                "odd": pa.array([None if n % 3 else n for n in range(5000)], pa.int16()),
                "flag": pa.array([None if n % 5 else n % 2 == 0 for n in range(5000)]),
            }
        ),
    }
    folder = tmp_path / "tables"
    folder.mkdir()
    for name, table in tables.items():
        write(table, folder / f"{name}{SUFFIX[write]}")
    with open_folder(folder) as db:
        wanted = {"flag": -7, "deviceId": 0, "start": 0, "graphNodeId": -1, "odd": -2}
        found = db.integer_columns(KERNELS, wanted)

    assert found is not None
    assert list(found) == list(wanted)
    assert (found["deviceId"].strides, found["graphNodeId"].strides) == ((0,), (0,))
    assert (found["deviceId"] == 3).all()
    assert (found["graphNodeId"] == -1).all()
    assert found["start"].tolist() == list(range(5000))
    assert found["odd"].tolist() == [-2 if n % 3 else n for n in range(5000)]
    assert found["flag"].tolist() == [-7 if n % 5 else int(n % 2 == 0) for n in range(5000)]
    assert {values.dtype for values in found.values()} == {np.dtype(np.int64)}
