"""Integers decoded from the file's pages are those that SQLite itself reads, or none at all."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.sources.nsys.pages import integer_columns

NULL = -7
LAYOUTS = ("plain", "key", "without rowid", "text", "column added", "odd values")


def value(rng: random.Random) -> int | None:
    bits = rng.choice((0, 1, 7, 15, 23, 31, 47, 63))
    return None if bits == 0 else rng.randint(-(2**bits), 2**bits - 1)


def rows_of(layout: str, count: int, rng: random.Random) -> list[tuple[Any, ...]]:
    def row(number: int) -> tuple[Any, ...]:
        plain = (value(rng), value(rng), value(rng))
        if layout == "key":
            return (number * 3, *plain)
        if layout == "without rowid":
            return (number, *plain[1:])
        if layout == "text":
            text = "x" * rng.choice((0, 5, 50, 400, 3000))
            return (plain[0], text, *plain[1:])
        if layout == "odd values" and number % 97 == 5:
            return (plain[0], plain[1], rng.choice((1.5, "text", b"bytes")))
        return plain

    return [row(number) for number in range(count)]


COLUMNS = {
    "key": "id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER",
    "without rowid": "a INTEGER PRIMARY KEY, b INTEGER, c INTEGER",
    "text": "a INTEGER, t TEXT, b INTEGER, c INTEGER",
}


def make(path: Path, layout: str, count: int, page_bytes: int, rng: random.Random) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size = {page_bytes}")
        connection.execute(f"PRAGMA auto_vacuum = {rng.choice((0, 1, 2))}")
        suffix = " WITHOUT ROWID" if layout == "without rowid" else ""
        columns = COLUMNS.get(layout, "a INTEGER, b INTEGER, c")
        connection.execute(f"CREATE TABLE T ({columns}){suffix}")
        rows = rows_of(layout, count, rng)
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO T VALUES ({marks})", rows)
        if layout == "column added":
            connection.execute("ALTER TABLE T ADD COLUMN d INTEGER DEFAULT 42")
            connection.execute("INSERT INTO T VALUES (1, 2, 3, 4)")
        elif layout != "without rowid":
            connection.execute("DELETE FROM T WHERE rowid % 3 = 0")
        connection.commit()


def read_by_sqlite(path: Path, names: list[str], order: str) -> dict[str, list[int]]:
    chosen = ", ".join(f"ifnull({name}, {NULL})" for name in names)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(f"SELECT {chosen} FROM T{order}").fetchall()
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


@pytest.mark.parametrize("page_bytes", [512, 1024, 4096, 65536])
@pytest.mark.parametrize("count", [0, 1, 7, 3000])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_decoded_is_what_sqlite_reads(
    tmp_path: Path, layout: str, count: int, page_bytes: int
) -> None:
    path = tmp_path / "t.sqlite"
    make(path, layout, count, page_bytes, random.Random(f"{layout}{count}{page_bytes}"))
    names = ["a", "b", "c", *(["d"] if layout == "column added" else [])]
    order = "" if layout == "without rowid" else " ORDER BY rowid"

    decoded = integer_columns(path, "T", dict.fromkeys(names, NULL))

    if decoded is not None:
        expected = read_by_sqlite(path, names, order)
        assert {name: values.tolist() for name, values in decoded.items()} == expected


@pytest.mark.parametrize("page_bytes", [1024, 4096])
def test_a_plain_table_is_decoded(tmp_path: Path, page_bytes: int) -> None:
    path = tmp_path / "t.sqlite"
    make(path, "plain", 3000, page_bytes, random.Random(1))

    assert integer_columns(path, "T", {"a": NULL, "c": NULL}) is not None


def test_rows_shorter_than_the_table_are_left_to_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    make(path, "column added", 50, 4096, random.Random(1))

    assert integer_columns(path, "T", {"d": NULL}) is None


def test_a_missing_table_and_a_file_that_is_no_database_are_left_to_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    make(path, "plain", 5, 4096, random.Random(1))
    other = tmp_path / "other"
    other.write_bytes(b"SQLite format 3\0" + bytes(5000))

    assert integer_columns(path, "U", {"a": NULL}) is None
    assert integer_columns(other, "T", {"a": NULL}) is None
