"""What cannot be told for want of rows, and what is told all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overlapcheck.capture_problem import NotKnown
from tests.export import edit
from tests.pictures import measure_file, picture

WAITS = """
s7   kernel k                 |.aaaa....bbb|
t1   cudaLaunchKernel         |a.......b...|
t1   cudaStreamSynchronize    |.xxxx.......|
"""
RECORDED = {"waits": [{"call": "x", "stream": 7}]}
SYNCS = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"


def unknown(text: str, **options: Any) -> list[NotKnown]:
    return list(picture(text, **options).measure().not_known)


def test_waits_with_their_rows_are_known() -> None:
    assert unknown(WAITS, **RECORDED) == []


def test_a_program_that_waits_for_nothing_lacks_nothing() -> None:
    assert unknown("s7 kernel k |.aa|\nt1 cudaLaunchKernel |a..|") == []


@pytest.mark.parametrize("call", ["cudaStreamSynchronize", "cudaEventSynchronize"])
def test_waits_without_their_table_are_not_known(call: str) -> None:
    (found,) = unknown(WAITS.replace("cudaStreamSynchronize", call))

    assert (found.process, found.causes) == (0, frozenset({"event-wait"}))
    assert found.what == f"what waited for what is not known: no table {SYNCS}"
    assert "--trace=cuda" in found.settle_with


def test_a_wait_that_failed_left_no_row_by_right() -> None:
    assert unknown(WAITS, failed=["x"]) == []


def test_a_wait_for_the_whole_device_leaves_a_row_in_some_recordings_only() -> None:
    assert unknown(WAITS.replace("cudaStream", "cudaDevice")) == []


@pytest.mark.parametrize(("lost", "known"), [(1, True), (2, False)])
def test_one_wait_in_a_hundred_may_have_lost_its_row(
    tmp_path: Path, lost: int, known: bool
) -> None:
    path = picture(WAITS, repeat=100, **RECORDED).export(tmp_path / "waits.sqlite")
    edit(path, f"DELETE FROM {SYNCS} WHERE rowid <= {lost}")
    found = measure_file(path).not_known

    assert (found == ()) is known
    assert known or found[0].what.endswith(f"{lost} of 100 waits left no row")


def test_a_row_is_found_by_its_start_where_ids_differ(tmp_path: Path) -> None:
    path = picture(WAITS, **RECORDED).export(tmp_path / "waits.sqlite")
    edit(path, f"UPDATE {SYNCS} SET correlationId = 900000 + correlationId")
    assert measure_file(path).not_known == ()
    edit(path, f"UPDATE {SYNCS} SET start = start + 1")
    assert len(measure_file(path).not_known) == 1


def test_a_row_is_found_by_its_id_where_it_starts_later(tmp_path: Path) -> None:
    path = picture(WAITS, **RECORDED).export(tmp_path / "waits.sqlite")
    edit(path, f"UPDATE {SYNCS} SET start = start + 1")

    assert measure_file(path).not_known == ()


MANAGED = """
s7   kernel k                 |.aaaa....bbb|
t1   cudaLaunchKernel         |a.......b...|
t1   cudaMallocManaged        |.x..........|
"""


def test_migrations_are_not_known_without_the_table_that_holds_them() -> None:
    (found,) = unknown(MANAGED)

    assert (found.process, found.causes) == (0, frozenset({"uvm-migration"}))
    assert unknown(MANAGED.replace("cudaMallocManaged", "cudaMalloc       ")) == []
    assert (
        unknown(MANAGED + "s9 h2d pinned 1KiB |......c.....|\nt1 cudaMemcpyAsync |...c........|")
        == []
    )
