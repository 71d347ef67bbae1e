"""What SQLite itself says about a file: its real tables, and whether they are whole.

Only real tables are read. A view or a virtual table is a program, which need not end, and a file
may be a stranger's. Tables that nobody else has checked go through `PRAGMA quick_check`; after that
reading them takes time and memory in proportion to the file: no page lies in them twice.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from urllib.parse import quote

_STEPS_BETWEEN_LOOKS = 100_000
_PATIENCE_S = 60.0
_SLOWEST_BYTES_PER_S = 5_000_000
_LONGEST_STATEMENT_BYTES = 1_000_000


class Damaged(Exception):
    """Why SQLite refuses a file or a table of it."""


def quoted(name: str) -> str:
    """A table's or column's name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def uri_of(path: Path) -> str:
    """How to open a file so that nothing is written to it or beside it."""
    return f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1"


class Inspector:
    """A connection that looks at a file's schema and structure, for a limited time.

    Attributes:
        columns: stored columns of each real table.
        not_tables: names of its views and virtual tables.
    """

    def __init__(self, path: Path) -> None:
        """Open a file and read its schema.

        Raises:
            Damaged: SQLite refuses it.
        """
        # Used by whichever thread asks for a query, one at a time.
        self._connection = sqlite3.connect(uri_of(path), uri=True, check_same_thread=False)
        self._checked: set[str] = set()
        self._deadline = 0.0
        self._patience_s = _PATIENCE_S + path.stat().st_size / _SLOWEST_BYTES_PER_S
        try:
            self._prepare()
            self.columns, self.not_tables = self._schema()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def require_whole(self, table: str) -> None:
        """Have SQLite check a table, once.

        Raises:
            Damaged: it is not whole.
        """
        if table in self._checked:
            return
        for (said,) in self._rows(f"PRAGMA quick_check({quoted(table)})"):
            if said != "ok":
                raise Damaged(f"table {table}: {' '.join(str(said).split())}")
        self._checked.add(table)

    def known_whole(self, table: str) -> None:
        """Take note that a table has been checked already."""
        self._checked.add(table)

    def _prepare(self) -> None:
        connection = self._connection
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_STATEMENT_BYTES)
        connection.set_progress_handler(self._is_over, _STEPS_BETWEEN_LOOKS)
        self._rows("PRAGMA trusted_schema = OFF")
        # Made of expressions of whoever made the file.
        self._rows("PRAGMA ignore_check_constraints = ON")
        self.require_whole("sqlite_master")

    def _schema(self) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
        kinds: dict[bool, list[str]] = {True: [], False: []}
        for name, root in self._rows(
            "SELECT name, type = 'table' AND rootpage > 0 FROM sqlite_master"
            " WHERE type IN ('table', 'view')"
        ):
            kinds[bool(root)].append(str(name))
        # Without generated columns, which nobody stored.
        columns = {
            name: frozenset(str(row[1]) for row in self._rows(f"PRAGMA table_info({quoted(name)})"))
            for name in kinds[True]
        }
        return columns, frozenset(kinds[False])

    def _rows(self, sql: str) -> list[tuple[object, ...]]:
        self._deadline = time.monotonic() + self._patience_s
        try:
            return self._connection.execute(sql).fetchall()
        except UnicodeDecodeError as error:
            raise Damaged("its schema is no UTF-8 text") from error
        except sqlite3.Error as error:
            why = "it takes for ever to check" if self._deadline < time.monotonic() else str(error)
            raise Damaged(why) from error

    def _is_over(self) -> bool:
        return time.monotonic() > self._deadline
