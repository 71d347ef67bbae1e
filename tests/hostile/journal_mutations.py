"""Journals beside an export: what the file alone says is not what was recorded."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

from tests.hostile.mutations import (
    DEVICE_TABLES,
    Allowed,
    Applied,
    Mutation,
    chosen,
    opened,
    tables,
)


def _beside(export: Path, suffix: str) -> Path:
    return export.with_name(export.name + suffix)


def hot_journal(export: Path, rng: Random) -> Applied:
    """A writer that was killed within a transaction: half of its deletions are in the file."""
    work = export.with_name("work.sqlite")
    shutil.copy(export, work)
    with closing(sqlite3.connect(work)) as connection:
        table = chosen(rng, [t.decode() for t in _tables(connection)])
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute(f"DELETE FROM {table} WHERE rowid % 2")
        connection.execute("CREATE TABLE filler AS SELECT * FROM StringIds")
        journal = _beside(work, "-journal").read_bytes()
        changed = work.read_bytes()
        connection.rollback()
    work.unlink()
    export.write_bytes(changed)
    _beside(export, "-journal").write_bytes(journal)
    return Applied(f"a hot journal, {table} half deleted", Allowed.EQUAL_OR_REFUSED)


def write_ahead_log(export: Path, rng: Random) -> Applied:
    """Rows that are in the log only: the file alone has lost them."""
    work = export.with_name("work.sqlite")
    shutil.copy(export, work)
    with opened(work) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in DEVICE_TABLES])
        connection.execute(f"CREATE TABLE kept AS SELECT * FROM {table}")
        connection.execute(f"DELETE FROM {table}")
    with closing(sqlite3.connect(work)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"INSERT INTO {table} SELECT * FROM kept")
        connection.commit()
        changed, log = work.read_bytes(), _beside(work, "-wal").read_bytes()
    work.unlink()
    export.write_bytes(changed)
    _beside(export, "-wal").write_bytes(log)
    return Applied(f"all rows of {table} in a log", Allowed.EQUAL_OR_REFUSED)


def lost_log(export: Path, rng: Random) -> Applied:
    """A file in WAL mode that was copied without its log, which held nothing."""
    del rng
    with closing(sqlite3.connect(export)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    return Applied("in WAL mode, without a log", Allowed.EQUAL_OR_REFUSED)


def stale_journal(export: Path, rng: Random) -> Applied:
    """Files of these names that are no journals of this file."""
    suffix = rng.choice(["-journal", "-wal", "-shm"])
    content = rng.choice([b"", bytes(4096), rng.randbytes(5000)])
    _beside(export, suffix).write_bytes(content)
    return Applied(f"{len(content)} bytes in {suffix}", Allowed.EQUAL_OR_REFUSED)


def _tables(connection: sqlite3.Connection) -> list[bytes]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [name.encode() for (name,) in rows if name in DEVICE_TABLES]


MUTATIONS: tuple[Mutation, ...] = (hot_journal, write_ahead_log, lost_log, stale_journal)
