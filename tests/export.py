"""Writes small exports in the real schema of nsys 2025.3.1 (3.20.3), row by row.

`pictures.py` draws with it; tests of layouts and damage use it to bend real files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path

SCHEMA = Path(__file__).with_name("schema.sql")
NOT_APPLICABLE = 4294967295
"""What nsys writes for "no stream" and "no event"."""
RealExport = Callable[[str], Path]
"""The `real_export` fixture: path of a real export by name."""
VM = 1
"""Virtual machine id in the process key of every picture, as in real exports."""

# Columns that a row must have and that no test looks at.
_DEFAULTS: Mapping[str, Mapping[str, int | str]] = {
    "CUPTI_ACTIVITY_KIND_KERNEL": {
        "greenContextId": 0,
        "launchType": 1,
        "cacheConfig": 0,
        "registersPerThread": 32,
        "staticSharedMemory": 0,
        "dynamicSharedMemory": 0,
        "localMemoryPerThread": 0,
        "localMemoryTotal": 0,
        "gridId": 0,
        "sharedMemoryExecuted": 0,
    },
    "CUPTI_ACTIVITY_KIND_MEMCPY": {"greenContextId": 0, "copyCount": 1},
    "CUPTI_ACTIVITY_KIND_MEMSET": {"greenContextId": 0, "value": 0, "memKind": 2},
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": {"graphId": 1, "graphExecId": 2},
    "CUPTI_ACTIVITY_KIND_RUNTIME": {"callchainId": 0},
    "OSRT_API": {"eventClass": 27, "returnValue": 0, "nestingLevel": 0, "callchainId": 0},
    "CUPTI_ACTIVITY_KIND_OPENACC_OTHER": {"eventKind": 7},
    "NVTX_EVENTS": {"eventType": 59, "domainId": 0},
    "PROFILER_OVERHEAD": {"returnValue": 0},
    "DIAGNOSTIC_EVENT": {"timestamp": 0, "timestampType": 1, "source": 1},
}
# nsys makes these only when they have rows (`--lazy=true`, its default).
_LAZY = (
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    "CUPTI_ACTIVITY_KIND_OPENACC_OTHER",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "DIAGNOSTIC_EVENT",
    "MPI_START_WAIT_EVENTS",
    "NVTX_EVENTS",
    "OSRT_API",
    "PROFILER_OVERHEAD",
    "TARGET_INFO_CUDA_CONTEXT_INFO",
    "TARGET_INFO_CUDA_STREAM",
)


@cache
def _empty_database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA.read_text())
        return connection.serialize()


class Export:
    """An export being written; `save` makes it a file."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")
        self.connection.deserialize(_empty_database())
        self._texts: dict[str, int] = {}

    def text_id(self, text: str) -> int:
        """Id of a text in StringIds."""
        if text not in self._texts:
            self._texts[text] = len(self._texts) + 1
            self.connection.execute(
                "INSERT INTO StringIds VALUES (?, ?)", (self._texts[text], text)
            )
        return self._texts[text]

    def add(self, table: str, **values: int | str | None) -> None:
        """One row; columns not given take a harmless default."""
        row = dict(_DEFAULTS.get(table, {})) | values
        columns = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" * len(row))
        self.connection.execute(
            f"INSERT INTO {table} ({columns}) VALUES ({marks})", tuple(row.values())
        )

    def save(self, path: Path) -> Path:
        """Write the file, without the tables that stayed empty, and close."""
        for table in _LAZY:
            if not self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
                self.connection.execute(f"DROP TABLE {table}")
        self.connection.commit()
        path.write_bytes(self.connection.serialize())
        self.connection.close()
        return path


def edit(path: Path, *statements: str) -> Path:
    """Run SQL statements on an export, in place."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def query(path: Path, sql: str) -> list[tuple[object, ...]]:
    """Rows of a SELECT on an export."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()
