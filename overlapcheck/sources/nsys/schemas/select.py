"""Building a SELECT from the columns that a file happens to have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow
import pyarrow.types

from overlapcheck.columns import ABSENT, Ints, Mask, compact, constant, is_constant
from overlapcheck.grouping import ordered
from overlapcheck.sources.nsys.processes import ANY_PROCESS

if TYPE_CHECKING:
    import pyarrow as pa

    from overlapcheck.sources.nsys.database import Database
    from overlapcheck.sources.nsys.excerpt import Keep

# Arrow's own encoder takes longer to import than these take to number.
_FEW_ROWS = 100_000
_LATEST = np.iinfo(np.int64).max


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


@dataclass(frozen=True)
class Source:
    """Where an integer column comes from."""

    name: str
    """Column of the export."""
    null: int = ABSENT
    """Stands for NULL."""
    missing: int | None = None
    """Stands for every row of an export without the column; None is the same as `null`."""


def fetch(
    db: Database, table: str, sources: Mapping[str, Source], keep: Keep | None = None
) -> dict[str, Ints]:
    """Columns of a large table, in no particular row order.

    Args:
        db: the export.
        table: canonical table name, known to exist.
        sources: by output name; at least one column exists.
        keep: chooses rows; None takes all.

    Raises:
        NotWholeNumbers: a column holds something else.
    """
    name = db.resolve(table) or table
    present = {s.name: s.null for s in sources.values() if db.has(table, s.name)}
    found = db.integer_columns(name, present, keep)
    if found is None:
        chosen = (f'ifnull("{column}", {null}) AS "{column}"' for column, null in present.items())
        rows = db.query(f'SELECT {", ".join(chosen)} FROM "{name}"')
        found = {column: integers(rows, column) for column in present}
        found = kept(found, keep(found)) if keep else found
    count = next(iter(found.values())).size
    return {
        output: found[source.name]
        if source.name in found
        else constant(source.null if source.missing is None else source.missing, count)
        for output, source in sources.items()
    }


TIMES = {"start_ns": Source("start", _LATEST), "end_ns": Source("end", -_LATEST)}
"""A row without a start or an end ends before it starts."""


def kept(columns: dict[str, Ints], which: Mask) -> dict[str, Ints]:
    """The rows that a mask selects."""
    if which.all():
        return columns
    count = int(np.count_nonzero(which))
    return {
        name: values[which] if values.strides != (0,) else constant(int(values[0]), count)
        for name, values in columns.items()
    }


def joined(parts: list[dict[str, Ints]]) -> dict[str, Ints]:
    """The rows of several tables with the same columns."""
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


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
    return _numbers(values)


def _numbers(values: pa.Array) -> Ints:
    # Not to_numpy(), which imports pandas for it.
    kind = "u" if pyarrow.types.is_unsigned_integer(values.type) else "i"
    numbers = np.frombuffer(values.buffers()[1], dtype=f"{kind}{values.type.bit_width // 8}")
    return numbers[values.offset : values.offset + len(values)].astype(np.int64, copy=False)


def split_thread(columns: dict[str, Ints], *, known: bool) -> None:
    """Replace `thread`, nsys's globalTid, by the process and the thread within it.

    Args:
        columns: changed in place.
        known: whether the export has the column.
    """
    both = columns.pop("thread")
    if not known:
        columns |= {"process": constant(ANY_PROCESS, both.size), "tid": constant(ABSENT, both.size)}
        return
    one = both[:1] if is_constant(both) else both
    shifted, tid = one >> 24, np.where(one == ABSENT, ABSENT, one & 0xFFFFFF)
    for name, values in (("process", shifted), ("tid", tid)):
        columns[name] = compact(values) if one is both else constant(int(values[0]), both.size)


def ids(columns: dict[str, Ints], *names: str) -> None:
    """Make ABSENT of every 0: CUPTI counts streams, calls and pairs of events from 1 on.

    Args:
        columns: changed in place.
        names: columns of ids.
    """
    for name in names:
        values = columns[name]
        if not values.all():
            columns[name] = compact(np.where(values == 0, ABSENT, values))


def text(expression: str) -> str:
    """SQL for a text column as bytes: names are stored as programs gave them, in any encoding."""
    return f"CAST(ifnull({expression}, '') AS BLOB)"


def texts(rows: pa.Table, name: str) -> list[str]:
    """A column selected with `text`, decoded; what is not UTF-8 becomes replacement characters."""
    return [decoded(value) for value in rows.column(name).to_pylist()]


def factorized(rows: pa.Table, name: str) -> tuple[Ints, list[bytes]]:
    """Number of each row's text, and the distinct texts in the order of their first row."""
    if len(rows) < _FEW_ROWS:
        numbers: dict[bytes, int] = {}
        found = [numbers.setdefault(text, len(numbers)) for text in rows.column(name).to_pylist()]
        return np.array(found, dtype=np.int64), list(numbers)
    encoded = rows.column(name).combine_chunks().dictionary_encode()
    return _numbers(encoded.indices), encoded.dictionary.to_pylist()


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
    order = ordered(start, second)
    return {
        name: values[order] if values.strides != (0,) else values
        for name, values in columns.items()
    }
