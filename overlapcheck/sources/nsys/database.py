"""A read-only export: what tables and columns it has, and queries that return Arrow.

Of a SQLite export, the large tables of whole numbers are decoded from the file's pages (`pages`);
SQLite reads the rest, of real tables that it found whole (`integrity`). Why ADBC: of the Arrow
readers for SQLite it is Apache Arrow's own, and it fetches columns without making Python objects
per row. Its low level, because its DB-API imports pandas.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from overlapcheck.errors import InputUnreadable, NotAReport, ReportDamaged
from overlapcheck.sources.nsys.excerpt import Keep
from overlapcheck.sources.nsys.integrity import Damaged, Inspector, quoted, uri_of
from overlapcheck.sources.nsys.journals import require_settled
from overlapcheck.sources.nsys.pages import integer_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from adbc_driver_manager import AdbcConnection

    from overlapcheck.columns import Ints

EXPORT_TABLES = ("StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA", "TARGET_INFO_GPU")
"""Every export has one of them at least."""
_HEADER_BYTES = 100
_WORD = re.compile(r"\w+")
_LEAST_ROW_BYTES = 6
"""Of a row without values: where it begins takes two."""
_RE_EXPORT = "export it again: nsys export --type=sqlite --force-overwrite=true REPORT.nsys-rep"


class Database(ABC):
    """An open export.

    Attributes:
        path: the file or folder.
        columns: column names of each table, tables without rows included.
    """

    def __init__(
        self, path: Path, connection: AdbcConnection, columns: Mapping[str, frozenset[str]]
    ):
        self.path = path
        self.columns = columns
        self._connection = connection
        self._one_at_a_time = Lock()

    def resolve(self, table: str) -> str | None:
        """The table's name in this export (exporters may append _V2, _V3 ...), or None."""
        if table in self.columns:
            return table
        return max(versions(table, self.columns), default=None)

    def has(self, table: str, *columns: str) -> bool:
        """Whether the table exists with all these columns."""
        name = self.resolve(table)
        return name is not None and self.columns[name].issuperset(columns)

    @abstractmethod
    def integer_columns(
        self, table: str, columns: Mapping[str, int], keep: Keep | None = None
    ) -> dict[str, Ints] | None:
        """Columns of a table as int64, or None where only `query` can read them.

        Args:
            table: its name in this export.
            columns: what NULL becomes, by column.
            keep: chooses among some rows at a time; None takes all.
        """

    @abstractmethod
    def rows_at_most(self, table: str) -> int:
        """About how many rows a table has, without counting them."""

    @abstractmethod
    def damaged(self, why: str) -> ReportDamaged:
        """The error of an export that cannot be read as one."""

    def query(self, sql: str) -> pa.Table:
        """All rows of a SELECT as an Arrow table.

        Every selected expression must yield one type for all rows: the driver takes a column's
        type from its first rows, so wrap nullable columns in ifnull().

        Raises:
            ReportDamaged: the export is truncated or corrupt.
        """
        with self._one_at_a_time:
            self._provide(sql)
            return self._rows(sql)

    def _rows(self, sql: str) -> pa.Table:
        import pyarrow
        from adbc_driver_manager import AdbcStatement, Error

        try:
            with AdbcStatement(self._connection) as statement:
                statement.set_sql_query(sql)
                stream, _ = statement.execute_query()
                return pyarrow.RecordBatchReader.from_stream(stream).read_all()
        except (Error, OSError, pyarrow.ArrowException) as error:
            raise self.damaged(str(error).rsplit("\n", 1)[0]) from error

    def _provide(self, sql: str) -> None:  # noqa: B027 (most have it in place)
        """Put in place what a query names."""


def versions(table: str, names: Iterable[str]) -> frozenset[str]:
    """The names that mean a later version of a table."""
    pattern = re.compile(rf"{re.escape(table)}_V\d+")
    return frozenset(name for name in names if pattern.fullmatch(name))


