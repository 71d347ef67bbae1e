"""A trace repeated along the time axis has the same steps and causes, only more of them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from tests.export import RealExport

TIMES = 5
MATERIAL = 0.02
REPEATED = (
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "NVTX_EVENTS",
    "OSRT_API",
)


def repeated(source: Path, target: Path, times: int) -> Path:
    """The export with its steps `times` times, one behind the other."""
    shutil.copy(source, target)
    with closing(sqlite3.connect(target)) as db:
        (first,) = db.execute("SELECT min(start) FROM NVTX_EVENTS WHERE end IS NOT NULL").fetchone()
        (last,) = db.execute("SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        (ids,) = db.execute("SELECT max(correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()
        shift = {"start": last - first + 100_000, "end": last - first + 100_000}
        shift["correlationId"] = ids + 1
        for table in REPEATED:
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            chosen = ", ".join(f'"{c}" + n * {shift.get(c, 0)}' if c in shift else f'"{c}"'
                               for c in columns)  # fmt: skip
            if columns:
                numbers = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r"
                numbers += f" WHERE n < {times - 1})"
                db.execute(
                    f"CREATE TEMP TABLE once AS SELECT * FROM {table} WHERE start >= {first}"
                )
                db.execute(f"INSERT INTO {table} {numbers} SELECT {chosen} FROM r, once")
                db.execute("DROP TABLE once")
        db.commit()
    return target


def measured(path: Path) -> tuple[DeviceMeasurements, list[str]]:
    found = measure(read_trace(path), Selection(skip=0))
    return found.devices[0], [f.cause for f in findings(found) if f.share >= MATERIAL]


@pytest.mark.parametrize("name", ["pt_pageable", "pt_capture_range", "cu_double_buffer"])
def test_a_repeated_trace_has_the_same_steps_and_causes(
    real_export: RealExport, tmp_path: Path, name: str
) -> None:
    source = real_export(name)
    once, causes = measured(source)
    many, causes_of_many = measured(repeated(source, tmp_path / "many.sqlite", TIMES))

    count = len(once.steps)
    assert len(many.steps) == TIMES * count
    for column in ("compute_ns", "idle_ns", "copy_ns", "hidden_ns"):
        # The first step of each repeat has lasted since the last one ended.
        wanted = getattr(once.steps, column)[1:]
        found = getattr(many.steps, column).reshape(TIMES, count)[:, 1:]
        assert np.array_equal(found, np.broadcast_to(wanted, found.shape)), column
    assert many.compute_ns == TIMES * once.compute_ns
    assert causes_of_many == causes


def test_the_ledger_of_a_repeated_trace_still_tiles_the_idle_time(
    real_export: RealExport, tmp_path: Path
) -> None:
    many, _ = measured(repeated(real_export("pt_pageable"), tmp_path / "many.sqlite", TIMES))

    assert int((many.ledger.end_ns - many.ledger.start_ns).sum()) == many.idle_ns
    assert (many.ledger.start_ns[1:] >= many.ledger.end_ns[:-1]).all()
