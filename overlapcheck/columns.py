"""Tables as frozen structs of equally long, read-only arrays.

A misspelt column does not type-check, a column's unit stands beside its name, and nobody can edit
a table that somebody else is reading. pandas is one call away: `table.frame()`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Ints = npt.NDArray[np.int64]
"""Integer column, shape (n,)."""
Bools = npt.NDArray[np.bool_]
"""Flag column, shape (n,)."""
Codes = npt.NDArray[np.int8]
"""Column of a small enumeration, shape (n,)."""
Rows = npt.NDArray[np.int32]
"""Row numbers of another table, in half the room of `Index`; negative for none, shape (n,)."""
Floats = npt.NDArray[np.float64]
"""Real-valued column, shape (n,)."""
Column = npt.NDArray[Any]
"""Column of any kind, shape (n,)."""
Whole = npt.NDArray[np.signedinteger[Any]]
"""Column of whole numbers of any width, shape (n,)."""
Texts = npt.NDArray[np.object_]
"""Column of str, shape (n,)."""
Mask = npt.NDArray[np.bool_]
"""Which rows, shape (n,)."""
Index = npt.NDArray[np.intp]
"""Row numbers."""

_Table = TypeVar("_Table", bound="Columns")
_Scalar = TypeVar("_Scalar", bound=np.generic)

# numpy's own sort takes advantage of values that mostly ascend.
_RANDOM = 0.3
_LOW_FIRST = (0, 1) if sys.byteorder == "little" else (1, 0)

_BLOCK_ROWS = 1 << 16
_MANY = 8

ABSENT = -1
"""Stands for "none" wherever an id or a row number is meant: those begin at 0."""
ABSENT_TIME = np.iinfo(np.int64).min
"""Stands for "none" where a time is meant, which may be negative: earlier than any time."""


def constant(value: int, count: int) -> Ints:
    """A column that holds one value in every row and stores it once."""
    return np.broadcast_to(np.int64(value), (count,))


def narrow(rows: Column) -> Rows:
    """Row numbers in half the room: a table of more rows would not fit in memory."""
    if is_constant(rows):
        return np.broadcast_to(rows[0].astype(np.int32), rows.shape)
    return rows.astype(np.int32, copy=False)


def is_constant(column: Column) -> bool:
    """Whether a column is known to hold one value in every row."""
    return column.size > 0 and column.strides == (0,)


def is_in(column: Column, values: npt.ArrayLike) -> Mask:
    """Rows that hold one of a few values."""
    if is_constant(column):
        return np.broadcast_to(np.isin(column[0], values), column.shape)
    return np.isin(column, values)


def one_of(column: Column, values: Iterable[int]) -> Mask:
    """Rows that hold one of a few codes: comparing bytes beats looking them up."""
    if is_constant(column):
        return np.broadcast_to(np.bool_(column[0] in tuple(values)), column.shape)
    mask = np.zeros(column.shape, dtype=np.bool_)
    for value in values:
        mask |= column == value
    return mask


def compact(column: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    """The column, stored as one value where it holds no other."""
    if column.size > 1 and column[0] == column[-1] and (column == column[0]).all():
        return np.broadcast_to(column[0].copy(), column.shape)
    return column


def chosen(column: npt.NDArray[_Scalar], rows: Index) -> npt.NDArray[_Scalar]:
    """The column at ascending rows, each once; nothing is copied where those are all of them."""
    if is_constant(column):
        return np.broadcast_to(column[0], rows.shape)
    return column if rows.size == column.size else column[rows]


def joined(rows: list[tuple[Column, ...]]) -> list[Column]:
    """Columns from blocks of rows, which are given up one column at a time."""
    parts = [list(column) for column in zip(*rows, strict=True)]
    rows.clear()
    return [_one_column(parts.pop(0)) for _ in range(len(parts))]


def _one_column(parts: list[Column]) -> Column:
    filled = [part for part in parts if part.size] or parts[:1]
    first = filled[0]
    if all(is_constant(part) and part[0] == first[0] for part in filled):
        return np.broadcast_to(first[0], sum(part.size for part in filled))
    return compact(np.concatenate(filled))


def blocks(rows: int) -> Iterator[slice]:
    """Slices that together are all rows, each small enough to stay in the processor's cache."""
    for first in range(0, rows, _BLOCK_ROWS):
        yield slice(first, min(first + _BLOCK_ROWS, rows))


