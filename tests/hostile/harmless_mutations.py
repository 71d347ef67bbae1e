"""The same recording in another form: the answer must not change at all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

from tests.hostile.mutations import (
    CALLS,
    DEVICE_TABLES,
    TEXTS,
    Allowed,
    Applied,
    Mutation,
    NotApplicable,
    chosen,
    columns,
    opened,
    tables,
)

_TIMES = ("start", "end", "timestamp", "startTime", "stopTime")
_LARGE = (*DEVICE_TABLES, CALLS)


def shift_all_times(export: Path, rng: Random) -> Applied:
    """Another zero of the clock."""
    by = rng.choice([1, 12345, 10**6, 10**9, 3600 * 10**9])
    with opened(export) as connection:
        for table in tables(connection):
            timed = [name for name in columns(connection, table) if name in _TIMES]
            if timed:
                # None, and 0 of diagnostics and rows without a time, stay what they are.
                changed = ", ".join(f'"{n}" = "{n}" + {by} * ("{n}" > 0)' for n in timed)
                connection.execute(f'UPDATE "{table}" SET {changed}')
    return Applied(f"all times moved by {by} ns", Allowed.EQUAL)


def _rewrite(connection: sqlite3.Connection, table: str, select: str, declared: str = "") -> None:
    """Make a table anew from a SELECT of it; indexes and keys are not kept."""
    if declared:
        connection.execute(f"CREATE TABLE anew ({declared})")
        connection.execute(f"INSERT INTO anew {select}")
    else:
        connection.execute(f"CREATE TABLE anew AS {select}")
    connection.execute(f'DROP TABLE "{table}"')
    connection.execute(f'ALTER TABLE anew RENAME TO "{table}"')


def shuffle_rows(export: Path, rng: Random) -> Applied:
    """Exports keep no order."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in _LARGE])
        # By a key that depends on the seed only, which random() would not.
        key = f"(rowid * {rng.randrange(1, 10**6, 2)}) % 1000003"
        _rewrite(connection, table, f'SELECT * FROM "{table}" ORDER BY {key}')
    return Applied(f"rows of {table} shuffled", Allowed.EQUAL)


def shuffle_columns(export: Path, rng: Random) -> Applied:
    """Nor do columns."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in _LARGE])
        names = columns(connection, table)
        rng.shuffle(names)
        quoted = ", ".join(f'"{name}"' for name in names)
        _rewrite(connection, table, f'SELECT {quoted} FROM "{table}"')
    return Applied(f"columns of {table} shuffled", Allowed.EQUAL)


def odd_row_numbers(export: Path, rng: Random) -> Applied:
    """Negative and huge ones, of nine bytes."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in _LARGE])
        most = int(connection.execute(f'SELECT max(rowid) FROM "{table}"').fetchone()[0])
        number = rng.choice(["-rowid", f"{2**63 - 1} - {most} + rowid", f"{2**40} + rowid * 1000"])
        connection.execute(f'CREATE TABLE anew AS SELECT * FROM "{table}" LIMIT 0')
        quoted = ", ".join(f'"{name}"' for name in columns(connection, table))
        connection.execute(
            f'INSERT INTO anew (rowid, {quoted}) SELECT {number}, {quoted} FROM "{table}"'
        )
        connection.execute(f'DROP TABLE "{table}"')
        connection.execute(f'ALTER TABLE anew RENAME TO "{table}"')
    return Applied(f"rows of {table} numbered {number}", Allowed.EQUAL)


