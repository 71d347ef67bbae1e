"""Many ranks as data frames: whole, and of the same types whatever is in them."""

from __future__ import annotations

import pandas as pd
import pytest

from overlapcheck.errors import PolicyInvalid
from overlapcheck.fleet import FleetReport
from overlapcheck.reporting.fleet_tables import fleet_table_names, fleet_tables
from tests.renderers.fleet.jobs import EVERY, JOBS, MS, NOTHING, hostile
from tests.test_clean import FORBIDDEN


def test_there_is_a_row_for_each_rank_and_for_what_each_consists_of() -> None:
    job = JOBS["fail"]
    tables = fleet_tables(job)
    idle = tables["idle"].groupby("rank")["ns"].sum()

    assert tables["ranks"]["rank"].tolist() == [row.label for row in job.rows]
    assert tables["ranks"]["overlap_h2d"].tolist() == [row.overlap["h2d"] for row in job.rows]
    assert idle.to_dict() == {row.label: row.idle_ns for row in job.rows}
    assert len(tables["checks"]) == sum(len(row.checks) for row in job.rows)
    assert tables["causes"][["rank", "cause"]].to_numpy().tolist() == [
        ["6", "pageable-copy"],
        ["6", "exposed-collective"],
    ]
    (straggler,) = tables["stragglers"].to_dict("records")
    assert (straggler["rank"], straggler["meanwhile"], straggler["meanwhile_ns"]) == (
        *("2", "compute"),
        5 * MS,
    )


@pytest.mark.parametrize("job", EVERY)
def test_columns_have_the_same_types_whatever_is_in_them(job: FleetReport) -> None:
    usual = {name: table.dtypes.to_dict() for name, table in fleet_tables(JOBS["fail"]).items()}

    assert {name: table.dtypes.to_dict() for name, table in fleet_tables(job).items()} == usual


def test_names_are_cleaned() -> None:
    job = hostile("\x1b[31mred\u202e\u2028" + "k" * 5000)
    for table in fleet_tables(job).values():
        texts: list[str] = list(table.select_dtypes("string").columns)
        for name in texts:
            for text in table[name].dropna():
                assert not set(text) & FORBIDDEN
                assert len(text) <= 1000


def test_a_job_gives_its_tables_by_name() -> None:
    for name in fleet_table_names():
        pd.testing.assert_frame_equal(JOBS["fail"].frame(name), fleet_tables(JOBS["fail"])[name])
    assert len(NOTHING.frame("ranks")) == 0
    with pytest.raises(PolicyInvalid, match="gaps: no such table; there are ranks, checks"):
        JOBS["fail"].frame("gaps")
