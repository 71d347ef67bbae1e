"""The pages of a table in a SQLite file, each checked as `PRAGMA quick_check` checks it.

A flipped bit in a page's header, in a pointer or in a row's length may show other rows, or one of
them twice. SQLite's own check finds that, but takes longer than all of our reading. Here it costs
little: a page that nsys wrote has no gap between its rows, each of which lies before the last:

    | header | pointer pointer ... |    free    | ... | second row | first row |

Any other page is checked the way SQLite does it, one by one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from overlapcheck.columns import Index, Ints

Bytes = npt.NDArray[np.uint8]

INTERIOR: Final = 5
LEAF: Final = 13
MORE: Final = 0x80
"""Set in each byte of a variable-length number but its last."""
LONGEST_NUMBER: Final = 9
_HEADER_BYTES: Final = {INTERIOR: 12, LEAF: 8}
_LEAST_CELL_BYTES: Final = 4
_DEEPEST: Final = 20
_LOCK_BYTE: Final = 1 << 30
"""The page that holds it is of no table."""
_LAST_ROWID: Final = np.iinfo(np.int64).max


class Undecodable(Exception):
    """The table holds something that only SQLite can read, or refuse."""


@dataclass(frozen=True)
class Table:
    """Where a table lies in a file."""

    page_bytes: int
    usable_bytes: int
    """Of a page: its end may be reserved."""
    pages: int
    """Of the file."""
    root: int


@dataclass(frozen=True)
class Leaves:
    """The pages that hold a table's rows, in the order of the rows; all lie equally deep."""

    page: Ints
    last_rowid: Ints
    """Largest row number that each may hold."""


@dataclass(frozen=True)
class Cells:
    """The cells of some pages of one kind, in the order of their pointers."""

    count: Ints
    """Of each page."""
    page: Index
    """Where the page of each cell begins in the data."""
    start: Index
    """Where each cell begins in the data."""


def leaves(descriptor: int, table: Table) -> Leaves:
    """Walk down from the root.

    Raises:
        Undecodable: the tree is damaged.
    """
    level = np.array([table.root], dtype=np.int64)
    last = np.array([_LAST_ROWID], dtype=np.int64)
    seen = [level]
    for _ in range(_DEEPEST):
        if level.min() < 2 or level.max() > table.pages:
            raise Undecodable
        kind = os.pread(descriptor, 1, (int(level[0]) - 1) * table.page_bytes)
        if kind != bytes([INTERIOR]):
            _require_once(np.concatenate(seen), table)
            return Leaves(level, last)
        level, last = _children(descriptor, table, level, last)
        seen.append(level)
        if sum(pages.size for pages in seen) > table.pages:
            break
    raise Undecodable


