"""Integer columns of a table, straight from the pages of the SQLite file.

A row's integers lie in the file as one byte of type and one to eight bytes of value each. Decoding
thousands of rows at once costs a tenth of fetching them through SQLite, which hands over one value
per call. The layout is fixed for good: https://www.sqlite.org/fileformat2.html

    leaf page   kind . . rows . . . | pointer pointer ... |    free    | row | row |
    row         bytes, rowid, header length, type of each column | values

Only plain tables of integers are decoded: rows that spill over a page, long texts and anything that
looks wrong (see `btree`, `row_checks`) are left to SQLite, which also says what is wrong.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from overlapcheck.columns import Index, Ints, chosen, compact, constant
from overlapcheck.sources.nsys.btree import (
    LEAF,
    MORE,
    Bytes,
    Table,
    Undecodable,
    big_endian,
    leaves,
    loaded,
    page_cells,
    require_sound,
)
from overlapcheck.sources.nsys.excerpt import Keep
from overlapcheck.sources.nsys.integrity import quoted, uri_of
from overlapcheck.sources.nsys.row_checks import (
    NULL,
    SIZE,
    WORD,
    Affinity,
    Column,
    length_of_rest,
    require_rising,
)

# What is decoded at a time: much more leaves the processor's cache, and with much less two threads
# that decode side by side mostly wait for the interpreter.
_CHUNK_BYTES = 3 << 20
_REAL, _ZERO, _ONE = 7, 8, 9
_SHIFT: Final = 64 - 8 * np.minimum(SIZE, WORD)


@dataclass(frozen=True)
class _Wanted:
    name: str
    position: int
    """Of the column in a row."""
    otherwise: int
    """Stands for NULL."""


@dataclass(frozen=True)
class _Layout:
    """What a row holds."""

    columns: list[Column]
    wanted: list[_Wanted]
    """In the order of a row, one at least."""


def integer_columns(
    path: Path, table: str, columns: Mapping[str, int], keep: Keep | None = None
) -> dict[str, Ints] | None:
    """Columns of a table as int64, rows in the order of SQLite.

    Args:
        path: the database.
        table: name of a table in it.
        columns: what NULL becomes, by column.
        keep: chooses among some rows at a time; None takes all.

    Returns:
        Shape (n,) each, a column of one value stored once; None where SQLite must read them, or say
        that they are damaged.
    """
    try:
        found = _located(path, table, columns)
        descriptor = os.open(path, os.O_RDONLY)
    except (OSError, sqlite3.Error, Undecodable):
        return None
    try:
        return _read(descriptor, *found, keep)
    except (OSError, IndexError, Undecodable):
        return None
    finally:
        os.close(descriptor)


def _located(path: Path, table: str, columns: Mapping[str, int]) -> tuple[Table, _Layout]:
    """Where the table begins, and which of a row's values are wanted."""
    with closing(sqlite3.connect(uri_of(path), uri=True)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
        ).fetchone() or (0,)
        described = connection.execute(f"PRAGMA table_xinfo({quoted(table)})").fetchall()
    # Of a key SQLite may store the row's number only; generated columns are not stored at all.
    position = {name: number for number, name, _, _, _, key, _ in described if not key}
    if not root or any(row[6] for row in described) or not position.keys() >= columns.keys():
        raise Undecodable
    with path.open("rb") as stream:
        header = stream.read(100)
        size = stream.seek(0, os.SEEK_END)
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    pages = int.from_bytes(header[28:32], "big")
    if not pages or header[24:28] != header[92:96] or pages * page_bytes > size:
        raise Undecodable  # whoever wrote it last knew nothing of this count
    place = Table(page_bytes, page_bytes - header[20], pages, int(root))
    every = [
        Column(bool(not_null) and not key, Affinity.of(declared))
        for _, _, declared, not_null, _, key, _ in described
    ]
    wanted = [_Wanted(name, position[name], otherwise) for name, otherwise in columns.items()]
    return place, _Layout(every, sorted(wanted, key=lambda one: one.position))


