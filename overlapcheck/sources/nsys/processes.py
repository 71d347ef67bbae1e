"""Processes by number: nsys's own ids hold the machine and the process in one.

    globalPid   hhhhhhhh vvvvvvvv pppppppp pppppppp pppppppp tttttttt tttttttt tttttttt
                hardware VM       process of the system      thread (globalTid only)

The readers of the tables put `globalPid >> 24` into the column `process`, which is unique in an
export; here these become the numbers that a `Trace` has for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from overlapcheck.columns import ABSENT, Columns, Ints, constant, is_constant
from overlapcheck.grouping import distinct
from overlapcheck.kinds import ProcessKey
from overlapcheck.trace import Missing, Process

ANY_PROCESS = 0
"""Stands for `globalPid >> 24` in exports that do not record it."""
_PID_BITS = 24
_HOST = 0xFFFF
"""SQLite has signed numbers: above, they repeat the first bit."""

_Table = TypeVar("_Table", bound=Columns)


def system_pid(shifted: int) -> int:
    """The operating system's pid in a `globalPid >> 24`."""
    return shifted & ((1 << _PID_BITS) - 1)


def process_key(shifted: int) -> ProcessKey:
    """The process that a `globalPid >> 24` means."""
    if shifted == ANY_PROCESS:
        return ProcessKey(ABSENT)
    return ProcessKey(system_pid(shifted), (shifted >> _PID_BITS) & _HOST)


class Numbering:
    """Numbers the processes of an export.

    Args:
        tables: all that have a column `process`.
    """

    def __init__(self, tables: Iterable[Columns | Missing]) -> None:
        found = [distinct(_process(table)) for table in tables if isinstance(table, Columns)]
        known = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *found]))
        self._shifted: Ints = known[known != ABSENT]

    @property
    def shifted(self) -> list[int]:
        """`globalPid >> 24` of all, in the order of their numbers."""
        return [int(one) for one in self._shifted]

    def processes(self, names: Mapping[int, str]) -> tuple[Process, ...]:
        """All, in the order of their numbers.

        Args:
            names: executables by `globalPid >> 24`.
        """
        return tuple(Process(process_key(p), names.get(p, "")) for p in self._shifted.tolist())

    def number(self, shifted: int) -> int | None:
        """Number of a process, None where no row is of it."""
        at = int(np.searchsorted(self._shifted, shifted))
        known = at < self._shifted.size and int(self._shifted[at]) == shifted
        return at if known else None

    def numbered(self, table: _Table | Missing) -> _Table | Missing:
        """The table with numbers in the place of nsys's ids; rows of no process stay so."""
        if isinstance(table, Missing):
            return table
        column = _process(table)
        changes: dict[str, Any] = {"process": self._numbers(column)}
        return replace(table, **changes)

    def _numbers(self, column: Ints) -> Ints:
        one = column[:1] if is_constant(column) else column
        numbers = np.searchsorted(self._shifted, one)
        numbers[one == ABSENT] = ABSENT
        return constant(int(numbers[0]), column.size) if one is not column else numbers


def _process(table: Columns) -> Ints:
    column: Ints = getattr(table, "process")  # noqa: B009
    return column
