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

Both formats can say of one row that it comes a million times. In a real table each row has a time
or an id, which takes a byte at least: one of more rows than that is refused before they are made.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import Ints, chosen, joined
from overlapcheck.errors import InputUnreadable, NotAReport, ReportDamaged
from overlapcheck.sources.nsys.arrow_columns import (
    is_text,
    is_whole,
    storable,
    storable_type,
    text_bytes,
    whole,
)
from overlapcheck.sources.nsys.database import EXPORT_TABLES, Database
from overlapcheck.sources.nsys.excerpt import Keep

if TYPE_CHECKING:
    import pyarrow as pa
    from adbc_driver_manager import AdbcConnection

PARQUET, ARROW = ".parquet", ".arrow"
_PARQUET_MAGIC, _ARROW_MAGIC, _STREAM_MAGIC = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
_STREAM_END = b"\xff\xff\xff\xff\0\0\0\0"
_MOST_ROWS_OF_A_SMALL_FILE = 100_000
_TEXT_BYTES_BY_BYTE = 64
"""Of a table's texts together, by byte of its file: they are compressed, and stored once each."""
_TEXT_BYTES_OF_A_SMALL_FILE = 64 << 20
_WORD = re.compile(r"\w+")


def is_table_folder(path: Path) -> bool:
    """Whether a folder holds tables of an export; what is in the files is for the reader to see."""
    names = (f"{table}{suffix}" for table in EXPORT_TABLES for suffix in (PARQUET, ARROW))
    return path.is_dir() and any((path / name).is_file() for name in names)


class _TableFile(ABC):
    """One table."""

    def __init__(self, path: Path, schema: pa.Schema):
        self.path = path
        self.schema = schema
        self.names = frozenset(schema.names)
        if len(self.names) < len(schema.names):
            raise _damaged(path, "two columns of one name")
        self._bytes = path.stat().st_size

    def require_plausible(self, rows: int) -> None:
        """Raise ReportDamaged where a file of this size cannot hold as many rows."""
        if rows > max(self._bytes, _MOST_ROWS_OF_A_SMALL_FILE):
            raise _damaged(self.path, f"{rows} rows in {self._bytes} bytes")

    def require_plausible_texts(self, columns: Iterable[str]) -> None:
        """The same for the texts of some columns."""
        texts = [name for name in columns if is_text(self.schema.field(name).type)]
        most = max(_TEXT_BYTES_BY_BYTE * self._bytes, _TEXT_BYTES_OF_A_SMALL_FILE)
        length = 0
        for batch in self._encoded(texts) if texts else ():
            length += sum(map(text_bytes, batch.columns))
            if length > most:
                raise _damaged(self.path, f"{length} bytes of text in {self._bytes}")

    @abstractmethod
    def _encoded(self, texts: list[str]) -> Iterator[pa.RecordBatch]:
        """Columns of texts, some rows at a time, without repeating what is stored once."""

    @abstractmethod
    def count(self) -> int:
        """Rows."""

    @abstractmethod
    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Some columns, in this order, some rows at a time."""


class _ParquetFile(_TableFile):
    def __init__(self, path: Path):
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            super().__init__(path, file.schema_arrow)
            self._count = int(file.metadata.num_rows)
        self.require_plausible(self._count)

    def _encoded(self, texts: list[str]) -> Iterator[pa.RecordBatch]:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path, read_dictionary=texts) as file:
            yield from file.iter_batches(columns=texts)

    def count(self) -> int:
        return self._count

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            for batch in file.iter_batches(columns=columns):
                yield batch.select(columns)


class _ArrowFile(_TableFile):
    """Either of Arrow's two layouts: nsys writes streams, under the suffix of the other."""

    def __init__(self, path: Path, *, stream: bool):
        self._stream = stream
        with self._open(path) as reader:
            super().__init__(path, reader.schema)

    def _encoded(self, texts: list[str]) -> Iterator[pa.RecordBatch]:
        return self.batches(texts)

    def count(self) -> int:
        return sum(len(batch) for batch in self.batches(self.schema.names[:1]))

    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        rows = 0
        for batch in self._batches([self.schema.get_field_index(name) for name in columns]):
            rows += len(batch)
            self.require_plausible(rows)
            yield batch.select(columns)

    def _batches(self, fields: list[int]) -> Iterator[pa.RecordBatch]:
        with self._open(self.path, fields) as reader:
            if self._stream:
                yield from reader
            else:
                for number in range(reader.num_record_batches):
                    yield reader.get_batch(number)

    @contextmanager
    def _open(
        self, path: Path, fields: list[int] | None = None
    ) -> Iterator[pa.RecordBatchStreamReader | pa.RecordBatchFileReader]:
        import pyarrow
        from pyarrow import ipc

        # Mapped, for otherwise the columns that nobody wants would be read, too.
        with pyarrow.memory_map(str(path)) as source:
            opened = ipc.open_stream if self._stream else ipc.open_file
            with opened(source, options=ipc.IpcReadOptions(included_fields=fields)) as reader:
                yield reader


