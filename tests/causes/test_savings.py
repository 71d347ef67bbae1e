"""No repair that was measured saved more than "saves at most"."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.finding import Finding
from overlapcheck.measurements import Measurements
from tests.conftest import ROOT
from tests.pictures import measure_file, picture

PAIRS = ROOT.parent / "shared" / "pairs"


def _pairs() -> dict[str, dict[str, Any]]:
    path = PAIRS / "whatif.json"
    return json.loads(path.read_text())["pairs"] if path.exists() else {}


WHAT_IF = _pairs()


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Measurements]:
    scratch = tmp_path_factory.mktemp("pairs")

    @cache
    def measured(name: str) -> Measurements:
        source = PAIRS / name
        export = scratch / Path(name).name.removesuffix(".xz")
        export.write_bytes(lzma.decompress(source.read_bytes()))
        result = measure_file(export, skip=None)
        export.unlink()
        return result

    return measured


@pytest.mark.skipif(not WHAT_IF, reason="../shared with the measured repairs is not here")
@pytest.mark.parametrize("name", WHAT_IF)
def test_no_measured_repair_saved_more(name: str, before: Callable[[str], Measurements]) -> None:
    pair = WHAT_IF[name]
    found = findings(before(pair["before"]))
    named = [most for fix in pair["fixes"] if (most := _most(found, fix)) is not None]

    if not named:
        # Prefetching pageable memory, say: its order shows as a fault only where it is pinned.
        pytest.skip("the recording before the repair does not name what was repaired")
    assert pair["recorded"]["saved_us"] * 1000 <= sum(named)


def _most(found: tuple[Finding, ...], cause: str) -> float | None:
    """The most that a repair can save per step, on the device that gains least."""
    mine = [one.saves_at_most_ns / one.steps for one in found if one.cause == cause and one.steps]
    return min(mine, default=None)


def test_start_latency_and_the_gap_before_the_first_step_go_with_the_repair() -> None:
    # Three steps of 20 us in the window and two gaps of 30 us, 10 of each the start: a run of many
    # such steps has as many gaps.
    found = findings(
        picture(
            """
            s7 kernel fwd       |.....aa...bb...cc|
            s7 h2d pinned 1MiB  |.......hh...ii...|
            t1 cudaLaunchKernel |a.b.c............|
            t1 cudaMemcpyAsync  |.h.i.............|
            t1 nvtx step        |01122............|
            """,
            column_us=10,
        ).measure(skip=0)
    )

    assert [(one.cause, one.saves_at_most_ns) for one in found[:1]] == [("same-stream", 90_000)]
    assert found[0].saving_text == "30.0 us per step"


def test_what_another_cause_holds_stays() -> None:
    # 100 us behind a copy in the same stream, then 60 us in a free and 10 until the next launch:
    # neither goes with the other, the 10 may go with both.
    found = findings(
        picture(
            """
            s7 kernel fwd       |.....aa..........bb.......cc|
            s7 h2d pinned 1MiB  |.......hhhhhhhhhh...........|
            t1 cudaLaunchKernel |a.b......................c..|
            t1 cudaMemcpyAsync  |.h..........................|
            t1 cudaFree         |...................FFFFFF...|
            """,
            column_us=10,
        ).measure()
    )
    saves = {one.cause: one.saves_at_most_ns for one in found}

    assert (saves["same-stream"], saves["allocation"]) == (110_000, 70_000)


def test_another_device_that_computes_all_the_time_bounds_the_job() -> None:
    drawn = picture(
        """
        s7 kernel fwd             |.aaaa........bbbb|
        gpu1 s8 kernel fwd        |.cccccccccccccccc|
        t1 os read                |......ooooo......|
        t1 cudaLaunchKernel       |a...........b....|
        t2 cudaLaunchKernel       |c................|
        """,
        column_us=10,
    )
    starved = next(f for f in findings(drawn.measure()) if f.cause == "host-starved")

    assert starved.blamed.total_ns > 0
    assert starved.saves_at_most_ns == 0
    assert "overlap cannot win" not in starved.advice
