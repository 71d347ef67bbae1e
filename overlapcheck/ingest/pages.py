"""Integer columns of a table, straight from the pages of the SQLite file.

A row's integers lie in the file as one byte of type and one to eight bytes of value each. Decoding
thousands of rows at once costs a tenth of fetching them through SQLite, which hands over one value
per call. The layout is fixed for good: https://www.sqlite.org/fileformat2.html

    leaf page   kind . . rows . . . | pointer pointer ... |    free    | row | row |
    row         bytes, rowid, header length, type of each column | values

Only plain tables of integers are decoded: rows that spill over a page, long texts and anything that
looks wrong are left to SQLite, which also says what is wrong.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from overlapcheck.columns import Ints, chosen, compact, constant
from overlapcheck.ingest.excerpt import Keep

_Bytes = npt.NDArray[np.uint8]

_INTERIOR, _LEAF = 5, 13
# What is decoded at a time: much more leaves the processor's cache, and with much less two threads
# that decode side by side mostly wait for the interpreter.
_CHUNK_BYTES = 3 << 20
# A value is fetched as eight bytes, whatever it needs of them.
_WORD = 8
_NULL, _REAL, _ZERO, _ONE = 0, 7, 8, 9
_MORE = 0x80
"""Set in each byte of a variable-length number but its last."""


def _sizes() -> Ints:
    """Bytes of a value by its type."""
    text = [(number - 12) // 2 for number in range(12, 256)]
    return np.array([0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0, *text], dtype=np.int64)


_SIZE: Final = _sizes()
_SHIFT: Final = 64 - 8 * np.minimum(_SIZE, _WORD)


class _Undecodable(Exception):
    """The table holds something that only SQLite can read."""


@dataclass(frozen=True)
class _Wanted:
    name: str
    position: int
    """Of the column in a row."""
    otherwise: int
    """Stands for NULL."""


@dataclass(frozen=True)
class _Table:
    page_bytes: int
    usable_bytes: int
    """Of a page: its end may be reserved."""
    pages: int
    root: int


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
        Shape (n,) each, a column of one value stored once; None where SQLite must read them.
    """
    try:
        found = _located(path, table, columns)
        descriptor = os.open(path, os.O_RDONLY)
    except (OSError, sqlite3.Error, _Undecodable):
        return None
    try:
        return _read(descriptor, *found, keep)
    except (OSError, IndexError, _Undecodable):
        return None
    finally:
        os.close(descriptor)


def _located(path: Path, table: str, columns: Mapping[str, int]) -> tuple[_Table, list[_Wanted]]:
    """Where the table begins, and which of a row's values are wanted."""
    uri = f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)
        ).fetchone() or (0,)
        quoted = '"' + table.replace('"', '""') + '"'
        described = connection.execute(f"PRAGMA table_xinfo({quoted})").fetchall()
    # Of a key SQLite may store the row's number only; generated columns are not stored at all.
    position = {name: number for number, name, _, _, _, key, _ in described if not key}
    if not root or any(row[6] for row in described) or not position.keys() >= columns.keys():
        raise _Undecodable
    with path.open("rb") as stream:
        header = stream.read(100)
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    place = _Table(
        page_bytes, page_bytes - header[20], int.from_bytes(header[28:32], "big"), int(root)
    )
    wanted = [_Wanted(name, position[name], otherwise) for name, otherwise in columns.items()]
    return place, sorted(wanted, key=lambda one: one.position)


