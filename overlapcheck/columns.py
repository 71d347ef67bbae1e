"""Tables as frozen structs of equally long, read-only arrays.

A misspelt column does not type-check, a column's unit stands beside its name, and nobody can edit
a table that somebody else is reading. pandas is one call away: `table.frame()`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self, TypeVar

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

Scalar = TypeVar("Scalar", bound=np.generic)

_BLOCK_ROWS = 1 << 16

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


def compact(column: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """The column, stored as one value where it holds no other."""
    if column.size > 1 and column[0] == column[-1] and (column == column[0]).all():
        return np.broadcast_to(column[0].copy(), column.shape)
    return column


def chosen(column: npt.NDArray[Scalar], rows: Index) -> npt.NDArray[Scalar]:
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
        if count == len(self) and not isinstance(which, slice) and which.dtype == np.bool_:
            return self
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