def _read(descriptor: int, table: Table, layout: _Layout, keep: Keep | None) -> dict[str, Ints]:
    found = leaves(descriptor, table)
    count = max(1, _CHUNK_BYTES // table.page_bytes)
    parts: dict[str, list[Ints]] = {one.name: [] for one in layout.wanted}
    for first in range(0, found.page.size, count):
        chunk = slice(first, first + count)
        before = int(found.last_rowid[first - 1]) if first else None
        data, base = loaded(descriptor, table, found.page[chunk])
        decoded = _chunk(data, base, table, layout, (before, found.last_rowid[chunk]))
        rows = None if keep is None else np.flatnonzero(keep(decoded))
        for name, values in decoded.items():
            parts[name].append(values if rows is None else chosen(values, rows))
    return {name: _joined(parts.pop(name)) for name in list(parts)}


def _joined(parts: list[Ints]) -> Ints:
    filled = [part for part in parts if part.size]
    if not filled:
        return np.empty(0, dtype=np.int64)
    count = sum(part.size for part in filled)
    value = int(filled[0][0])
    if all(part.strides == (0,) and part[0] == value for part in filled):
        return constant(value, count)
    return np.concatenate(filled)


def _chunk(
    data: Bytes, base: Index, table: Table, layout: _Layout, rowids: tuple[int | None, Ints]
) -> dict[str, Ints]:
    """The wanted columns of the rows of some leaf pages.

    Args:
        data: holds the pages.
        base: where each begins in it.
        table: what they are of.
        layout: of a row.
        rowids: largest row number before these pages, and of each.
    """
    cells = page_cells(data, base, table, LEAF)
    length, at = _short_number(data, cells.start)
    header = require_rising(data, at, cells, rowids)
    end = header + length
    if (end > cells.page + table.usable_bytes).any() or (length > table.usable_bytes - 35).any():
        raise Undecodable
    require_sound(data, base, table, cells, end)
    return _values(data, layout, header, end)


def _short_number(data: Bytes, at: Index) -> tuple[Ints, Index]:
    """Variable-length numbers of one or two bytes, and where each ends."""
    value = data[at].astype(np.int64)
    long = value >= MORE
    if not long.any():
        return value, at + 1
    second = data[at + 1].astype(np.int64)
    if (second[long] >= MORE).any():
        raise Undecodable
    return np.where(long, (value - MORE) * MORE + second, value), at + 1 + long


def _values(data: Bytes, layout: _Layout, header: Index, end: Index) -> dict[str, Ints]:
    """The wanted values of each row; its types must account for all of its bytes."""
    if header.size == 0:
        return {one.name: np.empty(0, dtype=np.int64) for one in layout.wanted}
    last = layout.wanted[-1].position
    length = data[header].astype(np.int64)
    if not last + 1 < length.min() <= length.max() < MORE:
        raise Undecodable
    words = big_endian(data, "i8")
    by_position = {one.position: one for one in layout.wanted}
    at, ahead = header + length, 0
    found = {}
    for position, kind in enumerate(_types(data, header + 1, last + 1)):
        low, high = int(kind.min()), int(kind.max())
        if high >= MORE:
            raise Undecodable
        layout.columns[position].require_may_hold(kind)
        if position in by_position:
            one = by_position[position]
            found[one.name] = _column(words, at + ahead, kind, (low, high), one.otherwise)
        if low == high:
            ahead += int(SIZE[low])
        else:
            at, ahead = at + (SIZE[kind] + ahead), 0
    at += ahead
    for count in np.flatnonzero(np.bincount(length)).tolist():
        rows = slice(None) if length.min() == length.max() else length == count
        rest = length_of_rest(
            data, header[rows] + (last + 2), count - last - 2, layout.columns[last + 1 :]
        )
        if (at[rows] + rest != end[rows]).any():
            raise Undecodable
    return found


def _types(data: Bytes, at: Index, count: int) -> Iterator[Bytes]:
    """The types of the values, column by column: of each row, or the one of all rows.

    Args:
        data: holds the rows.
        at: where the first type of each row lies, one row at least.
        count: columns.
    """
    # In most columns all rows have the same type: eight are compared at once.
    words = np.ndarray((data.size - WORD + 1,), "<u8", data, strides=(1,))
    for begin in range(0, count, WORD):
        word = words[at + begin]
        differs = int(np.bitwise_or.reduce(word ^ word[0]))
        for shift in range(0, 8 * min(WORD, count - begin), 8):
            varies = differs >> shift & 0xFF
            yield ((word if varies else word[:1]) >> np.uint64(shift)).astype(np.uint8)


def _column(
    words: npt.NDArray[np.generic],
    at: Ints,
    kind: Bytes,
    kinds: tuple[int, int],
    otherwise: int,
) -> Ints:
    """Values of one column; a column of one value is stored once."""
    low, high = kinds
    if high > _ONE or _REAL in kinds or (low < _REAL < high and (kind == _REAL).any()):
        raise Undecodable
    if low == high and low in (NULL, _ZERO, _ONE):
        return constant({NULL: otherwise, _ZERO: 0, _ONE: 1}[low], at.size)
    word = words[at].astype(np.int64)
    word >>= _SHIFT[low] if low == high else np.minimum(_SHIFT[kind], 63)
    if low == NULL or high >= _ZERO:
        word[kind == NULL] = otherwise
        word[kind == _ZERO] = 0
        word[kind == _ONE] = 1
    return compact(word)
