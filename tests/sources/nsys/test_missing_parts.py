"""No table and no column is sure to be there: whatever is missing, an answer comes out."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from overlapcheck import pipeline
from overlapcheck.columns import Columns
from overlapcheck.errors import OverlapcheckError
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Trace
from tests.export import edit, query
from tests.pictures import picture

RICH = picture(
    """
    s7   kernel fwd            |.aaaa....bbbb....cccc.....|
    s7   memset 4KiB           |.....d....................|
    s8   kernel ncclKernel     |......nn..................|
    s13  h2d pageable 64MiB    |......eeee................|
    s13  d2h pinned 4B         |..............f...........|
    gpu1 s7 graph              |...................gg.....|
    gpu1 s15 p2p 1MiB from gpu0 |................hh........|
    uvm  h2d 32KiB             |...............u..........|
    t1   cudaLaunchKernel      |a.......b.......c.........|
    t1   cuLaunchKernel        |.....n....................|
    t1   cudaMemsetAsync       |....d.....................|
    t1   cudaMemcpyAsync       |..eeeee......f............|
    t2   cudaMemcpyPeerAsync   |...............h..........|
    t2   cudaGraphLaunch       |.................g........|
    t1   cudaEventRecord       |.......r..................|
    t1   cudaStreamWaitEvent   |..........w...............|
    t1   cudaStreamSynchronize |..................ssssss..|
    t1   os pthread_cond_wait  |.............xxx..........|
    t1   overhead CUPTI flush  |..............y...........|
    t1   nvtx step             |00000000111111112222222222|
    """,
    column_us=100,
    records=[{"call": "r", "stream": 13}],
    waits=[{"call": "w", "stream": 7, "record": "r"}, {"call": "s", "stream": 7}],
    environment={"NCCL_NVLS_ENABLE": "0"},
    diagnostics=[{"severity": 2, "text": "a warning"}],
)
OUTCOMES = {"PASS", "FAIL", "INCONCLUSIVE"}
GPU_COLUMNS = {"vmId", "id", "name", "asyncEngines", "cuDevice"}
READ = (
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    "NVTX_EVENTS",
    "OSRT_API",
    "PROFILER_OVERHEAD",
    "StringIds",
    "TARGET_INFO_CUDA_STREAM",
    "TARGET_INFO_CUDA_CONTEXT_INFO",
    "TARGET_INFO_CUDA_DEVICE",
    "TARGET_INFO_GPU",
    "ThreadNames",
    "PROCESSES",
    "DIAGNOSTIC_EVENT",
    "META_DATA_CAPTURE",
    "META_DATA_EXPORT",
    "TARGET_INFO_SYSTEM_ENV",
    "ENUM_CUDA_MEMCPY_OPER",
    "ENUM_CUDA_MEM_KIND",
)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return RICH.export(tmp_path / "rich.sqlite")


def columns(path: Path, table: str, nullable: bool = False) -> list[str]:
    """Columns of a table; those of our GPU's properties that nobody reads are left out."""
    rows = query(path, f"PRAGMA table_info({table})")
    names = [str(name) for _, name, _, not_null, *_ in rows if not (nullable and not_null)]
    return names if table != "TARGET_INFO_GPU" else [n for n in names if n in GPU_COLUMNS]


def answer(path: Path) -> str:
    """The verdict."""
    return pipeline.analyze(path).verdict.outcome.value


def assert_tables_are_sound(trace: Trace, column: str) -> None:
    """Tables are there, sorted, and their ids no accidents of a conversion."""
    tables = [getattr(trace, f.name) for f in fields(trace)]
    for table in (t for t in tables if isinstance(t, Columns) and len(t)):
        frame = table.frame()
        assert frame.notna().all().all(), column
        assert (frame.select_dtypes("int64") > -(1 << 62)).all().all(), column
        if "start_ns" in frame:
            assert frame["start_ns"].is_monotonic_increasing, column


def test_the_rich_picture_fills_every_table_that_is_read(export: Path) -> None:
    for table in READ:
        rows = query(export, f"SELECT count(*) FROM {table}")
        assert table == "TARGET_INFO_SYSTEM_ENV" or rows != [(0,)], table


@pytest.mark.parametrize("table", READ)
def test_any_table_may_be_missing(table: str, export: Path) -> None:
    edit(export, f"DROP TABLE {table}")

    assert answer(export) in OUTCOMES


@pytest.mark.parametrize("table", READ)
def test_any_table_may_be_empty(table: str, export: Path) -> None:
    edit(export, f"DELETE FROM {table}")

    assert answer(export) in OUTCOMES


def rebuild(path: Path, table: str, expressions: list[str]) -> None:
    """Replace a table by a SELECT on it, without its constraints."""
    edit(
        path,
        f"CREATE TABLE rebuilt AS SELECT {', '.join(expressions)} FROM {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE rebuilt RENAME TO {table}",
    )


@pytest.mark.parametrize("table", READ)
def test_any_column_may_be_missing(table: str, export: Path) -> None:
    whole = export.read_bytes()
    for column in columns(export, table):
        export.write_bytes(whole)
        every = [str(row[1]) for row in query(export, f"PRAGMA table_info({table})")]
        rebuild(export, table, [f'"{name}"' for name in every if name != column])

        assert_tables_are_sound(read_trace(export), column)


@pytest.mark.parametrize("table", READ)
def test_any_nullable_column_may_be_null(table: str, export: Path) -> None:
    """In the first row too: the driver takes a column's type from it."""
    whole = export.read_bytes()
    for column in columns(export, table, nullable=True):
        export.write_bytes(whole)
        edit(export, f'UPDATE {table} SET "{column}" = NULL WHERE rowid = 1')

        assert_tables_are_sound(read_trace(export), column)


@pytest.mark.parametrize("table", ["CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS"])
def test_text_where_a_number_belongs_is_damage_or_not_read(table: str, export: Path) -> None:
    """SQLite keeps whatever was written, whatever the column's type."""
    whole = export.read_bytes()
    for column in columns(export, table):
        export.write_bytes(whole)
        edit(export, f"UPDATE {table} SET \"{column}\" = 'text' WHERE rowid = 2")

        try:
            read_trace(export)
        except OverlapcheckError as error:
            assert str(export) in str(error), column
