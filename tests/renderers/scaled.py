"""A trace of four hundred thousand kernels, made of a real one on any machine."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from overlapcheck.report import Report

KERNELS = 400_000
"""Several times the events that a page may draw, and the rows that any format may show."""
_KIND = "CUPTI_ACTIVITY_KIND_"
_TABLES = (
    *(_KIND + kind for kind in ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME", "SYNCHRONIZATION")),
    "NVTX_EVENTS",
)
"""Operating-system calls stay single: repeated they would be most of the time of the test."""


@dataclass(frozen=True)
class Scaled:
    """The report of such a trace."""

    report: Report
    """Without its measurements, which are large."""
    texts: dict[str, str]
    """What every format makes of it, by name."""


def scaled_export(source: Path, target: Path, kernels: int = KERNELS) -> Path:
    """A PyTorch export, repeated along the time axis until it has so many kernels."""
    shutil.copy(source, target)
    with closing(sqlite3.connect(target)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        first = "SELECT min(start) FROM NVTX_EVENTS WHERE end IS NOT NULL"
        (begin,) = db.execute(first).fetchone()
        (end,) = db.execute(f"SELECT max(end) FROM {_KIND}KERNEL").fetchone()
        (ids,) = db.execute(f"SELECT max(correlationId) FROM {_KIND}RUNTIME").fetchone()
        (each,) = db.execute(
            f"SELECT count(*) FROM {_KIND}KERNEL WHERE start >= ?", (begin,)
        ).fetchone()
        span = end - begin + 100_000
        moves = {"start": span, "end": span, "correlationId": ids + 1}
        for table in _TABLES:
            _repeat(db, table, -(-kernels // each), begin, moves)
        db.commit()
    return target


def _repeat(
    db: sqlite3.Connection, table: str, times: int, begin: int, moves: dict[str, int]
) -> None:
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    moved = ", ".join(f"{c} + n * {moves[c]}" if c in moves else c for c in columns)
    turns = f"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {times - 1})"
    db.execute(f"CREATE TEMP TABLE x AS SELECT * FROM {table} WHERE start >= {begin}")
    db.execute(f"INSERT INTO {table} {turns} SELECT {moved} FROM r, x")
    db.execute("DROP TABLE x")
