"""Building a SELECT from the columns that a file happens to have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow
import pyarrow.types

from overlapcheck.columns import ABSENT, Ints

if TYPE_CHECKING:
    import pyarrow as pa

    from overlapcheck.ingest.database import Database

ANY_PROCESS = 0
"""Process of rows in exports that do not record one."""


class NotWholeNumbers(Exception):
    """A column that should hold ids or times holds something else."""


def column(db: Database, table: str, name: str, fallback: int = ABSENT) -> str:
    """SQL for an integer column: NULL and a missing column both become the fallback."""
    if db.has(table, name):
        return f'ifnull("{name}", {fallback})'
    return str(fallback)


def process(db: Database, table: str, *, thread: bool) -> str:
    """SQL for the process of a row, from its globalTid or globalPid."""
    source = "globalTid" if thread else "globalPid"
    return f"ifnull({source} >> 24, {ABSENT})" if db.has(table, source) else str(ANY_PROCESS)


def thread(db: Database, table: str) -> str:
    """SQL for the thread id of a row."""
    return f"ifnull(globalTid & 16777215, {ABSENT})" if db.has(table, "globalTid") else str(ABSENT)


def select(
    db: Database, table: str, expressions: Mapping[str, str], where: str = ""
) -> dict[str, Ints]:
    """Run a SELECT of integer expressions.

    Args:
        db: the export.
        table: canonical table name, known to exist.
        expressions: SQL by output name.
        where: optional condition.

    Returns:
        One int64 array per output name, in no particular row order.

    Raises:
        NotWholeNumbers: a column holds something else.
    """
    sql = "SELECT " + ", ".join(f"{sql} AS {name}" for name, sql in expressions.items())
    sql += f' FROM "{db.resolve(table)}"' + (f" WHERE {where}" if where else "")
    rows = db.query(sql)
    return {name: integers(rows, name) for name in expressions}


def integers(rows: pa.Table, name: str) -> Ints:
    """A column of an Arrow table as int64, without copying where possible."""
    chunked = rows.column(name)
    if chunked.num_chunks == 0 or len(chunked) == 0:
        return np.empty(0, dtype=np.int64)
    values = chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()
    if values.null_count or not pyarrow.types.is_integer(values.type):
        # SQLite checks no types: a damaged or hand-made file may hold anything.
        raise NotWholeNumbers(name)
    return np.asarray(values.to_numpy(zero_copy_only=False)).astype(np.int64, copy=False)


def text(expression: str) -> str:
    """SQL for a text column as bytes: names are stored as programs gave them, in any encoding."""
    return f"CAST(ifnull({expression}, '') AS BLOB)"


def texts(rows: pa.Table, name: str) -> list[str]:
    """A column selected with `text`, decoded; what is not UTF-8 becomes replacement characters."""
    return [decoded(value) for value in rows.column(name).to_pylist()]


def decoded(value: bytes | str | None) -> str:
    """One stored text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return value or ""


def by_start(columns: dict[str, Ints]) -> dict[str, Ints]:
    """Rows sorted by start, then end: row order of an export means nothing from 2025.6 on."""
    return _sorted(columns, columns["end_ns"])


def by_start_outer_first(columns: dict[str, Ints]) -> dict[str, Ints]:
    """Rows sorted by start, then longest first, so that a call precedes the calls inside it."""
    return _sorted(columns, -columns["end_ns"])


def _sorted(columns: dict[str, Ints], second: Ints) -> dict[str, Ints]:
    start = columns["start_ns"]
    same = start[1:] == start[:-1]
    in_order = (start[1:] > start[:-1]) | (same & (second[1:] >= second[:-1]))
    if in_order.all():
        return columns
    order = np.lexsort((second, start))
    return {name: values[order] for name, values in columns.items()}