def _read(
    descriptor: int, table: _Table, wanted: list[_Wanted], keep: Keep | None
) -> dict[str, Ints]:
    leaves = _leaves(descriptor, table)
    count = max(1, _CHUNK_BYTES // table.page_bytes)
    parts: dict[str, list[Ints]] = {one.name: [] for one in wanted}
    for first in range(0, leaves.size, count):
        decoded = _chunk(descriptor, table, wanted, leaves[first : first + count])
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


def _leaves(descriptor: int, table: _Table) -> Ints:
    """Numbers of the pages that hold rows, in the order of the rows; all lie equally deep."""
    level = np.array([table.root], dtype=np.int64)
    seen = 0
    while True:
        seen += level.size
        if level.min() < 1 or level.max() > table.pages or seen > table.pages:
            raise _Undecodable
        first = os.pread(descriptor, 1, (int(level[0]) - 1) * table.page_bytes)
        if first != bytes([_INTERIOR]):
            return level
        level = np.concatenate(list(_children(descriptor, table, level)))


def _children(descriptor: int, table: _Table, level: Ints) -> Iterator[Ints]:
    for number in level.tolist():
        page = np.frombuffer(
            os.pread(descriptor, table.page_bytes, (number - 1) * table.page_bytes), dtype=np.uint8
        )
        if page.size < table.page_bytes or page[0] != _INTERIOR:
            raise _Undecodable
        pointer = page[12 : 12 + 2 * (int(page[3]) << 8 | int(page[4]))].view(">u2")
        child = np.append(pointer.astype(np.int64), 8)
        yield _big_endian(page, "u4")[child].astype(np.int64)


def _big_endian(page: _Bytes, kind: str) -> npt.NDArray[np.generic]:
    """The bytes as numbers that begin at every one of them."""
    dtype = np.dtype(f">{kind}")
    return np.ndarray((page.size - dtype.itemsize + 1,), dtype, page, strides=(1,))


def _chunk(descriptor: int, table: _Table, wanted: list[_Wanted], pages: Ints) -> dict[str, Ints]:
    """The wanted columns of the rows of some leaf pages."""
    data, base = _loaded(descriptor, table, pages)
    if (data[base] != _LEAF).any():
        raise _Undecodable
    short = _big_endian(data, "u2")
    rows = short[base + 3].astype(np.int64)
    page = np.repeat(base, rows)
    within = np.arange(page.size) - np.repeat(np.cumsum(rows) - rows, rows)
    row = page + short[page + 8 + 2 * within].astype(np.int64)
    length, payload = _number(data, row)
    header = _after_number(data, payload)
    end = header + length
    if (end > page + table.usable_bytes).any() or (length > table.usable_bytes - 35).any():
        raise _Undecodable
    return _values(data, wanted, header, end)


def _loaded(descriptor: int, table: _Table, pages: Ints) -> tuple[_Bytes, Ints]:
    """The pages' bytes, and where each page begins in them."""
    size = table.page_bytes
    first, last = int(pages.min()), int(pages.max())
    if last - first < 2 * pages.size:
        base = (pages - first) * size
        runs = [(0, last - first + 1, first)]
    else:
        base = np.arange(pages.size) * size
        runs = [(i, 1, number) for i, number in enumerate(pages.tolist())]
    data = np.empty(int(base.max()) + size + _WORD, dtype=np.uint8)
    for begin, count, number in runs:
        target = data[begin * size : (begin + count) * size].data
        if os.preadv(descriptor, [target], (number - 1) * size) < target.nbytes:
            raise _Undecodable
    return data, base


def _number(data: _Bytes, at: Ints) -> tuple[Ints, Ints]:
    """Variable-length numbers of one or two bytes, and where each ends."""
    value = data[at].astype(np.int64)
    long = value >= _MORE
    if not long.any():
        return value, at + 1
    second = data[at + 1].astype(np.int64)
    if (second[long] >= _MORE).any():
        raise _Undecodable
    return np.where(long, (value - _MORE) * _MORE + second, value), at + 1 + long


def _after_number(data: _Bytes, at: Ints) -> Ints:
    """Where each variable-length number ends."""
    more = data[at] >= _MORE
    at = at + 1
    while more.any():
        at += more
        more &= data[at - 1] >= _MORE
    return at


def _values(data: _Bytes, wanted: list[_Wanted], header: Ints, end: Ints) -> dict[str, Ints]:
    last = wanted[-1].position
    length = data[header].astype(np.int64)
    if length.size and not last + 1 < length.min() <= length.max() < _MORE:
        raise _Undecodable
    words = _big_endian(data, "i8")
    by_position = {one.position: one for one in wanted}
    at = header + length
    found = {}
    for position in range(last + 1):
        kind = data[header + (1 + position)]
        low, high = (int(kind.min()), int(kind.max())) if kind.size else (_NULL, _NULL)
        if high >= _MORE:
            raise _Undecodable
        if position in by_position:
            one = by_position[position]
            found[one.name] = _column(words, at, kind, (low, high), one.otherwise)
        at = at + (_SIZE[low] if low == high else _SIZE[kind])
    if (at > end).any():
        raise _Undecodable
    return found


def _column(
    words: npt.NDArray[np.generic],
    at: Ints,
    kind: _Bytes,
    kinds: tuple[int, int],
    otherwise: int,
) -> Ints:
    """Values of one column; a column of one value is stored once."""
    low, high = kinds
    if high > _ONE or _REAL in kinds or (low < _REAL < high and (kind == _REAL).any()):
        raise _Undecodable
    if low == high and low in (_NULL, _ZERO, _ONE):
        return constant({_NULL: otherwise, _ZERO: 0, _ONE: 1}[low], at.size)
    word = words[at].astype(np.int64)
    word >>= _SHIFT[low] if low == high else np.minimum(_SHIFT[kind], 63)
    if low == _NULL or high >= _ZERO:
        word[kind == _NULL] = otherwise
        word[kind == _ZERO] = 0
        word[kind == _ONE] = 1
    return compact(word)
