"""Tables that are gone, renamed, or something else than tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

from tests.hostile.mutations import (
    CALLS,
    DEVICE_TABLES,
    TELLING,
    TEXTS,
    Allowed,
    Applied,
    Mutation,
    NotApplicable,
    allowed_without,
    chosen,
    columns,
    opened,
    read_tables,
    tables,
)

SCHEMA_TEXTS: dict[str, object] = {
    "no SQL": "CREATE TABLE",
    "other SQL": "SELECT load_extension('x')",
    "not UTF-8": b"CREATE TABLE \xff\xfe (start INTEGER, end INTEGER)",
    "NUL": "CREATE TABLE t (start\x00 INTEGER)",
    "a blob": b"\x00\x01",
    "a number": 7,
    "nothing": None,
    "deep": f"CREATE TABLE t (a DEFAULT {'(' * 5000}1{')' * 5000})",
    "wide": f"CREATE TABLE t ({', '.join(f'c{n}' for n in range(2000))})",
    "long": f"CREATE TABLE t (a /*{'x' * 3_000_000}*/)",
    "generated": "CREATE TABLE t (start INTEGER, end AS (start + 1), x AS (zeroblob(1000000000)))",
    "virtual": "CREATE VIRTUAL TABLE t USING nosuchmodule(a)",
}


def drop_table(export: Path, rng: Random) -> Applied:
    """A table that was not exported."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        connection.execute(f'DROP TABLE "{table}"')
    return Applied(f"{table} dropped", allowed_without(table))


def rename_table(export: Path, rng: Random) -> Applied:
    """A name of another version, or of none."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        name = table + rng.choice(["X", "_V2", "_V99999999999999999999", "_v3"])
        connection.execute(f'ALTER TABLE "{table}" RENAME TO "{name}"')
    # Exporters do append _V2: the rows are all there.
    return Applied(f"{table} renamed to {name}", allowed_without(table))


def _allowed_without_column(table: str, column: str) -> Allowed:
    # Old exporters had no such column: what it would have told cannot be missed.
    lax = column in TELLING - {"copyKind", "shortName", "nameId", "value", "id"}
    return Allowed.ANY_VERDICT if lax else allowed_without(table)


def drop_column(export: Path, rng: Random) -> Applied:
    """As an older exporter would leave it out."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        column = rng.choice(columns(connection, table))
        try:
            connection.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
        except sqlite3.Error as error:
            raise NotApplicable from error  # the key, or the only one
    return Applied(f"{table}.{column} dropped", _allowed_without_column(table, column))


def rename_column(export: Path, rng: Random) -> Applied:
    """A name that nothing asks for."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        column = rng.choice(columns(connection, table))
        connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{column}_"')
    return Applied(f"{table}.{column} renamed", _allowed_without_column(table, column))


_ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "


def view_for_table(export: Path, rng: Random) -> Applied:
    """A view of the same rows: not nsys's work."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        connection.execute(f'ALTER TABLE "{table}" RENAME TO moved')
        connection.execute(f'CREATE VIEW "{table}" AS SELECT * FROM moved')
    return Applied(f"{table} is a view", allowed_without(table))


def endless_view(export: Path, rng: Random) -> Applied:
    """A view that never ends, or that takes all memory."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        names = columns(connection, table)
        value = rng.choice(["n", "n", "randomblob(100000000)", "zeroblob(900000000)"])
        connection.execute(f'DROP TABLE "{table}"')
        chosen_columns = ", ".join(f'{value} AS "{name}"' for name in names)
        connection.execute(f'CREATE VIEW "{table}" AS {_ENDLESS} SELECT {chosen_columns} FROM c')
    return Applied(f"{table} is an endless view of {value}", allowed_without(table))


def virtual_table(export: Path, rng: Random) -> Applied:
    """A table that code of SQLite answers for."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        names = columns(connection, table)
        quoted = ", ".join(f'"{name}"' for name in names)
        connection.execute(f'ALTER TABLE "{table}" RENAME TO moved')
        module = rng.choice(["fts4", "fts5", "rtree", "dbstat"])
        arguments = {"rtree": "id, a, b", "dbstat": "main"}.get(module, quoted)
        try:
            connection.execute(f'CREATE VIRTUAL TABLE "{table}" USING {module}({arguments})')
            if module.startswith("fts"):
                connection.execute(f'INSERT INTO "{table}" SELECT {quoted} FROM moved LIMIT 50')
        except sqlite3.Error as error:
            raise NotApplicable from error
    return Applied(f"{table} is a virtual table of {module}", allowed_without(table))


