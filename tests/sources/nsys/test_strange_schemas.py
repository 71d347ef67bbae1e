"""A file is a stranger's: nothing that its schema defines is ever run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from overlapcheck.errors import ReportDamaged
from overlapcheck.sources.nsys.database import SqliteExport, open_database
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Missing
from tests.export import edit
from tests.pictures import picture

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return picture("s7 kernel k |aaa bbb|").export(tmp_path / "some.sqlite")


@pytest.mark.parametrize("name", [KERNEL, f"{KERNEL}_V2", "StringIds", "OSRT_API"])
def test_an_endless_view_in_place_of_a_table_is_refused(export: Path, name: str) -> None:
    edit(
        export,
        f"DROP TABLE IF EXISTS {name.removesuffix('_V2')}",
        f'CREATE VIEW {name} AS {ENDLESS} SELECT i AS id, i AS start, i + 1 AS "end", i AS value'
        " FROM n",
    )
    with pytest.raises(ReportDamaged) as caught:
        read_trace(export)

    assert caught.value.message == (
        f"{export}: damaged SQLite export ({name} is a view or a virtual table, and only tables"
        " are read)"
    )


def test_a_virtual_table_in_place_of_a_table_is_refused(export: Path) -> None:
    edit(export, f"DROP TABLE {KERNEL}", f"CREATE VIRTUAL TABLE {KERNEL} USING fts5(start, end)")

    with pytest.raises(ReportDamaged, match="is a view or a virtual table"):
        read_trace(export)


def test_a_view_of_another_name_is_the_users_own_affair(export: Path) -> None:
    edit(export, f"CREATE VIEW mine AS {ENDLESS} SELECT i FROM n")

    assert not isinstance(read_trace(export).kernels, Missing)


def test_generated_columns_are_no_columns(export: Path) -> None:
    edit(
        export,
        f"ALTER TABLE {KERNEL} DROP COLUMN graphNodeId",
        f"ALTER TABLE {KERNEL} ADD COLUMN graphNodeId INTEGER AS (start + 1)",
    )
    with open_database(export) as db:
        assert db.has(KERNEL, "start")
        assert not db.has(KERNEL, "graphNodeId")


def test_constraints_of_the_file_are_not_run(export: Path) -> None:
    edit(export, "DROP TABLE IF EXISTS OSRT_API")
    with closing(sqlite3.connect(export)) as connection:
        connection.create_function("always", 1, lambda _: True, deterministic=True)
        connection.execute("CREATE TABLE OSRT_API (start INTEGER, end, t, CHECK (always(start)))")
        connection.execute("INSERT INTO OSRT_API VALUES (1, 2, 'x')")
        connection.commit()

    with open_database(export) as db:
        assert db.query("SELECT start FROM OSRT_API").to_pydict() == {"start": [1]}


@pytest.mark.parametrize(("rowids", "most"), [("-5, 6", 12), (f"1, {2**62}", None)])
def test_row_numbers_do_not_stand_for_many_rows(
    export: Path, rowids: str, most: int | None
) -> None:
    first, last = rowids.split(", ")
    edit(
        export,
        "CREATE TABLE Odd (start INTEGER)",
        f"INSERT INTO Odd (rowid, start) VALUES ({first}, 1), ({last}, 2)",
    )
    with open_database(export) as db:
        assert isinstance(db, SqliteExport)
        assert 2 <= db.rows_at_most("Odd") <= (most or export.stat().st_size)
