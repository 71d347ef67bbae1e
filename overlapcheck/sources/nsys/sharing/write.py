"""A part of an export, written as a new database from rows and texts that were chosen one by one.

Nothing is copied and then taken away: what SQLite deletes stays in the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import ABSENT, Ints
from overlapcheck.errors import TooLarge
from overlapcheck.grouping import distinct
from overlapcheck.shared_part import Kept, Part
from overlapcheck.sources.nsys.columnar import open_folder
from overlapcheck.sources.nsys.database import open_database
from overlapcheck.sources.nsys.integrity import quoted
from overlapcheck.sources.nsys.read import texts_of
from overlapcheck.sources.nsys.schemas import metadata
from overlapcheck.sources.nsys.schemas.select import NotWholeNumbers
from overlapcheck.sources.nsys.sharing.facts import Cell, Table, shared_facts
from overlapcheck.sources.nsys.sharing.names import Names
from overlapcheck.sources.nsys.sharing.rows import NULL, Chosen, chosen_rows
from overlapcheck.sources.nsys.sharing.tables import NAME_COLUMNS, TEXT_IDS, Named

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database

_FILE_COLUMN = "srcFile"


def shared_export(path: Path, part: Part) -> tuple[bytes, Kept]:
    """A part of an export as the bytes of a SQLite file that the reader judges like any other.

    Args:
        path: a SQLite file, or a folder of Parquet or Arrow tables.
        part: what is kept of it.

    Raises:
        InputUnreadable, ReportDamaged, NotAReport: naming the file and what to do.
        TooLarge: the part has more rows than it may.
    """
    with open_folder(path) if path.is_dir() else open_database(path) as db:
        try:
            return _shared(db, part)
        except NotWholeNumbers as error:
            why = f"column {error} holds something other than whole numbers"
            raise db.damaged(why) from error


def _shared(db: Database, part: Part) -> tuple[bytes, Kept]:
    rows = dict(chosen_rows(db, part))
    count = sum(chosen.count for chosen in rows.values())
    if part.most_rows is not None and count > part.most_rows:
        raise TooLarge(f"{db.path}: {count} rows are too many to be shared", "share a part of it")
    names = Names(metadata.people_and_machines(db), rename=part.rename)
    texts = _Texts(db, names)
    written = [_table(table, chosen, texts) for table, chosen in rows.items()]
    written += shared_facts(db, _processes(rows.values()))
    written.append(("StringIds", ("id", "value"), list(texts.rows())))
    kept = Kept(
        rows=count,
        rows_before=sum(chosen.before for chosen in rows.values()),
        tables_left_out=len(db.columns) - len(written),
        replaced=names.replaced,
    )
    return _database(written), kept


class _Texts:
    """The texts of a new export, under numbers of their own."""

    def __init__(self, db: Database, names: Names) -> None:
        self._db = db
        self._names = names
        self._ids: dict[str, int] = {}

    def numbered(self, kind: Named, ids: Ints, inline: Sequence[str]) -> tuple[Ints, list[str]]:
        """New numbers of the texts that rows refer to, and what stands for those in the rows.

        A number without a text stays without one.
        """
        used = distinct(ids)
        used = used[(used != NULL) & (used != ABSENT)]
        known = texts_of(self._db, [used]) if used.size else {}
        shared = self._names.shared(kind, [*known.values(), *inline])
        numbers = {old: self._id(shared[name]) for old, name in known.items()}
        new = np.array([numbers.get(old, NULL) for old in used.tolist()], dtype=np.int64)
        lost = np.flatnonzero(new == NULL)
        new[lost] = _NOWHERE + np.arange(lost.size)
        found = ids.copy()
        present = np.isin(ids, used)
        found[present] = new[np.searchsorted(used, ids[present])] if used.size else NULL
        return found, [shared[name] for name in inline]

    def _id(self, shared: str) -> int:
        return self._ids.setdefault(shared, len(self._ids) + 1)

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Rows of the table of texts."""
        return ((number, name) for name, number in self._ids.items())


_NOWHERE = 1 << 40
"""Numbers of texts that the export itself lacks, from here on."""


def _table(table: str, chosen: Chosen, texts: _Texts) -> Table:
    columns = dict(chosen.columns)
    inline: list[str] = []
    kind = NAME_COLUMNS.get(table)
    named = next((name for name in TEXT_IDS if kind and name in columns), None)
    if kind and (named or chosen.inline):
        ids = columns[named] if named else np.empty(0, dtype=np.int64)
        ids, inline = texts.numbered(kind, ids, chosen.inline)
        columns |= {named: ids} if named else {}
    if _FILE_COLUMN in columns:
        columns[_FILE_COLUMN], _ = texts.numbered(Named.FILE, columns[_FILE_COLUMN], ())
    cells: list[Sequence[Cell]] = [
        [None if value == NULL else value for value in column.tolist()]
        for column in columns.values()
    ]
    heads = tuple(columns)
    if chosen.inline:
        cells.append(inline)
        heads = (*heads, "text")
    return table, heads, list(zip(*cells, strict=True))


def _processes(rows: Iterable[Chosen]) -> frozenset[int]:
    """`globalPid >> 24` of those that any row is of."""
    ids = [
        distinct(chosen.columns[name] >> 24).tolist()
        for chosen in rows
        for name in ("globalPid", "globalTid")
        if name in chosen.columns
    ]
    return frozenset(pid for some in ids for pid in some)


def _database(tables: Sequence[Table]) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        for name, columns, rows in tables:
            declared = ", ".join(f"{quoted(one)} {_type(one)}" for one in columns)
            marks = ", ".join("?" * len(columns))
            connection.execute(f"CREATE TABLE {quoted(name)} ({declared})")
            connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", rows)
        connection.commit()
        return connection.serialize()


def _type(column: str) -> str:
    return "TEXT" if column in ("name", "value", "text", "label") else "INTEGER"
