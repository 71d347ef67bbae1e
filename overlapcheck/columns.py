"""Tables as frozen structs of equally long, read-only arrays.

A misspelt column does not type-check, a column's unit stands beside its name, and nobody can edit
a table that somebody else is reading. pandas is one call away: `table.frame()`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Ints = npt.NDArray[np.int64]
"""Integer column, shape (n,)."""
Bools = npt.NDArray[np.bool_]
"""Flag column, shape (n,)."""
Floats = npt.NDArray[np.float64]
"""Real-valued column, shape (n,)."""
Texts = npt.NDArray[np.object_]
"""Column of str, shape (n,)."""
Mask = npt.NDArray[np.bool_]
"""Which rows, shape (n,)."""
Index = npt.NDArray[np.intp]
"""Row numbers."""

ABSENT = -1
"""Value of an id column in a row that has none (ids of nsys are never negative)."""


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

    def rows(self, which: Mask | Index | slice) -> Self:
        """The rows a mask, an index array or a slice selects, in that order."""
        return type(self)(*(getattr(self, field.name)[which] for field in fields(self)))

    @classmethod
    def none(cls) -> Self:
        """A table without rows."""
        kinds = {"Bools": np.bool_, "Floats": np.float64, "Texts": np.object_}
        return cls(*(np.empty(0, dtype=kinds.get(str(f.type), np.int64)) for f in fields(cls)))

    def frame(self) -> pd.DataFrame:
        """The table as a pandas DataFrame, one column per field."""
        import pandas as pd

        columns: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        return pd.DataFrame(columns)