def triggers(export: Path, rng: Random) -> Applied:
    """Code that runs on writing: nothing is ever written."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in (*DEVICE_TABLES, CALLS)])
        event = rng.choice(["DELETE", "UPDATE", "INSERT"])
        connection.execute(
            f"CREATE TRIGGER hostile AFTER {event} ON {table} BEGIN DELETE FROM {table};"
            " SELECT load_extension('/tmp/nothing'); END"
        )
    return Applied(f"a trigger on {event} of {table}", Allowed.EQUAL_OR_REFUSED)


def _write_schema(connection: sqlite3.Connection, sql: str, *values: object) -> None:
    # Whatever the compiled default: the schema is what is being damaged.
    if hasattr(connection, "setconfig"):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, False)  # type: ignore[attr-defined]
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(sql, values)


def odd_schema_text(export: Path, rng: Random) -> Applied:
    """The text that declares a table."""
    name, text = rng.choice(sorted(SCHEMA_TEXTS.items()))
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        if isinstance(text, str):
            text = text.replace(" t ", f' "{table}" ')
        cast = "CAST(? AS TEXT)" if name == "not UTF-8" else "?"
        _write_schema(
            connection, f"UPDATE sqlite_master SET sql = {cast} WHERE name = ?", text, table
        )
    return Applied(f"schema text of {table}: {name}", allowed_without(table))


def odd_schema_row(export: Path, rng: Random) -> Applied:
    """What a row of the schema says beside its text."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        column, value = rng.choice(
            [
                ("rootpage", 0),
                ("rootpage", 1),
                ("rootpage", -1),
                ("rootpage", 2**31),
                ("rootpage", 2**62),
                ("rootpage", None),
                ("rootpage", "two"),
                ("type", "view"),
                ("type", "index"),
                ("type", None),
                ("name", None),
                ("name", b"\xff"),
                ("name", "sqlite_stat1"),
                ("tbl_name", "other"),
            ]
        )
        _write_schema(
            connection, f"UPDATE sqlite_master SET {column} = ? WHERE name = ?", value, table
        )
    return Applied(f"{column} of {table} in the schema: {value!r}", allowed_without(table))


def table_of_another(export: Path, rng: Random) -> Applied:
    """A table that begins on the page of another, as after a lost write of the schema."""
    with opened(export) as connection:
        names = [t for t in tables(connection) if t in (*DEVICE_TABLES, CALLS, TEXTS)]
        if len(names) < 2:
            raise NotApplicable
        one, other = rng.sample(names, 2)
        _write_schema(
            connection,
            "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master"
            " WHERE name = ?) WHERE name = ?",
            other,
            one,
        )
    return Applied(f"{one} begins on the page of {other}", Allowed.SAME_VERDICT)


def no_export(export: Path, rng: Random) -> Applied:
    """A database of something else."""
    del rng
    export.unlink()
    with closing(sqlite3.connect(export)) as connection:
        connection.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        connection.commit()
    return Applied("a database with an empty table of texts", Allowed.SAME_VERDICT)


MUTATIONS: tuple[Mutation, ...] = (
    drop_table,
    rename_table,
    drop_column,
    rename_column,
    view_for_table,
    endless_view,
    virtual_table,
    triggers,
    odd_schema_text,
    odd_schema_row,
    table_of_another,
    no_export,
)