def _kept(batch: pa.RecordBatch, columns: Mapping[str, int], keep: Keep | None) -> tuple[Ints, ...]:
    found = {name: whole(batch.column(n), null) for n, (name, null) in enumerate(columns.items())}
    if keep is None:
        return tuple(found.values())
    rows = np.flatnonzero(keep(found))
    return tuple(chosen(values, rows) for values in found.values())


class TableFolder(Database):
    """An export in a folder."""

    def __init__(self, path: Path, connection: AdbcConnection, tables: Mapping[str, _TableFile]):
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
            raise _damaged(file.path, str(error)) from error
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
            raise _damaged(file.path, str(error)) from error

    def damaged(self, why: str) -> ReportDamaged:
        """See `Database`."""
        suffix = next(iter(self._tables.values())).path.suffix
        return ReportDamaged(f"{self.path}: damaged export ({why})", _again(suffix))

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
            raise _damaged(file.path, str(error)) from error
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


def _tables_in(path: Path) -> dict[str, _TableFile]:
    try:
        files = sorted(f for f in path.iterdir() if f.suffix in (PARQUET, ARROW) and f.is_file())
    except OSError as error:
        raise _unreadable(path, error) from error
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
    return {file.stem: _opened(file) for file in files}


def _opened(path: Path) -> _TableFile:
    import pyarrow

    try:
        with path.open("rb") as stream:
            head = stream.read(len(_ARROW_MAGIC))
            stream.seek(max(0, path.stat().st_size - len(_STREAM_END)))
            tail = stream.read()
        if head.startswith(_PARQUET_MAGIC):
            return _ParquetFile(path)
        if head.startswith(_ARROW_MAGIC):
            return _ArrowFile(path, stream=False)
        if not head.startswith(_STREAM_MAGIC):
            raise _damaged(path, f"its {len(head)} first bytes are those of no table")
        if tail != _STREAM_END:
            # Cut between two batches of rows it would look like a shorter table.
            raise _damaged(path, "truncated: its end mark is missing")
        return _ArrowFile(path, stream=True)
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise _damaged(path, str(error)) from error
    except OSError as error:
        if error.errno is None:
            # Arrow says so, too, of a file that makes no sense.
            raise _damaged(path, str(error)) from error
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InputUnreadable:
    return InputUnreadable(
        f"{path}: cannot be read: {error.strerror or error}", "check the path and its permissions"
    )


def _damaged(path: Path, why: str) -> ReportDamaged:
    kind = "Parquet" if path.suffix == PARQUET else "Arrow"
    return ReportDamaged(
        f"{path}: damaged {kind} table ({' '.join(why.split())})", _again(path.suffix)
    )


def _again(suffix: str) -> str:
    kind = "parquetdir" if suffix == PARQUET else "arrowdir"
    return f"export it again: nsys export --type={kind} --force-overwrite=true REPORT.nsys-rep"
