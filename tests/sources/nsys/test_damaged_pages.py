"""Flipped bits where SQLite keeps its own numbers: the same rows as SQLite's, or a refusal.

SQLite is asked whether the table is whole (`PRAGMA quick_check`) and what its rows are.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from overlapcheck.errors import ReportDamaged
from overlapcheck.sources.nsys.database import open_database
from overlapcheck.sources.nsys.pages import integer_columns
from tests.export import RealExport

NULL = -7
INTERIOR = 5
FLIPS = 250
EXPORTS = ("cu_double_buffer", "fx_p2p_serial", "pt_graph", "ddp_payload")


@dataclass(frozen=True)
class Target:
    """A table that our own reader decodes."""

    path: Path
    table: str
    columns: tuple[str, ...]
    content: bytes
    pages: tuple[int, ...]
    """Where each begins."""

    def damaged(self, rng: random.Random, path: Path) -> None:
        """Write the file with one to three bytes of the table changed."""
        content = bytearray(self.content)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            at = self._place(rng)
            content[at] ^= 1 << rng.randrange(8) if rng.random() < 0.7 else rng.randrange(1, 256)
        path.write_bytes(content)

    def _place(self, rng: random.Random) -> int:
        """A byte of a page's header, of a pointer, or near the begin of a row."""
        page = rng.choice(self.pages)
        header = header_bytes(self.content, page)
        cells = short(self.content, page + 3)
        kind = rng.choice(("header", "pointer", "row", "row")) if cells else "header"
        if kind == "header":
            return page + rng.randrange(header)
        pointer = page + header + 2 * rng.randrange(cells)
        if kind == "pointer":
            return pointer + rng.randrange(2)
        return page + short(self.content, pointer) + rng.randrange(rng.choice((3, 12, 30)))


def short(content: bytes, at: int) -> int:
    return int.from_bytes(content[at : at + 2], "big")


def header_bytes(content: bytes, page: int) -> int:
    return 12 if content[page] == INTERIOR else 8


def pages_of(content: bytes, root: int) -> Iterator[int]:
    page_bytes = short(content, 16)
    page = (root - 1) * page_bytes
    yield page
    if content[page] != INTERIOR:
        return
    places = [page + 8]
    places += [page + short(content, page + 12 + 2 * i) for i in range(short(content, page + 3))]
    for place in places:
        yield from pages_of(content, int.from_bytes(content[place : place + 4], "big"))


def targets(path: Path, least_rows: int = 3) -> list[Target]:
    content = path.read_bytes()
    found = []
    with closing(sqlite3.connect(path)) as connection:
        roots = connection.execute(
            "SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
        ).fetchall()
        for table, root in roots:
            described = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
            columns = tuple(row[1] for row in described if row[2] != "TEXT" and not row[5])
            decoded = integer_columns(path, table, dict.fromkeys(columns, NULL)) if columns else {}
            if decoded and decoded[columns[0]].size > least_rows:
                pages = tuple(pages_of(content, root))
                found.append(Target(path, table, columns, content, pages))
    return found


def rows_by_sqlite(path: Path, target: Target) -> dict[str, list[int]] | None:
    """All rows, or None where SQLite finds the table damaged."""
    chosen = ", ".join(f'ifnull("{name}", {NULL})' for name in target.columns)
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            said = connection.execute(f'PRAGMA quick_check("{target.table}")').fetchall()
            rows = connection.execute(f'SELECT {chosen} FROM "{target.table}"').fetchall()
    except sqlite3.Error:
        return None
    if said != [("ok",)]:
        return None
    return {name: [row[i] for row in rows] for i, name in enumerate(target.columns)}


def made(path: Path, page_bytes: int, seed: int) -> Path:
    """A table three levels deep, with gaps, rows out of place and row numbers of all lengths."""
    rng = random.Random(seed)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size = {page_bytes}")
        connection.execute("CREATE TABLE T (a INTEGER NOT NULL, b INTEGER, note TEXT, c INTEGER)")
        numbers = [rng.randint(-(2**bits), 2**bits) for bits in range(64) for _ in range(8)]
        for number in dict.fromkeys([*range(1500), *numbers]):
            row = (rng.getrandbits(rng.randrange(60)), rng.choice((None, 0, 1, 70_000)))
            note = rng.choice((None, "", "seven", "x" * 12))
            connection.execute(
                "INSERT OR IGNORE INTO T (rowid, a, b, note, c) VALUES (?, ?, ?, ?, 5)",
                (min(number, 2**63 - 1), *row, note),
            )
        connection.execute("DELETE FROM T WHERE rowid % 11 = 3")
        connection.commit()
    return path


@pytest.mark.parametrize("page_bytes", [512, 1024, 4096])
def test_gaps_and_row_numbers_of_every_length_are_decoded(page_bytes: int, tmp_path: Path) -> None:
    (target,) = targets(made(tmp_path / "made.sqlite", page_bytes, page_bytes))

    decoded = integer_columns(target.path, "T", dict.fromkeys(target.columns, NULL))

    assert decoded is not None
    expected = rows_by_sqlite(target.path, target)
    assert {name: values.tolist() for name, values in decoded.items()} == expected


def check(found: list[Target], seed: str, tmp_path: Path) -> None:
    rng = random.Random(seed)
    path = tmp_path / "damaged.sqlite"
    refused = same = 0
    for _ in range(FLIPS):
        target = rng.choice(found)
        target.damaged(rng, path)
        expected = rows_by_sqlite(path, target)
        decoded = integer_columns(path, target.table, dict.fromkeys(target.columns, NULL))
        refused += decoded is None
        if decoded is not None:
            assert {name: values.tolist() for name, values in decoded.items()} == expected
            same += 1
    # Both happen, or the flips miss what they are meant for.
    assert refused > FLIPS // 4
    assert same > 0


@pytest.mark.parametrize("name", EXPORTS)
def test_a_damaged_table_of_an_export_is_never_decoded_otherwise_than_sqlite_reads_it(
    name: str, real_export: RealExport, tmp_path: Path
) -> None:
    check(targets(real_export(name)), name, tmp_path)


@pytest.mark.parametrize("page_bytes", [512, 4096])
def test_a_damaged_table_with_gaps_is_never_decoded_otherwise_than_sqlite_reads_it(
    page_bytes: int, tmp_path: Path
) -> None:
    found = targets(made(tmp_path / "made.sqlite", page_bytes, page_bytes))
    check(found, f"made {page_bytes}", tmp_path)


def test_what_sqlite_refuses_is_refused_and_what_it_reads_is_read(
    real_export: RealExport, tmp_path: Path
) -> None:
    found = targets(real_export("cu_double_buffer"))
    rng = random.Random("whole way")
    path = tmp_path / "damaged.sqlite"
    outcomes = set()
    for _ in range(40):
        target = rng.choice(found)
        target.damaged(rng, path)
        expected = rows_by_sqlite(path, target)
        chosen = ", ".join(f'ifnull("{name}", {NULL}) AS "{name}"' for name in target.columns)
        try:
            with open_database(path) as db:
                columns = dict.fromkeys(target.columns, NULL)
                decoded = db.integer_columns(target.table, columns)
                # What the decoder leaves alone, SQLite answers.
                read = (
                    db.query(f'SELECT {chosen} FROM "{target.table}"').to_pydict()
                    if decoded is None
                    else {name: values.tolist() for name, values in decoded.items()}
                )
        except ReportDamaged as error:
            assert str(path) in error.message
            assert "\n" not in str(error)
            read = None
        assert read == expected
        outcomes.add(read is None)

    assert outcomes == {True, False}
