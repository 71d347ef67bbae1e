"""MPI calls (`--trace=mpi`), and the directives of OpenACC and OpenMP (`--trace=openacc,openmp`).

MPI has a table per kind of call, whose rows name the call by `textId`. OpenACC has one per kind of
event with the source line of the directive, OpenMP one per kind of event without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overlapcheck.columns import Ints, compact
from overlapcheck.recorder import Content
from overlapcheck.sources.nsys.schemas.host_calls import host_rows
from overlapcheck.sources.nsys.schemas.select import Source, by_start_outer_first, joined
from overlapcheck.trace import Missing
from overlapcheck.trace_tables import Directives, MpiCalls

if TYPE_CHECKING:
    from overlapcheck.sources.nsys.database import Database
    from overlapcheck.sources.nsys.excerpt import Keep

MPI_TABLES = (
    "MPI_P2P_EVENTS",
    "MPI_COLLECTIVES_EVENTS",
    "MPI_START_WAIT_EVENTS",
    "MPI_OTHER_EVENTS",
)
OPENACC_TABLES = (
    "CUPTI_ACTIVITY_KIND_OPENACC_DATA",
    "CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH",
    "CUPTI_ACTIVITY_KIND_OPENACC_OTHER",
)
# Those in which a thread's time goes; the others are marks of no length.
OPENMP_TABLES = (
    "OPENMP_EVENT_KIND_PARALLEL",
    "OPENMP_EVENT_KIND_SYNC_REGION_WAIT",
    "OPENMP_EVENT_KIND_SYNC_REGION",
    "OPENMP_EVENT_KIND_TASK",
    "OPENMP_EVENT_KIND_MASTER",
    "OPENMP_EVENT_KIND_REDUCTION",
    "OPENMP_EVENT_KIND_MUTEX_WAIT",
    "OPENMP_EVENT_KIND_CRITICAL_SECTION",
    "OPENMP_EVENT_KIND_WORKSHARE",
)


def read_mpi_calls(db: Database, keep: Keep | None = None) -> MpiCalls | Missing:
    """Calls of all kinds in one table; one that never returned has no end and is left out."""
    tables = [table for table in MPI_TABLES if db.has(table, "start", "end", "textId")]
    if not tables:
        return Missing(Content.MPI_CALLS, "the report holds no MPI rows")
    return MpiCalls(**_together(db, tables, {}, keep, "textId"))


def read_directives(db: Database, keep: Keep | None = None) -> Directives | Missing:
    """Directives of both models in one table."""
    tables = [t for t in OPENACC_TABLES + OPENMP_TABLES if db.has(t, "start", "end", "nameId")]
    if not tables:
        return Missing(Content.DIRECTIVES, "the report holds no such rows")
    place = {"file_id": Source("srcFile"), "line": Source("lineNo", 0)}
    return Directives(**_together(db, tables, place, keep, "nameId"))


def _together(
    db: Database, tables: list[str], extra: dict[str, Source], keep: Keep | None, name: str
) -> dict[str, Ints]:
    rows = joined([host_rows(db, table, extra, keep, name) for table in tables])
    return by_start_outer_first({column: compact(np.asarray(v)) for column, v in rows.items()})
