"""A seeded sample of the row-loss sweep, and exports without a whole table."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import rows_or_none
from overlapcheck.trace_tables import Copies
from overlapcheck.verdict import Outcome
from tests.export import RealExport, edit, query
from tests.hostile.row_loss import (
    WRONG,
    Loss,
    Place,
    losses,
    sweep,
    unpacked,
    verdict_of,
    without,
)

SEED = 20_251
SAMPLE = 12
TRACES = Path(__file__).parents[3] / "shared" / "traces"
BUNDLED = (
    "cu_double_buffer",
    "cu_legacy_default",
    "fx_launch_blocking",
    "fx_p2p_serial",
    "pt_capture_range",
    "pt_pageable",
)


@pytest.mark.parametrize("name", BUNDLED)
def test_lost_rows_are_shown_and_make_no_failing_run_pass(
    name: str, real_export: RealExport
) -> None:
    swept = list(sweep(real_export(name), SEED, SAMPLE))

    assert [(loss, became) for loss, became, _ in swept if became in WRONG] == []
    assert len(swept) == SAMPLE


def test_the_sweep_loses_what_it_says(real_export: RealExport, tmp_path: Path) -> None:
    export = real_export("cu_double_buffer")
    loss = Loss("CUPTI_ACTIVITY_KIND_MEMCPY", 33, Place.TAIL)
    left, called = without(export, loss, SEED, tmp_path)
    before, after = (rows_or_none(read_trace(path).copies, Copies) for path in (export, left))

    assert called
    assert (len(before), len(after)) == (24, 16)
    assert after.end_ns.max() < before.start_ns[16]
    assert len(list(losses(export))) == 39


TABLES = (
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
)
STANDING = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"}
"""No number is made from it: the verdict stands and says what it cannot tell."""
MIGRATIONS = {"fx_uvm"}
"""All copies are migrations of unified memory, which no number that is judged needs."""


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", ["cu_legacy_default", "pt_pageable"])
def test_nothing_passes_on_a_table_that_is_missing(
    name: str, table: str, real_export: RealExport, tmp_path: Path
) -> None:
    path = Path(shutil.copy(real_export(name), tmp_path / f"{name}.sqlite"))
    _check_without(path, table)


@pytest.mark.skipif(not TRACES.is_dir(), reason="../shared with the recorded traces is not here")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("packed", sorted(TRACES.glob("*.xz")), ids=lambda path: path.stem)
def test_no_recorded_trace_passes_on_a_table_that_is_missing(
    packed: Path, table: str, tmp_path: Path
) -> None:
    path = unpacked(packed, tmp_path)
    _check_without(path, table)
    path.unlink()


def _check_without(path: Path, table: str) -> None:
    whole = verdict_of(path)
    was_there = query(path, f"SELECT 1 FROM sqlite_master WHERE name = '{table}'")
    edit(path, f"DROP TABLE IF EXISTS {table}")
    left = verdict_of(path)
    reasons = " ".join(check.reason for check in left.checks if check.name == "capture")

    if not was_there or table in STANDING or (path.stem in MIGRATIONS and "MEMCPY" in table):
        assert left.outcome is whole.outcome
    else:
        assert left.outcome is Outcome.INCONCLUSIVE
    if was_there and whole.outcome is not Outcome.INCONCLUSIVE:
        assert table in reasons