def _require_once(pages: Ints, table: Table) -> None:
    """No page lies in a tree twice."""
    in_order = np.sort(pages)
    if (in_order[1:] == in_order[:-1]).any() or (pages == _LOCK_BYTE // table.page_bytes + 1).any():
        raise Undecodable


def _children(descriptor: int, table: Table, level: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Pages below the pages of a level, and the largest row number that each may hold."""
    data, base = loaded(descriptor, table, level)
    cells = page_cells(data, base, table, INTERIOR)
    words = big_endian(data, "u4")
    rowid, end = numbers(data, cells.start + 4)
    require_sound(data, base, table, cells, end)
    # The last child of a page stands in its header.
    behind = np.cumsum(cells.count)
    child = np.insert(words[cells.start].astype(np.int64), behind, words[base + 8])
    return child, np.insert(rowid, behind, last)


def loaded(descriptor: int, table: Table, pages: Ints) -> tuple[Bytes, Index]:
    """The pages' bytes, and where each page begins in them; a number may begin in the last byte.

    Raises:
        Undecodable: the file ends before them.
    """
    size = table.page_bytes
    first, last = int(pages.min()), int(pages.max())
    if last - first < 2 * pages.size:
        base = (pages - first) * size
        runs = [(0, last - first + 1, first)]
    else:
        base = np.arange(pages.size) * size
        runs = [(i, 1, number) for i, number in enumerate(pages.tolist())]
    data = np.empty(int(base.max()) + size + LONGEST_NUMBER, dtype=np.uint8)
    for begin, count, number in runs:
        target = data[begin * size : (begin + count) * size].data
        if os.preadv(descriptor, [target], (number - 1) * size) < target.nbytes:
            raise Undecodable
    return data, base


def big_endian(data: Bytes, kind: str) -> npt.NDArray[np.generic]:
    """The bytes as numbers that begin at every one of them."""
    dtype = np.dtype(f">{kind}")
    return np.ndarray((data.size - dtype.itemsize + 1,), dtype, data, strides=(1,))


def numbers(data: Bytes, at: Index) -> tuple[Ints, Index]:
    """Variable-length numbers, and where each ends: seven bits a byte, the ninth has eight."""
    value = np.zeros(at.shape, dtype=np.int64)
    end = at
    more = np.ones(at.shape, dtype=bool)
    for place in range(LONGEST_NUMBER):
        byte = data[end].astype(np.int64)
        bits, mask = (8, 0xFF) if place == LONGEST_NUMBER - 1 else (7, 0x7F)
        value = np.where(more, (value << bits) | (byte & mask), value)
        end = end + more
        more = more & (byte >= MORE)
        if not more.any():
            break
    return value, end


def page_cells(data: Bytes, base: Index, table: Table, kind: int) -> Cells:
    """Where the cells of some pages begin.

    Args:
        data: holds the pages.
        base: where each begins in it.
        table: what they are of.
        kind: that all must be of.

    Raises:
        Undecodable: a page is damaged.
    """
    header = _HEADER_BYTES[kind]
    short = big_endian(data, "u2")
    count = short[base + 3].astype(np.int64)
    if (data[base] != kind).any() or (count > (table.page_bytes - 8) // 6).any():
        raise Undecodable
    if not count.all() and (base.size > 1 or kind == INTERIOR):
        raise Undecodable  # of an empty table only
    page = np.repeat(base, count)
    within = np.arange(page.size) - np.repeat(np.cumsum(count) - count, count)
    start = short[page + header + 2 * within].astype(np.int64)
    if (start > table.usable_bytes - _LEAST_CELL_BYTES).any():
        raise Undecodable
    return Cells(count, page, page + start)


def require_sound(data: Bytes, base: Index, table: Table, cells: Cells, end: Index) -> None:
    """Every byte of a page's content is of one cell, or of a gap that the page tells of.

    Args:
        data: holds the pages.
        base: where each begins in it.
        table: what they are of.
        cells: of these pages.
        end: where each cell ends.

    Raises:
        Undecodable: a page is damaged.
    """
    short = big_endian(data, "u2")
    header = _HEADER_BYTES[int(data[base[0]])]
    content = short[base + 5].astype(np.int64)
    content[content == 0] = 65536
    end = np.maximum(end, cells.start + _LEAST_CELL_BYTES)
    bounds = np.concatenate(([0], np.cumsum(cells.count)))
    full = bounds[1:] > bounds[:-1]
    first, last = bounds[:-1][full], bounds[1:][full] - 1
    packed = (short[base + 1] == 0) & (data[base + 7] == 0)
    packed &= content >= header + 2 * cells.count
    lowest = np.full(base.shape, table.usable_bytes, dtype=np.int64)
    lowest[full] = cells.start[last] - base[full]
    packed &= content == lowest
    # Each ends where the one before it begins, the first at the end of the page.
    meets = np.empty(end.shape, dtype=np.int64)
    meets[1:] = cells.start[:-1]
    meets[first] = base[full] + table.usable_bytes
    apart = end != meets
    if packed.all() and not apart.any():
        return
    packed[np.searchsorted(bounds, np.flatnonzero(apart), side="right") - 1] = False
    for number in np.flatnonzero(~packed).tolist():
        mine = slice(bounds[number], bounds[number + 1])
        used = np.column_stack((cells.start[mine], end[mine])) - base[number]
        page = data[base[number] : base[number] + table.page_bytes]
        _require_disjoint(page, table, header, int(content[number]), used)


def _require_disjoint(page: Bytes, table: Table, header: int, content: int, used: Ints) -> None:
    """The check of one page: cells and free blocks from the content's begin to the page's end."""
    free = np.array(list(_free_blocks(page, table, content)), dtype=np.int64).reshape(-1, 2)
    both = np.concatenate((used, free))
    both = both[np.argsort(both[:, 0])]
    begins = np.append(both[:, 0], table.usable_bytes)
    ends = np.append(content, both[:, 1])
    gaps = begins - ends
    room = content + int(page[7]) + int((free[:, 1] - free[:, 0]).sum())
    if (
        (gaps < 0).any()
        or int(gaps.sum()) != page[7]
        or not header + 2 * used.shape[0] <= room <= table.usable_bytes
    ):
        raise Undecodable


def _free_blocks(page: Bytes, table: Table, content: int) -> Iterator[tuple[int, int]]:
    at, least = _short(page, 1), content
    while at:
        if not least <= at <= table.usable_bytes - 4:
            raise Undecodable
        size = _short(page, at + 2)
        yield at, at + size
        # Blocks closer than four bytes would be one.
        at, least = _short(page, at), at + size + 4


def _short(page: Bytes, at: int) -> int:
    return int(page[at]) << 8 | int(page[at + 1])
