"""Damaged and foreign files: each one line that names the file and what to do."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from overlapcheck.errors import (
    ExitCode,
    InputUnreadable,
    NotAReport,
    OverlapcheckError,
    ReportDamaged,
)
from overlapcheck.sources.nsys.database import open_database
from overlapcheck.sources.nsys.read import read_trace
from tests.export import RealExport, edit
from tests.pictures import picture

MAGIC = b"SQLite format 3\0"
EXPORT_AGAIN = "export it again: nsys export --type=sqlite --force-overwrite=true REPORT.nsys-rep"


def failure(path: Path) -> OverlapcheckError:
    before = sorted(path.parent.iterdir())
    with pytest.raises(OverlapcheckError) as caught:
        read_trace(path)

    assert sorted(path.parent.iterdir()) == before
    assert caught.value.exit_code is ExitCode.COULD_NOT_RUN
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_missing_file_is_unreadable(tmp_path: Path) -> None:
    error = failure(tmp_path / "nowhere.sqlite")

    assert isinstance(error, InputUnreadable)
    assert error.message == f"{tmp_path}/nowhere.sqlite: No such file or directory"
    assert error.hint == "check the path and its permissions"


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_texts_that_would_be_read_as_others_are_refused(
    encoding: str, real_export: RealExport, tmp_path: Path
) -> None:
    """Without the names of its collectives this export, which fails, would pass."""
    other = tmp_path / "other.sqlite"
    with (
        closing(sqlite3.connect(real_export("ddp_payload"))) as source,
        closing(sqlite3.connect(other)) as target,
    ):
        target.execute(f"PRAGMA encoding = '{encoding}'")
        target.executescript("\n".join(source.iterdump()))

    error = failure(other)

    assert isinstance(error, ReportDamaged)
    assert "its texts are UTF-16" in error.message
    assert error.hint == EXPORT_AGAIN


@pytest.mark.parametrize("kept", [0.99, 0.5, 0.1])
def test_a_truncated_export_says_how_much_is_there(
    kept: float, real_export: RealExport, tmp_path: Path
) -> None:
    whole = real_export("cu_double_buffer").read_bytes()
    path = tmp_path / "cut.sqlite"
    path.write_bytes(whole[: int(len(whole) * kept)])
    error = failure(path)

    assert isinstance(error, ReportDamaged)
    assert error.message == (
        f"{path}: damaged SQLite export (truncated: {int(len(whole) * kept)} of {len(whole)} bytes)"
    )
    assert error.hint == EXPORT_AGAIN


@pytest.mark.parametrize("size", [0, 1, 16, 99, 100, 512, 4096, 100_000])
def test_random_bytes_after_the_magic_are_a_damaged_export(size: int, tmp_path: Path) -> None:
    path = tmp_path / "noise.sqlite"
    path.write_bytes(MAGIC + random.Random(size).randbytes(size))
    error = failure(path)

    assert isinstance(error, ReportDamaged)
    assert error.message.startswith(f"{path}: damaged SQLite export (")


@pytest.mark.parametrize("seed", range(12))
def test_an_export_with_overwritten_pages_is_damaged_or_read_but_never_crashes(
    seed: int, real_export: RealExport, tmp_path: Path
) -> None:
    content = bytearray(real_export("cu_double_buffer").read_bytes())
    noise = random.Random(seed)
    for _ in range(20):
        at = noise.randrange(4096, len(content) - 4096)
        content[at : at + 512] = noise.randbytes(512)
    path = tmp_path / "noise.sqlite"
    path.write_bytes(content)

    try:
        read_trace(path)
    except OverlapcheckError as error:
        assert str(path) in str(error)  # either outcome is right


def test_a_database_that_nsys_did_not_write_says_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for name in ("zebras", "apples", "bears", "cats"):
            connection.execute(f"CREATE TABLE {name} (id INTEGER)")
        connection.commit()
    error = failure(path)

    assert isinstance(error, NotAReport)
    assert error.message == (
        f"{path}: a SQLite file, but no Nsight Systems export (apples, bears, cats)"
    )
    assert "nsys export --type=sqlite" in error.hint


def test_a_database_without_tables_is_no_export(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (id INTEGER)")
        connection.execute("DROP TABLE t")
        connection.commit()

    assert failure(path).message.endswith("no Nsight Systems export (no tables)")


@pytest.mark.parametrize("table", ["StringIds", "META_DATA_EXPORT", "TARGET_INFO_GPU"])
def test_any_table_of_nsys_makes_an_export(table: str, tmp_path: Path) -> None:
    path = picture("s7 kernel k |a|").export(tmp_path / "some.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        names = [r[0] for r in connection.execute("SELECT name FROM sqlite_master")]
    edit(path, *(f"DROP TABLE {name}" for name in names if name != table))

    with open_database(path) as db:
        assert set(db.columns) == {table}


def test_a_table_is_found_under_its_newest_versioned_name(tmp_path: Path) -> None:
    path = picture("s7 kernel k |a|").export(tmp_path / "versions.sqlite")
    edit(
        path,
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO CUPTI_ACTIVITY_KIND_KERNEL_V2",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V3 AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL_V2",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL2 (start INTEGER)",
    )

    with open_database(path) as db:
        assert db.resolve("CUPTI_ACTIVITY_KIND_KERNEL") == "CUPTI_ACTIVITY_KIND_KERNEL_V3"
        assert db.resolve("CUPTI_ACTIVITY_KIND_MEMCPY") is None
        assert db.has("CUPTI_ACTIVITY_KIND_KERNEL", "start", "end")
        assert not db.has("CUPTI_ACTIVITY_KIND_KERNEL", "nothing")


def test_a_trailing_rest_of_another_file_does_not_matter(tmp_path: Path) -> None:
    path = picture("s7 kernel k |a|").export(tmp_path / "long.sqlite")
    path.write_bytes(path.read_bytes() + b"\0" * 4096)

    with open_database(path) as db:
        assert db.has("CUPTI_ACTIVITY_KIND_KERNEL")
