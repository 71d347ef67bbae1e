"""A database with changes in a journal is not read as if they were not there."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from overlapcheck.errors import ReportDamaged
from overlapcheck.sources.nsys.database import open_database
from tests.export import query
from tests.pictures import picture

COUNT = "SELECT count(*) AS n FROM CUPTI_ACTIVITY_KIND_KERNEL"
MAGIC_BYTES = 8
FRAMES_BEGIN = 32


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return picture("s7 kernel k |aaa bbb ccc|").export(tmp_path / "some.sqlite")


def half_written(export: Path, folder: Path) -> Path:
    """The export as a program leaves it that is killed in the middle of a transaction."""
    folder.mkdir()
    with closing(sqlite3.connect(export, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("BEGIN")
        connection.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL")
        # More than the cache holds, so that it goes to the file before its time.
        connection.execute("CREATE TABLE filler (t TEXT)")
        connection.executemany("INSERT INTO filler VALUES (?)", [("x" * 3000,)] * 200)
        for path in export.parent.glob(f"{export.name}*"):
            shutil.copy(path, folder / path.name)
        connection.execute("ROLLBACK")
    return folder / export.name


def with_log(export: Path, folder: Path) -> Path:
    """The export after a change that is in the write-ahead log only."""
    folder.mkdir()
    with closing(sqlite3.connect(export, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL")
        for path in export.parent.glob(f"{export.name}*"):
            shutil.copy(path, folder / path.name)
    return folder / export.name


def kernels_read(export: Path) -> int:
    before = sorted(export.parent.iterdir())
    with open_database(export) as db:
        count = int(db.query(COUNT).column("n")[0].as_py())
    assert sorted(export.parent.iterdir()) == before
    return count


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refusal(export: Path) -> str:
    before = contents(export.parent)
    with pytest.raises(ReportDamaged) as caught, open_database(export):
        pass
    assert contents(export.parent) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_hot_journal_is_refused_and_what_is_advised_brings_the_rows_back(
    export: Path, tmp_path: Path
) -> None:
    path = half_written(export, tmp_path / "copy")
    said = refusal(path)

    assert f"{path}: something was writing it and is not done: some.sqlite-journal" in said
    assert f"sqlite3 {path} 'PRAGMA schema_version'" in said
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA schema_version")
    assert kernels_read(path) == 3


def test_a_hot_journal_beside_the_file_that_a_link_names_is_seen(
    export: Path, tmp_path: Path
) -> None:
    path = half_written(export, tmp_path / "copy")
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)

    assert "some.sqlite-journal" in refusal(link)


@pytest.mark.parametrize("content", [b"", bytes(512), b"not a journal at all" * 50])
def test_a_journal_that_sqlite_passes_over_is_passed_over(export: Path, content: bytes) -> None:
    (export.parent / "some.sqlite-journal").write_bytes(content)

    assert kernels_read(export) == 3


def test_a_journal_whose_header_is_cleared_is_passed_over(export: Path, tmp_path: Path) -> None:
    path = half_written(export, tmp_path / "copy")
    whole = export.read_bytes()
    journal = path.with_name("some.sqlite-journal")
    journal.write_bytes(bytes(MAGIC_BYTES) + journal.read_bytes()[MAGIC_BYTES:])
    path.write_bytes(whole)

    assert kernels_read(path) == 3


def test_a_log_with_changes_is_refused_and_what_is_advised_brings_them_in(
    export: Path, tmp_path: Path
) -> None:
    path = with_log(export, tmp_path / "copy")
    said = refusal(path)

    assert f"{path}: a part of it lies in some.sqlite-wal" in said
    assert "PRAGMA wal_checkpoint(TRUNCATE)" in said
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert kernels_read(path) == 0


@pytest.mark.parametrize("kept", [0, FRAMES_BEGIN])
def test_a_log_without_frames_is_passed_over(export: Path, tmp_path: Path, kept: int) -> None:
    path = with_log(export, tmp_path / "copy")
    log = path.with_name("some.sqlite-wal")
    log.write_bytes(log.read_bytes()[:kept])

    assert kernels_read(path) == query(path, COUNT)[0][0] == 3


def test_frames_of_an_earlier_log_are_passed_over(export: Path, tmp_path: Path) -> None:
    path = with_log(export, tmp_path / "copy")
    log = path.with_name("some.sqlite-wal")
    content = bytearray(log.read_bytes())
    content[FRAMES_BEGIN + 8] ^= 1
    log.write_bytes(content)

    assert kernels_read(path) == 3
