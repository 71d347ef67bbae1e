"""An export that is a folder of Parquet or Arrow files, one per table.

`nsys export --type=parquetdir` or `arrowdir` writes one, from 2023.4 on. Columns of whole numbers
come straight from the files. What the schemas ask in SQL is answered by an in-memory SQLite: the
tables and columns that a query names are copied to it when one does, and the tables of GPU work and
CUDA calls never. Types in nsys 2023.4.4 and 2025.3.1:

                     Parquet              Arrow stream        SQLite
    ids, handles     uint64               uint64              signed, so that large ones wrap
    small numbers    int64 or uint32      uint32              INTEGER
    flags            bool                 bool                INTEGER
    texts            string or large_string, as programs gave them and not always UTF-8

An export of 2023.4 has no META_DATA_CAPTURE: what was traced, and in which environment, is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import Ints, chosen, joined
from overlapcheck.errors import NotAReport, ReportDamaged
from overlapcheck.sources.nsys.arrow_columns import (
    is_whole,
    storable,
    storable_type,
    whole,
)
from overlapcheck.sources.nsys.database import EXPORT_TABLES, Database
from overlapcheck.sources.nsys.excerpt import Keep
from overlapcheck.sources.nsys.table_files import (
    ARROW,
    PARQUET,
    TableFile,
    damaged_table,
    export_again,
    opened_table,
    unreadable,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from adbc_driver_manager import AdbcConnection

_WORD = re.compile(r"\w+")


def is_table_folder(path: Path) -> bool:
    """Whether a folder holds tables of an export; what is in the files is for the reader to see."""
    names = (f"{table}{suffix}" for table in EXPORT_TABLES for suffix in (PARQUET, ARROW))
    return path.is_dir() and any((path / name).is_file() for name in names)


def _kept(batch: pa.RecordBatch, columns: Mapping[str, int], keep: Keep | None) -> tuple[Ints, ...]:
    found = {name: whole(batch.column(n), null) for n, (name, null) in enumerate(columns.items())}
    if keep is None:
        return tuple(found.values())
    rows = np.flatnonzero(keep(found))
    return tuple(chosen(values, rows) for values in found.values())


class TableFolder(Database):
    """An export in a folder."""

    def __init__(self, path: Path, connection: AdbcConnection, tables: Mapping[str, TableFile]):
        super().__init__(path, connection, {name: file.names for name, file in tables.items()})
        self._tables = tables
        self._copied: dict[str, frozenset[str]] = {}

    def integer_columns(
        self, table: str, columns: Mapping[str, int], keep: Keep | None = None
    ) -> dict[str, Ints] | None:
        """See `Database`."""
        import pyarrow

        file = self._tables[table]
        if not all(is_whole(file.schema.field(name).type) for name in columns):
            return None
        try:
            parts = [_kept(batch, columns, keep) for batch in file.batches(list(columns))]
        except (OSError, pyarrow.ArrowException) as error:
            raise damaged_table(file.path, str(error)) from error
        if not parts:
            return {name: np.empty(0, dtype=np.int64) for name in columns}
        return dict(zip(columns, joined(parts), strict=True))

    def rows_at_most(self, table: str) -> int:
        """See `Database`; exact."""
        import pyarrow

        file = self._tables[table]
        try:
            return file.count()
        except (OSError, pyarrow.ArrowException) as error:
            raise damaged_table(file.path, str(error)) from error

    def damaged(self, why: str) -> ReportDamaged:
        """See `Database`."""
        suffix = next(iter(self._tables.values())).path.suffix
        return ReportDamaged(f"{self.path}: damaged export ({why})", export_again(suffix))

    def _provide(self, sql: str) -> None:
        words = frozenset(_WORD.findall(sql))
        for name in words & self.columns.keys():
            # `count(*)` names no column.
            wanted = words & self.columns[name] or frozenset(self._tables[name].schema.names[:1])
            copied = self._copied.get(name, frozenset())
            if not wanted <= copied:
                self._copy(name, wanted | copied)
                self._copied[name] = wanted | copied

    def _copy(self, table: str, columns: frozenset[str]) -> None:
        import pyarrow
        from adbc_driver_manager import AdbcStatement, StatementOptions

        file, names = self._tables[table], sorted(columns)
        schema = pyarrow.schema([(n, storable_type(file.schema.field(n).type)) for n in names])
        try:
            file.require_plausible_texts(names)
            # All before the first is handed over: the driver hides what goes wrong in between.
            rows = [
                pyarrow.RecordBatch.from_arrays([storable(c) for c in batch.columns], schema=schema)
                for batch in file.batches(names)
            ]
        except (OSError, pyarrow.ArrowException) as error:
            raise damaged_table(file.path, str(error)) from error
        with AdbcStatement(self._connection) as statement:
            statement.set_options(
                **{
                    StatementOptions.INGEST_TARGET_TABLE.value: table,
                    StatementOptions.INGEST_MODE.value: "adbc.ingest.mode.replace",
                }
            )
            statement.bind_stream(pyarrow.RecordBatchReader.from_batches(schema, rows))
            statement.execute_update()


@contextmanager
def open_folder(path: Path) -> Iterator[Database]:
    """Open a folder of tables for reading; nothing in it is ever written to.

    Raises:
        InputUnreadable, ReportDamaged, NotAReport: naming the file and what to do.
    """
    import adbc_driver_sqlite
    from adbc_driver_manager import AdbcConnection

    tables = _tables_in(path)
    with (
        # Of its own: what the driver takes by default is shared by the whole process.
        adbc_driver_sqlite.connect(":memory:") as database,
        AdbcConnection(database) as connection,
    ):
        yield TableFolder(path, connection, tables)


def _tables_in(path: Path) -> dict[str, TableFile]:
    try:
        files = sorted(f for f in path.iterdir() if f.suffix in (PARQUET, ARROW) and f.is_file())
    except OSError as error:
        raise unreadable(path, error) from error
    if not {file.stem for file in files}.intersection(EXPORT_TABLES):
        found = ", ".join(file.name for file in files[:3]) or "no tables"
        raise NotAReport(
            f"{path}: a folder, but no Nsight Systems export ({found})",
            "give the folder that nsys export --type=parquetdir or arrowdir made",
        )
    if len({file.suffix for file in files}) > 1:
        raise NotAReport(
            f"{path}: a folder with both Parquet and Arrow tables",
            "export the report into a folder of its own",
        )
    return {file.stem: opened_table(file) for file in files}
