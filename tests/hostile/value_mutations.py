"""Cells and columns that hold what they should not."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

from tests.hostile.mutations import (
    CALLS,
    DEVICE_TABLES,
    RANGES,
    TELLING,
    Allowed,
    Applied,
    Mutation,
    NotApplicable,
    chosen,
    columns,
    opened,
    read_tables,
    rowids,
    tables,
)

LARGEST = 2**63 - 1
IMPOSSIBLE = (None, -1, LARGEST, -LARGEST - 1, 2**40, 99)
WRONG_TYPES = (
    "12",
    "twelve",
    "",
    "0x10",
    "9" * 400,
    b"\x00\xff",
    b"",
    1.5,
    1e300,
    float("inf"),
)
NEAR_NS = (-1000, -1, 1, 50, 1000)
FAR_NS = (10**9, 10**12, -(10**9), -(10**12), 2**40, 2**62)
_WHOLE_COLUMN = 0.3


def _set(
    connection: sqlite3.Connection, rng: Random, table: str, column: str, sql: str, value: object
) -> str:
    """Set a cell or a column to an expression of one parameter; says which."""
    statement = f'UPDATE OR REPLACE "{table}" SET "{column}" = {sql}'
    try:
        if rng.random() < _WHOLE_COLUMN:
            connection.execute(statement, (value,))
            return f"all of {table}.{column}"
        row = rng.choice(rowids(connection, table))
        connection.execute(f"{statement} WHERE rowid = ?", (value, row))
    except (sqlite3.IntegrityError, sqlite3.OperationalError) as error:
        raise NotApplicable from error  # NOT NULL, or a key of whole numbers
    return f"row {row} of {table}.{column}"


def _place(connection: sqlite3.Connection, rng: Random) -> tuple[str, str]:
    table = chosen(rng, read_tables(connection))
    return table, rng.choice(columns(connection, table))


def _shown(value: object) -> str:
    return repr(value) if len(repr(value)) < 40 else f"{repr(value)[:30]}..."


def impossible_value(export: Path, rng: Random) -> Applied:
    """A number that the column cannot hold, or none."""
    with opened(export) as connection:
        table, column = _place(connection, rng)
        value = rng.choice(IMPOSSIBLE)
        where = _set(connection, rng, table, column, "?", value)
    # No text is what a program may have given, and ranges may lack an end.
    lax = table in (RANGES, "DIAGNOSTIC_EVENT") or column == "asyncEngines"
    allowed = Allowed.ANY_VERDICT if lax else Allowed.SAME_VERDICT
    return Applied(f"{where} = {_shown(value)}", allowed)


def wrong_type(export: Path, rng: Random) -> Applied:
    """SQLite holds any type in any column."""
    with opened(export) as connection:
        table, column = _place(connection, rng)
        value = rng.choice(WRONG_TYPES)
        where = _set(connection, rng, table, column, "?", value)
    lax = table in (RANGES, "DIAGNOSTIC_EVENT") or column in TELLING
    allowed = Allowed.ANY_VERDICT if lax else Allowed.SAME_VERDICT
    return Applied(f"{where} = {_shown(value)}", allowed)


def other_value(export: Path, rng: Random) -> Applied:
    """Zero, one, a flipped bit, or the value of another row: what the column could well hold."""
    with opened(export) as connection:
        table, column = _place(connection, rng)
        bit = rng.randint(0, 62)
        sql, value = rng.choice(
            [
                ("?", 0),
                ("?", 1),
                (f'("{column}" | ?) - ("{column}" & ?1)', 1 << bit),
                (f'(SELECT "{column}" FROM "{table}" ORDER BY rowid LIMIT 1 OFFSET ?)', 3),
            ]
        )
        where = _set(connection, rng, table, column, sql, value)
    lax = table == RANGES or column in TELLING
    allowed = Allowed.ANY_VERDICT if lax else Allowed.SAME_VERDICT
    return Applied(f"{where} = {sql} of {value}", allowed)


def _timed(connection: sqlite3.Connection) -> list[str]:
    work = (*DEVICE_TABLES, CALLS)
    return [name for name in read_tables(connection) if name in work]


def near_time(export: Path, rng: Random) -> Applied:
    """A time that moved by up to a microsecond: possible, so nobody can tell.

    A microsecond of every row moves a share; one that stood at its limit then passes it.
    """
    with opened(export) as connection:
        table, column = chosen(rng, _timed(connection)), rng.choice(["start", "end"])
        value = rng.choice(NEAR_NS)
        where = _set(connection, rng, table, column, f'"{column}" + ?', value)
    allowed = Allowed.ANY_VERDICT if where.startswith("all") else Allowed.SAME_VERDICT
    return Applied(f"{where} moved by {value} ns", allowed)


def far_time(export: Path, rng: Random) -> Applied:
    """A time that moved by a second or by centuries."""
    with opened(export) as connection:
        table, column = chosen(rng, _timed(connection)), rng.choice(["start", "end"])
        value = rng.choice(FAR_NS)
        where = _set(connection, rng, table, column, f'"{column}" + ?', value)
    return Applied(f"{where} moved by {value} ns", Allowed.SAME_VERDICT)


def swapped_columns(export: Path, rng: Random) -> Applied:
    """Two columns in each other's place, as a wrong exporter would write them."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        names = columns(connection, table)
        if len(names) < 2:
            raise NotApplicable
        one, other = rng.sample(names, 2)
        try:
            connection.execute(f'UPDATE "{table}" SET "{one}" = "{other}", "{other}" = "{one}"')
        except sqlite3.IntegrityError as error:
            raise NotApplicable from error
    lax = table == RANGES or bool({one, other} & TELLING)
    allowed = Allowed.ANY_VERDICT if lax else Allowed.SAME_VERDICT
    return Applied(f"{one} and {other} of {table} swapped", allowed)


def orphan_texts(export: Path, rng: Random) -> Applied:
    """Ids of texts that the export does not hold."""
    with opened(export) as connection:
        if "StringIds" not in tables(connection):
            raise NotApplicable
        by = rng.choice([1, 10**6, -(10**6), 2**40])
        connection.execute(
            "CREATE TEMP TABLE kept AS SELECT id + ? AS id, value FROM StringIds", (by,)
        )
        connection.execute("DELETE FROM StringIds")
        connection.execute("INSERT INTO StringIds SELECT id, value FROM kept")
    # By one, each name has become that of its neighbour, which is a name, too.
    allowed = Allowed.ANY_VERDICT if by == 1 else Allowed.SAME_VERDICT
    return Applied(f"ids of all texts moved by {by}", allowed)


MUTATIONS: tuple[Mutation, ...] = (
    impossible_value,
    wrong_type,
    other_value,
    near_time,
    far_time,
    swapped_columns,
    orphan_texts,
)
