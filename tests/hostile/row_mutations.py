"""Rows lost, doubled, or added by the thousand."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

from tests.hostile.mutations import (
    CALLS,
    DEVICE_TABLES,
    Allowed,
    Applied,
    Mutation,
    NotApplicable,
    allowed_without,
    chosen,
    columns,
    opened,
    read_tables,
    rowids,
    tables,
)

SHARES = (0.0, 0.01, 0.1, 0.33, 0.7)
"""How much is lost; the first is a single row."""
KERNELS = DEVICE_TABLES[0]


def _delete(connection: sqlite3.Connection, table: str, rows: list[int]) -> None:
    connection.executemany(f'DELETE FROM "{table}" WHERE rowid = ?', [(row,) for row in rows])


def _loss(table: str, what: str) -> Applied:
    return Applied(f"{what} of {table} deleted", allowed_without(table))


def _some(rng: Random, rows: list[int]) -> int:
    return min(len(rows), max(1, int(len(rows) * rng.choice(SHARES))))


def delete_all_rows(export: Path, rng: Random) -> Applied:
    """An empty table."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        connection.execute(f'DELETE FROM "{table}"')
    return _loss(table, "all rows")


def delete_scattered_rows(export: Path, rng: Random) -> Applied:
    """Rows lost here and there."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        rows = rowids(connection, table)
        lost = rng.sample(rows, _some(rng, rows))
        _delete(connection, table, lost)
    return _loss(table, f"{len(lost)} scattered of {len(rows)} rows")


def delete_stretch_of_rows(export: Path, rng: Random) -> Applied:
    """A buffer lost in the midst."""
    with opened(export) as connection:
        table = chosen(rng, read_tables(connection))
        rows = rowids(connection, table)
        count = _some(rng, rows)
        first = rng.randint(0, len(rows) - count)
        _delete(connection, table, rows[first : first + count])
    return _loss(table, f"{count} rows from the {first}th of {len(rows)}")


def delete_tail_of_rows(export: Path, rng: Random) -> Applied:
    """The last buffer of one table never flushed, the others whole."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in read_tables(connection) if t in (*DEVICE_TABLES, CALLS)])
        rows = rowids(connection, table)
        count = _some(rng, rows)
        _delete(connection, table, rows[-count:])
    return _loss(table, f"the last {count} of {len(rows)} rows")


def delete_process_from_table(export: Path, rng: Random) -> Applied:
    """One process or device gone from one table, everything else of it there."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in DEVICE_TABLES])
        key = rng.choice(["globalPid", "deviceId", "streamId"])
        values = connection.execute(f'SELECT DISTINCT {key} FROM "{table}" ORDER BY 1').fetchall()
        (value,) = rng.choice(values)
        connection.execute(f'DELETE FROM "{table}" WHERE {key} IS ?', (value,))
    return _loss(table, f"all rows with {key} = {value}")


def delete_launch_with_kernel(export: Path, rng: Random) -> Applied:
    """Both ends of a launch: nothing is left that could tell of it, so nothing can."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in tables(connection) if t in DEVICE_TABLES])
        if CALLS not in tables(connection):
            raise NotApplicable
        rows = rowids(connection, table)
        lost = rng.sample(rows, _some(rng, rows))
        for row in lost:
            connection.execute(
                f"DELETE FROM {CALLS} WHERE correlationId ="
                f" (SELECT correlationId FROM {table} WHERE rowid = ?)",
                (row,),
            )
        _delete(connection, table, lost)
    return Applied(f"{len(lost)} rows of {table} deleted with their calls", Allowed.ANY_VERDICT)


def double_rows(export: Path, rng: Random) -> Applied:
    """A buffer written twice."""
    with opened(export) as connection:
        table = chosen(rng, [t for t in read_tables(connection) if t != "StringIds"])
        rows = rowids(connection, table)
        twice = rng.sample(rows, _some(rng, rows))
        keys = [r[1] for r in connection.execute(f'PRAGMA table_info("{table}")') if r[5]]
        if keys:
            raise NotApplicable
        for row in twice:
            connection.execute(
                f'INSERT INTO "{table}" SELECT * FROM "{table}" WHERE rowid = ?', (row,)
            )
    return Applied(f"{len(twice)} of {len(rows)} rows of {table} doubled", Allowed.SAME_VERDICT)


def thousands_of_processes(export: Path, rng: Random) -> Applied:
    """A small file that names more processes, devices or streams than any machine has."""
    with opened(export) as connection:
        if not {KERNELS, CALLS} <= set(tables(connection)):
            raise NotApplicable
        column = rng.choice(["globalPid", "deviceId", "contextId", "streamId"])
        count = rng.choice([500, 2000, 5000])
        names = columns(connection, KERNELS)
        if column not in names:
            raise NotApplicable
        step = 1 << 24 if column == "globalPid" else 1
        values = ", ".join(
            f'"{name}" + ? * {step}' if name == column else f'"{name}"' for name in names
        )
        insert = f"INSERT INTO {KERNELS} SELECT {values} FROM {KERNELS} ORDER BY rowid LIMIT 1"
        connection.executemany(insert, [(number,) for number in range(1, count + 1)])
        if column == "globalPid":
            names = columns(connection, CALLS)
            values = ", ".join(
                f'"{name}" + ? * {step}' if name == "globalTid" else f'"{name}"' for name in names
            )
            calls = (
                f"INSERT INTO {CALLS} SELECT {values} FROM {CALLS} WHERE correlationId ="
                f" (SELECT correlationId FROM {KERNELS} ORDER BY rowid LIMIT 1) LIMIT 1"
            )
            connection.executemany(calls, [(number,) for number in range(1, count + 1)])
    return Applied(f"a kernel on each of {count} more by {column}", Allowed.ANY_VERDICT)


MUTATIONS: tuple[Mutation, ...] = (
    delete_all_rows,
    delete_scattered_rows,
    delete_stretch_of_rows,
    delete_tail_of_rows,
    delete_process_from_table,
    delete_launch_with_kernel,
    double_rows,
    thousands_of_processes,
)