def without_rowid(export: Path, rng: Random) -> Applied:
    """Rows kept in an index, as no nsys does."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in (*_LARGE, TEXTS)])
        names = columns(connection, table)
        declared = ", ".join(f'"{name}"' for name in names)
        key = '"id"' if table == TEXTS else ", ".join(f'"{n}"' for n in names[:7])
        quoted = ", ".join(f'"{name}"' for name in names)
        try:
            connection.execute(f"CREATE TABLE anew ({declared}, PRIMARY KEY ({key})) WITHOUT ROWID")
            connection.execute(f'INSERT INTO anew SELECT {quoted} FROM "{table}"')
        except sqlite3.IntegrityError as error:
            raise NotApplicable from error
        connection.execute(f'DROP TABLE "{table}"')
        connection.execute(f'ALTER TABLE anew RENAME TO "{table}"')
    return Applied(f"{table} without row numbers", Allowed.EQUAL_OR_REFUSED)


def numbers_as_texts(export: Path, rng: Random) -> Applied:
    """Columns declared as texts or reals hold the numbers as such."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in _LARGE])
        names, kind = columns(connection, table), rng.choice(["TEXT", "REAL", "NUMERIC", "BLOB"])
        declared = ", ".join(f'"{name}" {kind}' for name in names)
        _rewrite(connection, table, f'SELECT * FROM "{table}"', declared)
    return Applied(f"{table} with columns of {kind}", Allowed.EQUAL_OR_REFUSED)


def more_columns(export: Path, rng: Random) -> Applied:
    """Those of a newer nsys."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in _LARGE])
        default = rng.choice(["", " DEFAULT 7", " DEFAULT 'text'", " DEFAULT 1.5"])
        connection.execute(f'ALTER TABLE "{table}" ADD COLUMN brandNew{default}')
    return Applied(f"a column{default} more in {table}", Allowed.EQUAL)


def more_tables(export: Path, rng: Random) -> Applied:
    """Those of a newer nsys, of a user, of SQLite itself."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in _LARGE])
        connection.execute(f"CREATE TABLE OTHER_{table} AS SELECT * FROM {table} LIMIT 5")
        connection.execute(f"CREATE TABLE {table}_V9 AS SELECT * FROM {table} LIMIT 5")
        connection.execute(f"CREATE INDEX by_start ON {table} (start)")
        connection.execute("ANALYZE")
        connection.execute("CREATE VIEW mine AS SELECT 1 AS one")
    return Applied(f"an index and tables beside {table}", Allowed.EQUAL)


def vacuum(export: Path, rng: Random) -> Applied:
    """Pages of another size and order, with or without a map of them."""
    size = rng.choice([512, 1024, 4096, 8192, 65536])
    automatic = rng.choice([0, 1, 2])
    with closing(sqlite3.connect(export)) as connection:
        connection.execute(f"PRAGMA page_size = {size}")
        connection.execute(f"PRAGMA auto_vacuum = {automatic}")
        connection.execute("VACUUM")
    return Applied(f"pages of {size} bytes, auto_vacuum {automatic}", Allowed.EQUAL)


def free_pages(export: Path, rng: Random) -> Applied:
    """Pages and parts of them that held other rows before."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in _LARGE])
        connection.execute("PRAGMA secure_delete = OFF")
        most = connection.execute(f'SELECT max(rowid) FROM "{table}"').fetchone()[0]
        connection.execute(f'INSERT INTO "{table}" SELECT * FROM "{table}"')
        connection.execute(f'DELETE FROM "{table}" WHERE rowid > ?', (most,))
    return Applied(f"{table} with deleted rows left in its pages", Allowed.EQUAL)


def utf16(export: Path, rng: Random) -> Applied:
    """Texts of two bytes a character."""
    encoding = rng.choice(["UTF-16le", "UTF-16be"])
    with closing(sqlite3.connect(export)) as connection:
        script = list(connection.iterdump())
    export.unlink()
    with closing(sqlite3.connect(export)) as connection:
        connection.execute(f"PRAGMA encoding = '{encoding}'")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript("\n".join(script))
    return Applied(f"texts in {encoding}", Allowed.EQUAL_OR_REFUSED)


MUTATIONS: tuple[Mutation, ...] = (
    shift_all_times,
    shuffle_rows,
    shuffle_columns,
    odd_row_numbers,
    without_rowid,
    numbers_as_texts,
    more_columns,
    more_tables,
    vacuum,
    free_pages,
    utf16,
)
