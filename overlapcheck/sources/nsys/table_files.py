"""One table in a file of Parquet or Arrow, read some rows at a time.

Both formats can say of one row that it comes a million times. In a real table each row has a time
or an id, which takes a byte at least: one of more rows than that is refused before they are made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.errors import InputUnreadable, ReportDamaged
from overlapcheck.sources.nsys.arrow_columns import is_text, text_bytes

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET = ".parquet"
ARROW = ".arrow"
_PARQUET_MAGIC = b"PAR1"
_ARROW_MAGIC = b"ARROW1"
_STREAM_MAGIC = b"\xff\xff\xff\xff"
_STREAM_END = b"\xff\xff\xff\xff\0\0\0\0"
_MOST_ROWS_OF_A_SMALL_FILE = 100_000
_TEXT_BYTES_BY_BYTE = 64
"""Of a table's texts together, by byte of its file: they are compressed, and stored once each."""
_TEXT_BYTES_OF_A_SMALL_FILE = 64 << 20


class TableFile(ABC):
    """One table."""

    def __init__(self, path: Path, schema: pa.Schema):
        self.path = path
        self.schema = schema
        self.names = frozenset(schema.names)
        if len(self.names) < len(schema.names):
            raise damaged_table(path, "two columns of one name")
        self._bytes = path.stat().st_size

    def require_plausible(self, rows: int) -> None:
        """Raise ReportDamaged where a file of this size cannot hold as many rows."""
        if rows > max(self._bytes, _MOST_ROWS_OF_A_SMALL_FILE):
            raise damaged_table(self.path, f"{rows} rows in {self._bytes} bytes")

    def require_plausible_texts(self, columns: Iterable[str]) -> None:
        """The same for the texts of some columns."""
        texts = [name for name in columns if is_text(self.schema.field(name).type)]
        most = max(_TEXT_BYTES_BY_BYTE * self._bytes, _TEXT_BYTES_OF_A_SMALL_FILE)
        length = 0
        for batch in self._encoded(texts) if texts else ():
            length += sum(map(text_bytes, batch.columns))
            if length > most:
                raise damaged_table(self.path, f"{length} bytes of text in {self._bytes}")

    @abstractmethod
    def _encoded(self, texts: list[str]) -> Iterator[pa.RecordBatch]:
        """Columns of texts, some rows at a time, without repeating what is stored once."""

    @abstractmethod
    def count(self) -> int:
        """Rows."""

    @abstractmethod
    def batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Some columns, in this order, some rows at a time."""


class _ParquetFile(TableFile):
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


class _ArrowFile(TableFile):
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


def opened_table(path: Path) -> TableFile:
    """A table of either format, known by its content.

    Raises:
        InputUnreadable, ReportDamaged: naming the file and what to do.
    """
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
            raise damaged_table(path, f"its {len(head)} first bytes are those of no table")
        if tail != _STREAM_END:
            # Cut between two batches of rows it would look like a shorter table.
            raise damaged_table(path, "truncated: its end mark is missing")
        return _ArrowFile(path, stream=True)
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise damaged_table(path, str(error)) from error
    except OSError as error:
        if error.errno is None:
            # Arrow says so, too, of a file that makes no sense.
            raise damaged_table(path, str(error)) from error
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> InputUnreadable:
    """The error for a file or folder that cannot be read."""
    return InputUnreadable(
        f"{path}: cannot be read: {error.strerror or error}", "check the path and its permissions"
    )


def damaged_table(path: Path, why: str) -> ReportDamaged:
    """The error for a file that is no sound table."""
    kind = "Parquet" if path.suffix == PARQUET else "Arrow"
    return ReportDamaged(
        f"{path}: damaged {kind} table ({' '.join(why.split())})", export_again(path.suffix)
    )


def export_again(suffix: str) -> str:
    """How to make an export of the format that a suffix names once more."""
    kind = "parquetdir" if suffix == PARQUET else "arrowdir"
    return f"export it again: nsys export --type={kind} --force-overwrite=true REPORT.nsys-rep"
