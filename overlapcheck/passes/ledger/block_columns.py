"""Columns that are put together while their blocks of rows are still being made.

Joined afterwards, all blocks would lie beside the whole: the ledger, twice, is what an analysis
would need most room for.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np

from overlapcheck.columns import Column, compact, is_constant


class BlockColumns:
    """Columns of some rows; one that holds the same value in every row is stored once.

    Args:
        rows: how many there will be, one at least.
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._columns: list[Column] = []
        self._one_at_a_time = Lock()

    def put(self, block: slice, columns: Sequence[Column]) -> None:
        """Put the columns of a block, one row at least, in place; from any thread, in any order."""
        with self._one_at_a_time:
            known = self._columns or [np.broadcast_to(part[0], self._rows) for part in columns]
            self._columns = [
                self._with(column, block, part) for column, part in zip(known, columns, strict=True)
            ]

    def _with(self, column: Column, block: slice, part: Column) -> Column:
        if is_constant(column):
            if is_constant(part) and part[0] == column[0]:
                return column
            # What is there already holds this value, and the rest is put in place later.
            column = np.full(self._rows, column[0])
        column[block] = part
        return column

    def all(self) -> list[Column]:
        """The columns, when all blocks are in place."""
        return [compact(column) for column in self._columns]
