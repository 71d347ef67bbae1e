"""Writes an export as a folder of tables, as `nsys export --type=parquetdir` and `arrowdir` do."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc, parquet

Write = Callable[[pa.Table, Path], None]
Types = Callable[[str, pa.Array], pa.Array]
"""What a column of a name is stored as; whole numbers come as int64, texts as binary."""

# Of nsys 2023.4.4 and 2025.3.1; other whole numbers that are not negative are uint32 in Arrow.
_UNSIGNED = frozenset(
    ("globalTid", "globalPid", "contextId", "streamId", "graphNodeId", "nameId", "shortName",
     "bytes", "copyKind", "demangledName", "domainId", "rangeId", "priority", "utcEpochNs")
)  # fmt: skip
_TIMES = frozenset(("start", "end"))


def as_nsys(name: str, column: pa.Array) -> pa.Array:
    """The types of nsys."""
    if pa.types.is_binary(column.type):
        return column.view(pa.string())
    if name in _UNSIGNED:
        return column.view(pa.uint64())
    numbers = [number for number in column.to_pylist() if number is not None]
    if name in _TIMES or min(numbers, default=0) < 0 or max(numbers, default=0) >= 1 << 32:
        return column
    return column.cast(pa.uint32())


def otherwise(name: str, column: pa.Array) -> pa.Array:
    """Types that another exporter could choose for the same values."""
    if column.null_count == len(column):
        return pa.nulls(len(column))
    if pa.types.is_binary(column.type):
        # Not in dictionaries: those of Arrow must be UTF-8.
        return column.cast(pa.large_binary()) if name == "value" else column
    numbers = set(column.to_pylist())
    if numbers <= {0, 1, None}:
        return column.cast(pa.bool_())
    return column.dictionary_encode() if name == "eventType" else column


def write_parquet(table: pa.Table, path: Path) -> None:
    """As nsys 2023.4 does: uncompressed, in row groups of 2048."""
    parquet.write_table(table, path, compression="none", row_group_size=2048)


def write_snappy(table: pa.Table, path: Path) -> None:
    """As later ones do."""
    parquet.write_table(table, path, compression="snappy")


def write_stream(table: pa.Table, path: Path) -> None:
    """What nsys calls Arrow files."""
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def write_file(table: pa.Table, path: Path) -> None:
    """What Arrow itself calls files, here in several batches."""
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)


SUFFIX: dict[Write, str] = {
    write_parquet: ".parquet",
    write_snappy: ".parquet",
    write_stream: ".arrow",
    write_file: ".arrow",
}


def write_tables(
    export: Path,
    folder: Path,
    write: Write = write_parquet,
    *,
    types: Types = as_nsys,
    shuffled: bool = False,
    without: Sequence[str] = (),
) -> Path:
    """Write every table of a SQLite export.

    Args:
        export: where the tables come from.
        folder: made here.
        write: how a file is written.
        types: of the columns.
        shuffled: whether to write rows in another order.
        without: tables to leave out.
    """
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(f"file:{export}?mode=ro", uri=True)) as connection:
        connection.text_factory = bytes
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for table in (name.decode() for (name,) in names):
            if table not in without:
                rows = _rows(connection, table, types, shuffled=shuffled)
                write(rows, folder / f"{table}{SUFFIX[write]}")
    return folder


def _rows(connection: sqlite3.Connection, table: str, types: Types, *, shuffled: bool) -> pa.Table:
    described = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    rows = connection.execute(f'SELECT * FROM "{table}"').fetchall()
    if shuffled:
        random.Random(table).shuffle(rows)
    columns: dict[str, Any] = {}
    for number, (_, name, kind, *_) in enumerate(described):
        values = [row[number] for row in rows]
        arrow = {b"TEXT": pa.binary(), b"REAL": pa.float64()}.get(kind, pa.int64())
        column = pa.array(values, arrow)
        label = name.decode()
        columns[label] = column if arrow == pa.float64() else types(label, column)
    return pa.table(columns)