def _chosen(which: Mask | Index | slice, rows: int) -> tuple[Index | slice, int]:
    """What a mask, an index array or a slice selects, and how many rows that is."""
    if isinstance(which, slice):
        return which, len(range(*which.indices(rows)))
    # Looked through, or widened, once for all columns.
    is_mask = which.dtype == np.bool_
    index = np.flatnonzero(which) if is_mask else which.astype(np.intp, copy=False)
    return index, index.size


def distinct(values: Whole) -> Ints:
    """The distinct values, ascending."""
    reach = _reach(values)
    if reach is None:
        return np.unique(values)
    return np.flatnonzero(_seen(values, *reach)) + reach[0]


def numbered(values: Whole) -> tuple[Ints, Ints]:
    """The distinct values, ascending, and for each row the position of its value among them."""
    if is_constant(values):
        return values[:1].copy(), constant(0, values.size)
    reach = _reach(values)
    if reach is None:
        found, position = np.unique(values, return_inverse=True)
        return found, position.astype(np.int64, copy=False)
    seen = _seen(values, *reach)
    lookup = np.cumsum(seen) - 1
    return np.flatnonzero(seen) + reach[0], lookup[values - reach[0]]


def places(sorted_values: Whole, at: Whole, *, side: Literal["left", "right"]) -> Index:
    """`np.searchsorted`, in a fraction of its time for many numbers in order among few values."""
    if at.size < _MANY * sorted_values.size or (at[1:] < at[:-1]).any():
        return np.searchsorted(sorted_values, at, side=side)
    # Each value is looked up among the numbers instead.
    ahead = np.searchsorted(at, sorted_values, side="right" if side == "left" else "left")
    return np.repeat(np.arange(ahead.size + 1), np.diff(ahead, prepend=0, append=at.size))


def last_at_or_before(sorted_values: Whole, at: Whole) -> Index:
    """Position of the last value that is not above each of `at`; ABSENT where all are."""
    return places(sorted_values, at, side="right") - 1


def last_before(sorted_values: Whole, at: Whole) -> Index:
    """Position of the last value below each of `at`; ABSENT where there is none."""
    return places(sorted_values, at, side="left") - 1


def position_of(sorted_values: Whole, wanted: Whole) -> Index:
    """Position of the first value equal to each of `wanted`; ABSENT where there is none."""
    if sorted_values.size == 0:
        return np.full(wanted.shape, ABSENT, dtype=np.intp)
    at = np.minimum(np.searchsorted(sorted_values, wanted), sorted_values.size - 1)
    return np.where(sorted_values[at] == wanted, at, ABSENT)


def taken(column: npt.NDArray[_Scalar], rows: Whole, otherwise: int) -> npt.NDArray[_Scalar]:
    """The column at some rows, another value where a row is ABSENT."""
    if column.size == 0:
        return np.full(rows.shape, otherwise, dtype=column.dtype)
    absent = rows == ABSENT
    if is_constant(column) and not absent.any():
        return np.broadcast_to(column[0], rows.shape)
    # Row -1 exists, too, so rows that are absent need no care.
    values = column[rows]
    np.putmask(values, absent, otherwise)
    return values


def first_rows(values: Whole) -> Index:
    """The first row of each distinct value, in the order of the values."""
    order = ordered(values)
    opens = np.ones(order.size, dtype=np.bool_)
    np.not_equal(values[order[1:]], values[order[:-1]], out=opens[1:])
    return order[opens]


def groups(*keys: Whole) -> tuple[Index, Ints]:
    """Rows that agree in all keys.

    Returns:
        The first row of each group, in the order of the keys' values, and each row's group.
    """
    group = numbered(keys[0])[1]
    for key in keys[1:]:
        found, code = numbered(key)
        if found.size > 1:
            both = group * found.size + code
            group = code if is_constant(group) else numbered(both)[1]
    if is_constant(group):
        return np.zeros(1, dtype=np.intp), group
    count = int(group.max()) + 1 if group.size else 0
    first = np.empty(count, dtype=np.intp)
    first[group[::-1]] = np.arange(group.size - 1, -1, -1)
    return first, group


def by_group(group: Whole, count: int) -> tuple[Index, Index]:
    """Rows by group, in row order within each: group g has `order[bounds[g] : bounds[g + 1]]`."""
    if is_constant(group):
        return np.arange(group.size), np.array([0, group.size])
    bounds = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=count))))
    return ordered(group), bounds