class SqliteExport(Database):
    """An export in one SQLite file."""

    def __init__(self, path: Path, connection: AdbcConnection, inspector: Inspector):
        super().__init__(path, connection, inspector.columns)
        self._inspector = inspector

    def resolve(self, table: str) -> str | None:
        """See `Database`; what is no table is not passed over without a word."""
        unread = self._inspector.not_tables
        for name in unread.intersection([table]) | versions(table, unread):
            raise self.damaged(f"{name} is a view or a virtual table, and only tables are read")
        return super().resolve(table)

    def integer_columns(
        self, table: str, columns: Mapping[str, int], keep: Keep | None = None
    ) -> dict[str, Ints] | None:
        """See `Database`."""
        found = integer_columns(self.path, table, columns, keep)
        if found is not None:
            self._inspector.known_whole(table)
        return found

    def rows_at_most(self, table: str) -> int:
        """See `Database`; from the first and last row's numbers, which SQLite finds at once."""
        sql = f"SELECT ifnull((SELECT {{}}(rowid) FROM {quoted(table)}), 0) AS n"
        try:
            first, last = (
                int(self._rows(sql.format(which)).column("n")[0].as_py())
                for which in ("min", "max")
            )
        except ReportDamaged:  # a table made by hand may have no row numbers
            return 0
        return min(last - first + 1, self.path.stat().st_size // _LEAST_ROW_BYTES)

    def _provide(self, sql: str) -> None:
        for table in frozenset(_WORD.findall(sql)) & self.columns.keys():
            try:
                self._inspector.require_whole(table)
            except Damaged as error:
                raise self.damaged(str(error)) from error

    def damaged(self, why: str) -> ReportDamaged:
        """See `Database`."""
        return _damaged(self.path, why)


@contextmanager
def open_database(path: Path) -> Iterator[Database]:
    """Open a SQLite export for reading; the file and its folder are never written to.

    Raises:
        InputUnreadable, ReportDamaged, NotAReport: naming the file and what to do.
    """
    import adbc_driver_sqlite
    from adbc_driver_manager import AdbcConnection, AdbcStatement

    require_settled(path.resolve())
    _check_complete(path)
    try:
        inspector = Inspector(path)
    except Damaged as error:
        raise _damaged(path, str(error)) from error
    with closing(inspector):
        if not any(table in inspector.columns for table in EXPORT_TABLES):
            found = ", ".join(sorted(inspector.columns)[:3]) or "no tables"
            raise NotAReport(
                f"{path}: a SQLite file, but no Nsight Systems export ({found})",
                "give the .nsys-rep report or its export: nsys export --type=sqlite"
                " REPORT.nsys-rep",
            )
        with (
            adbc_driver_sqlite.connect(uri_of(path)) as database,
            AdbcConnection(database) as connection,
        ):
            with AdbcStatement(connection) as statement:
                statement.set_sql_query("PRAGMA trusted_schema = OFF")
                statement.execute_update()
            yield SqliteExport(path, connection, inspector)


def _damaged(path: Path, why: str) -> ReportDamaged:
    return ReportDamaged(f"{path}: damaged SQLite export ({why})", _RE_EXPORT)


def _check_complete(path: Path) -> None:
    """A truncated file still opens; its header tells how long it should be."""
    try:
        with path.open("rb") as stream:
            header = stream.read(_HEADER_BYTES)
        size = path.stat().st_size
    except OSError as error:
        raise InputUnreadable(
            f"{path}: {error.strerror or error}", "check the path and its permissions"
        ) from error
    if int.from_bytes(header[56:60], "big") in (2, 3):
        # UTF-16 of either kind: names would be read as others, for they are fetched as bytes.
        raise _damaged(path, "its texts are UTF-16, as nsys writes none")
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    pages = int.from_bytes(header[28:32], "big")
    if len(header) < _HEADER_BYTES or size < pages * page_bytes:
        raise _damaged(path, f"truncated: {size} of {pages * page_bytes} bytes")
