"""Whether rows of a page are sound: numbers that rise, types that may be stored, nothing left over.

What is not goes to SQLite, which says what is wrong; see `pages` for how a row is laid out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

import numpy as np

from overlapcheck.columns import Index, Ints
from overlapcheck.sources.nsys.btree import MORE, Bytes, Cells, Undecodable, big_endian, numbers

# A value is fetched as eight bytes, whatever it needs of them.
WORD = 8
NULL = 0
_FIRST_TEXT = 12
_NUMBER_BITS: Final = np.int64(-0x7F7F7F7F7F7F7F80)
"""Of eight bytes the bit that says whether a number goes on."""


def _sizes() -> Ints:
    """Bytes of a value by its type."""
    text = [(number - _FIRST_TEXT) // 2 for number in range(_FIRST_TEXT, 256)]
    return np.array([0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0, *text], dtype=np.int64)


SIZE: Final = _sizes()
_SIZE_OF_TWO: Final = (SIZE[:, None] + SIZE).ravel()
"""Bytes of two values, by the two bytes of their types."""


@dataclass(frozen=True)
class Column:
    """What may be stored in a column: SQLite's check tells other things from damage."""

    filled: bool
    """Not NULL."""
    affinity: Affinity

    def require_may_hold(self, kind: Bytes) -> None:
        """Raise Undecodable unless values of these types, one at least, may be stored in it."""
        if self.affinity is Affinity.TEXT:
            allowed = (kind >= _FIRST_TEXT) | ((kind == NULL) & (not self.filled))
            sound = bool(allowed.all())
        else:
            sound = int(kind.min()) >= self.filled
            sound &= self.affinity is Affinity.NONE or int(kind.max()) <= _FIRST_TEXT
        if not sound:
            raise Undecodable


class Affinity(Enum):
    """What SQLite turns values into before it stores them."""

    NUMBER = auto()
    TEXT = auto()
    NONE = auto()

    @classmethod
    def of(cls, declared: str) -> Affinity:
        """That of a column's declared type."""
        said = declared.upper()
        if "INT" in said:
            return cls.NUMBER
        if any(word in said for word in ("CHAR", "CLOB", "TEXT")):
            return cls.TEXT
        return cls.NONE if not said or "BLOB" in said else cls.NUMBER


def require_rising(data: Bytes, at: Index, cells: Cells, bounds: tuple[int | None, Ints]) -> Index:
    """Where the rows' numbers end; they count up, each page's within its bounds."""
    if at.size == 0:
        return at
    before, last = bounds
    row = np.cumsum(cells.count)
    words = big_endian(data, "i8")[at].astype(np.int64)
    going_on = words & _NUMBER_BITS
    bytes_each = _number_bytes(int(going_on[0]))
    shift = 64 - 8 * bytes_each
    if bytes_each < WORD and (going_on >> shift == going_on[0] >> shift).all():
        # Of equally many bytes: those of the larger number are the larger.
        words >>= shift
        in_order = bool((words[1:] > words[:-1]).all())
        end = at + bytes_each
        highest, _ = numbers(data, at[row - 1])
        lowest, _ = numbers(data, at[row - cells.count])
    else:
        value, end = numbers(data, at)
        in_order = bool((value[1:] > value[:-1]).all())
        highest, lowest = value[row - 1], value[row - cells.count]
    above = bool((lowest[1:] > last[:-1]).all()) and (before is None or lowest[0] > before)
    if not in_order or not above or (highest > last).any():
        raise Undecodable
    return end


def _number_bytes(going_on: int) -> int:
    """Bytes of the number that a word begins with, from the bits that say so."""
    for count in range(1, WORD + 1):
        if not going_on >> (64 - 8 * count) & MORE:
            return count
    return WORD + 1


def length_of_rest(data: Bytes, at: Index, count: int, columns: list[Column]) -> Ints | int:
    """Bytes of the values after the wanted ones.

    Args:
        data: holds the rows.
        at: where the first of their types lies.
        count: bytes of their types.
        columns: that they are of; a row may have fewer, or more.
    """
    columns = columns + [Column(False, Affinity.NONE)] * (count - len(columns))
    total: Ints | int = 0
    for begin in range(0, count, WORD):
        some = min(WORD, count - begin)
        word = big_endian(data, "u8")[at + begin].astype(np.uint64) >> np.uint64(64 - 8 * some)
        # Most columns after the wanted ones hold the same for all rows.
        distinct = word[:1] if (word == word[0]).all() else word
        types = [(distinct >> np.uint64(8 * i)).astype(np.uint8) for i in range(some)][::-1]
        for kind, column in zip(types, columns[begin : begin + some], strict=True):
            if (kind >= MORE).any():
                return _rest_with_texts(data, at, count, columns)
            column.require_may_hold(kind)
        types += [np.zeros(1, dtype=np.uint8)] * (some % 2)
        for first, second in zip(types[::2], types[1::2], strict=True):
            total = total + _SIZE_OF_TWO[first.astype(np.uint16) << 8 | second]
    return total


def _rest_with_texts(data: Bytes, at: Index, count: int, columns: list[Column]) -> Ints:
    """The same where a type may take more than a byte."""
    total = np.zeros(at.shape, dtype=np.int64)
    end = at + count
    for column in columns:
        inside = at < end
        if not inside.any():
            break
        kind, after = numbers(data, at)
        column.require_may_hold(np.minimum(kind[inside], MORE).astype(np.uint8))
        size = np.where(kind < _FIRST_TEXT, SIZE[kind & 0xF], (kind - _FIRST_TEXT) >> 1)
        total += np.where(inside, size, 0)
        at = np.where(inside, after, at)
    if (at != end).any():
        raise Undecodable
    return total
