"""NVTX ranges: name inline in `text`, or registered and looked up through `textId`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import ABSENT
from overlapcheck.recorder import Content
from overlapcheck.sources.nsys.schemas.select import (
    by_start_outer_first,
    column,
    decoded,
    factorized,
    integers,
    process,
    text,
    thread,
)
from overlapcheck.trace import Missing
from overlapcheck.trace_tables import Ranges

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database

NVTX = "NVTX_EVENTS"
# Push/pop and start/end ranges, live (59, 60) and imported from text files (70, 71).
RANGE_TYPES = (59, 60, 70, 71)


def read_ranges(db: Database, first_free_id: int) -> tuple[Ranges | Missing, dict[int, str]]:
    """Closed ranges, and the texts of the names that had no id of their own.

    Args:
        db: the export.
        first_free_id: inline names get ids from here on.
    """
    if not db.has(NVTX, "start", "end", "eventType"):
        return Missing(Content.RANGES, "the report holds no NVTX rows"), {}
    inline = text("text" if db.has(NVTX, "text") else "NULL")
    expressions = {
        "start_ns": "start",
        "end_ns": '"end"',
        "process": process(db, NVTX, thread=True),
        "tid": thread(db, NVTX),
        "name_id": column(db, NVTX, "textId"),
    }
    chosen = ", ".join(f"{sql} AS {name}" for name, sql in expressions.items())
    rows = db.query(
        f'SELECT {chosen}, {inline} AS inline FROM "{db.resolve(NVTX)}"'
        f' WHERE eventType IN {RANGE_TYPES} AND "end" >= start'
    )
    columns = {name: integers(rows, name) for name in expressions}
    if len(rows) == 0:
        return Ranges(**columns), {}
    codes, distinct = factorized(rows, "inline")
    texts = {first_free_id + number: decoded(name) for number, name in enumerate(distinct)}
    inline_ids = codes + first_free_id
    columns["name_id"] = np.where(columns["name_id"] == ABSENT, inline_ids, columns["name_id"])
    return Ranges(**by_start_outer_first(columns)), texts
