"""The order of findings, and what they promise."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.finding import Finding
from overlapcheck.measurements import Measurements
from tests.causes.test_pictures import CASES, measured_picture
from tests.export import RealExport
from tests.pictures import measure_file, picture

EXPORTS = ("cu_double_buffer", "cu_legacy_default", "pt_pageable", "fx_p2p_serial", "ddp_bucketed")
NO_SAVING = {"copy-bound", "graph-opaque", "incomplete-capture", "profiler-overhead"}


def check(measured: Measurements) -> Sequence[Finding]:
    found = findings(measured)
    for finding in found:
        device = next(d for d in measured.devices if d.key == finding.device)
        won = device.idle | device.stalled
        # The gap before the first step lies outside the window: it is as long as the longest.
        outside = max(won.overlap_with(device.steps.start_ns, device.steps.end_ns), default=0)
        assert finding.blamed.total_ns > 0
        assert finding.share == finding.blamed.total_ns / device.window.length_ns
        assert (
            0
            <= finding.saves_at_most_ns
            <= won.total_ns + max(outside, len(device.steps) * outside - won.total_ns)
        )
        assert finding.evidence
        assert all(finding.evidence)
        if finding.cause in NO_SAVING:
            assert finding.saves_at_most_ns == 0
    ordinary = [f for f in found if f.cause not in NO_SAVING | {"contention"} and f.recurs]
    assert [f.share for f in ordinary] == sorted((f.share for f in ordinary), reverse=True)
    return found


@pytest.mark.parametrize("case", CASES)
def test_no_picture_promises_more_than_perfect_overlap_could_win(case: str) -> None:
    check(measured_picture(case))


@pytest.mark.parametrize("name", EXPORTS)
def test_no_real_export_promises_more_than_perfect_overlap_could_win(
    name: str, real_export: RealExport
) -> None:
    measured = measure_file(real_export(name), skip=None)
    found = check(measured)

    assert found
    if measured.devices[0].window.steps:
        for finding in found:
            steps = next(d for d in measured.devices if d.key == finding.device).window.steps
            assert steps
            assert finding.per_step_ns == finding.blamed.total_ns / steps


def test_the_costliest_cause_comes_first() -> None:
    # Window 260 us, compute 120 us, h2d copies 100 us: 140 us can be won at most.
    found = check(
        picture(
            """
            s7 kernel fwd           |......aaaa..........bbbb....cccc|
            s7 h2d pinned 5MiB      |..........dddddddddd............|
            s7 memset 1MiB          |........................ssss....|
            t1 cudaLaunchKernel     |a.b.c...........................|
            t1 cudaMemcpyAsync      |.d..............................|
            t1 cudaMemsetAsync      |...s............................|
            """,
            column_us=10,
        ).measure()
    )

    assert [(f.cause, f.blamed.total_ns, f.saves_at_most_ns) for f in found] == [
        ("same-stream", 100_000, 140_000),
        ("device-copy", 40_000, 40_000),
    ]


def test_an_incomplete_recording_comes_before_any_explanation() -> None:
    found = check(
        picture(
            """
            s7 kernel fwd           |......aaaa..........bbbb|
            s7 h2d pinned 5MiB      |..........dddddddddd....|
            t1 cudaLaunchKernel     |a..x.b..................|
            t1 cudaMemcpyAsync      |.d......................|
            """,
            column_us=10,
        ).measure()
    )

    assert [f.cause for f in found] == ["incomplete-capture", "same-stream"]


def test_without_idle_time_there_is_no_finding() -> None:
    measured = picture(
        """
        s7 kernel fwd       |......aaaabbbb|
        t1 cudaLaunchKernel |a.b...........|
        """,
        column_us=10,
    ).measure()

    assert findings(measured) == ()
