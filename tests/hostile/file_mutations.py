"""Bytes of the file: flipped, cut off, zeroed, in the wrong place."""

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
)

HEADER = 100
"""Bytes before the first page's own header."""
_INTERIOR, _LEAF = 5, 13
_TABLES = (*DEVICE_TABLES, CALLS, TEXTS)


def _page_bytes(content: bytearray) -> int:
    size = int.from_bytes(content[16:18], "big")
    return 65536 if size == 1 else size


def _pages(export: Path, content: bytearray) -> list[int]:
    """Offsets of the pages of tables that are read, the schema's among them."""
    size = _page_bytes(content)
    with closing(sqlite3.connect(f"file:{export}?mode=ro", uri=True)) as connection:
        marks = ", ".join("?" * len(_TABLES))
        roots = connection.execute(
            f"SELECT rootpage FROM sqlite_master WHERE name IN ({marks})", _TABLES
        ).fetchall()
    found, left = [0], [int(root) for (root,) in roots]
    while left:
        at = (left.pop() - 1) * size
        found.append(at)
        if content[at] == _INTERIOR:
            count = int.from_bytes(content[at + 3 : at + 5], "big")
            cells = [
                at + int.from_bytes(content[at + 12 + 2 * n : at + 14 + 2 * n], "big")
                for n in range(count)
            ]
            left += [int.from_bytes(content[cell : cell + 4], "big") for cell in cells]
            left.append(int.from_bytes(content[at + 8 : at + 12], "big"))
    return found


def _flip(export: Path, content: bytearray, at: int, rng: Random, what: str) -> Applied:
    bit = rng.randint(0, 7)
    content[at] ^= 1 << bit
    export.write_bytes(content)
    return Applied(f"bit {bit} of byte {at} flipped, {what}", Allowed.SAME_VERDICT)


def flip_in_header(export: Path, rng: Random) -> Applied:
    """Of the file."""
    content = bytearray(export.read_bytes())
    return _flip(export, content, rng.randrange(HEADER), rng, "in the file's header")


def flip_in_page_header(export: Path, rng: Random) -> Applied:
    """Kind of page, first free block, number of rows, where they begin, the last child."""
    content = bytearray(export.read_bytes())
    page = rng.choice(_pages(export, content))
    at = (page or HEADER) + rng.randrange(12)
    return _flip(export, content, at, rng, f"in the header of the page at {page}")


def flip_in_pointers(export: Path, rng: Random) -> Applied:
    """Where a row begins."""
    content = bytearray(export.read_bytes())
    page = rng.choice(_pages(export, content))
    begin = page or HEADER
    count = int.from_bytes(content[begin + 3 : begin + 5], "big")
    if not count:
        raise NotApplicable
    first = begin + (8 if content[begin] == _LEAF else 12)
    at = first + rng.randrange(2 * count)
    return _flip(export, content, at, rng, f"in the row pointers of the page at {page}")


def flip_in_row_head(export: Path, rng: Random) -> Applied:
    """A row's length, number, or the types of its values."""
    content = bytearray(export.read_bytes())
    page = rng.choice(_pages(export, content))
    begin = page or HEADER
    count = int.from_bytes(content[begin + 3 : begin + 5], "big")
    if not count or content[begin] != _LEAF:
        raise NotApplicable
    pointer = begin + 8 + 2 * rng.randrange(count)
    row = page + int.from_bytes(content[pointer : pointer + 2], "big")
    at = min(row + rng.randrange(16), len(content) - 1)
    return _flip(export, content, at, rng, f"in the head of a row of the page at {page}")


def flip_in_page(export: Path, rng: Random) -> Applied:
    """Anywhere."""
    content = bytearray(export.read_bytes())
    page = rng.choice(_pages(export, content))
    at = page + rng.randrange(_page_bytes(content))
    return _flip(export, content, at, rng, f"in the page at {page}")


def scramble_page(export: Path, rng: Random) -> Applied:
    """A page of noise, of zeros, or half of it."""
    content = bytearray(export.read_bytes())
    page, size = rng.choice(_pages(export, content)), _page_bytes(content)
    first = rng.choice([0, size // 2])
    zeros = rng.random() < 0.5
    noise = bytes(size - first) if zeros else rng.randbytes(size - first)
    content[page + first : page + size] = noise
    export.write_bytes(content)
    how = "zeros" if zeros else "noise"
    return Applied(f"{how} in the page at {page} from {first}", Allowed.SAME_VERDICT)


def swap_pages(export: Path, rng: Random) -> Applied:
    """Two writes that went to each other's place, or one that was done twice."""
    content = bytearray(export.read_bytes())
    size = _page_bytes(content)
    pages = [page for page in _pages(export, content) if page]
    if len(pages) < 2:
        raise NotApplicable
    one, other = rng.sample(pages, 2)
    first, second = content[one : one + size], content[other : other + size]
    twice = rng.random() < 0.5
    content[one : one + size] = second
    content[other : other + size] = second if twice else first
    export.write_bytes(content)
    how = "copied over" if twice else "swapped with"
    return Applied(f"page at {other} {how} that at {one}", Allowed.SAME_VERDICT)


def no_rows_in_pages(export: Path, rng: Random) -> Applied:
    """Leaf pages of one table that say that they hold no rows."""
    content = bytearray(export.read_bytes())
    share = rng.choice([0.1, 0.5, 1.0])
    pages = [page for page in _pages(export, content) if page and content[page] == _LEAF]
    for page in rng.sample(pages, max(1, int(len(pages) * share))):
        content[page + 3 : page + 5] = b"\0\0"
    export.write_bytes(content)
    return Applied(f"no rows in {share:.0%} of the leaf pages", Allowed.SAME_VERDICT)


def cut_off(export: Path, rng: Random) -> Applied:
    """A copy that was not finished, with or without the header knowing."""
    content = bytearray(export.read_bytes())
    size = _page_bytes(content)
    length = rng.choice([0, 1, 15, 16, 99, 100, 512, rng.randrange(len(content)), len(content) - 1])
    if rng.random() < 0.3:
        length = max(size, length // size * size)
        content[28:32] = (length // size).to_bytes(4, "big")
    export.write_bytes(content[:length])
    return Applied(f"cut off at {length} of {len(content)} bytes", Allowed.SAME_VERDICT)


def page_size_and_count(export: Path, rng: Random) -> Applied:
    """What the header says about the pages."""
    content = bytearray(export.read_bytes())
    if rng.random() < 0.5:
        value = rng.choice([0, 1, 2, 511, 512, 1024, 8192, 32768, 65535])
        content[16:18] = value.to_bytes(2, "big")
        what = f"page size {value}"
    else:
        count = len(content) // _page_bytes(content)
        value = rng.choice([0, 1, count // 2, count - 1, count + 1, 2**31, 2**32 - 1])
        content[28:32] = value.to_bytes(4, "big")
        what = f"page count {value} of {count}"
    export.write_bytes(content)
    return Applied(what, Allowed.SAME_VERDICT)


def more_bytes(export: Path, rng: Random) -> Applied:
    """Something behind the last page."""
    content = export.read_bytes()
    length = rng.choice([1, 4095, 4096, 100_000])
    export.write_bytes(content + rng.randbytes(length))
    return Applied(f"{length} bytes of noise behind the end", Allowed.EQUAL_OR_REFUSED)


MUTATIONS: tuple[Mutation, ...] = (
    flip_in_header,
    flip_in_page_header,
    flip_in_pointers,
    flip_in_row_head,
    flip_in_page,
    scramble_page,
    swap_pages,
    no_rows_in_pages,
    cut_off,
    page_size_and_count,
    more_bytes,
)