def ordered(*keys: Whole) -> Index:
    """Row numbers sorted by the first key, then the next; equal rows keep their order."""
    first, more = keys[0], keys[1:]
    if _in_order(keys):
        return np.arange(first.size)
    order = np.arange(first.size) if more and _in_order(keys[:1]) else _order(first)
    if more:
        values = first[order]
        same = values[1:] == values[:-1]
        # Only among rows with equal first keys do the others decide.
        tied = np.append(same, False)
        tied[1:] |= same
        rows = np.sort(order[tied])
        order[tied] = rows[np.lexsort([key[rows] for key in (*more[::-1], first)])]
    return order


def sorted_by(table: _Table, *keys: Whole) -> _Table:
    """The rows in the order of the keys; the table itself where they are in it already."""
    return table if _in_order(keys) else table.rows(ordered(*keys))


def _in_order(keys: Sequence[Whole]) -> bool:
    in_order = np.ones(max(keys[0].size - 1, 0), dtype=np.bool_)
    for key in reversed(keys):
        if not is_constant(key):
            in_order &= key[1:] == key[:-1]
            in_order |= key[1:] > key[:-1]
    return bool(in_order.all())


def _order(values: Whole) -> Index:
    """Stable order; numpy sorts 16 bits many times faster than 64."""
    low = int(values.min())
    width = int(values.max()) - low
    descents = np.count_nonzero(values[1:] < values[:-1])
    if width >= 1 << 32 or descents < _RANDOM * values.size:
        return np.argsort(values, kind="stable")
    digits = (values - low).astype(np.uint32).view(np.uint16).reshape(-1, 2)
    low_digit, high_digit = (digits[:, i] for i in _LOW_FIRST)
    order = np.argsort(low_digit, kind="stable")
    if width < 1 << 16:
        return order
    return order[np.argsort(high_digit[order], kind="stable")]


def _reach(values: Whole) -> tuple[int, int] | None:
    """Lowest value and width of the values where a table of all values between is small."""
    if values.size == 0 or is_constant(values):
        return (int(values[0]), 1) if values.size else None
    low, high = int(values.min()), int(values.max())
    width = high - low + 1
    return (low, width) if width <= 4 * values.size + 4096 else None


def _seen(values: Whole, low: int, width: int) -> Mask:
    seen = np.zeros(width, dtype=np.bool_)
    seen[0 if is_constant(values) else values - low] = True
    return seen


def _kind(annotation: str) -> npt.DTypeLike:
    """What a column annotated so holds."""
    kinds: dict[str, npt.DTypeLike] = {
        "Bools": np.bool_,
        "Codes": np.int8,
        "Rows": np.int32,
        "Floats": np.float64,
        "Texts": np.object_,
    }
    return kinds.get(annotation, np.int64)


def _filled(columns: Mapping[str, npt.ArrayLike], name: str, annotation: str, rows: int) -> Column:
    otherwise = False if annotation == "Bools" else ABSENT
    values = np.asarray(columns.get(name, otherwise), dtype=_kind(annotation))
    return np.broadcast_to(values, (rows,))


@dataclass(frozen=True, eq=False)
class Columns:
    """Base of each table: every field is an array of shape (n,)."""

    def __post_init__(self) -> None:
        lengths = set()
        for field in fields(self):
            column = getattr(self, field.name)
            lengths.add(column.shape)
            if column.flags.writeable:
                view = column.view()
                view.flags.writeable = False
                object.__setattr__(self, field.name, view)
        if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
            raise ValueError(f"{type(self).__name__}: columns of different shapes {lengths}")

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in the order of the fields."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def rows(self, which: Mask | Index | slice) -> Self:
        """The rows a mask, an index array or a slice selects, in that order."""
        rows, count = _chosen(which, len(self))
        # What holds one value in every row stays stored once.
        return type(self)(
            *(
                np.broadcast_to(column[:1].reshape(()), count)
                if is_constant(column)
                else column[rows]
                for column in self.columns
            )
        )

    @classmethod
    def none(cls) -> Self:
        """A table without rows."""
        return cls(*(np.empty(0, dtype=_kind(str(field.type))) for field in fields(cls)))

    @classmethod
    def filled(cls, rows: int, **columns: npt.ArrayLike) -> Self:
        """A table from some of its columns.

        Args:
            rows: how many.
            columns: a value for each row, or one for all of them; columns of numbers that are left
                out are ABSENT, flags are not set.
        """
        unknown = columns.keys() - {field.name for field in fields(cls)}
        if unknown:
            raise TypeError(f"{cls.__name__} has no column {', '.join(sorted(unknown))}")
        return cls(*(_filled(columns, field.name, str(field.type), rows) for field in fields(cls)))

    def frame(self) -> pd.DataFrame:
        """The table as a pandas DataFrame, one column per field."""
        import pandas as pd

        columns: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        return pd.DataFrame(columns)
