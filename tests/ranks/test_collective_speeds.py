"""Sizes and bandwidth across reports: two GPUs of one recording, as a report each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from overlapcheck.fleet import FleetReport
from overlapcheck.pipeline import analyze
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.pool import ThisProcess
from overlapcheck.ranks.run import judge_fleet
from overlapcheck.ranks.store import Store
from overlapcheck.renderers.fleet import fleet_renderer
from overlapcheck.selection import Selection
from overlapcheck.verdict import Policy
from tests.export import RealExport, edit, query

BUCKET = 2 * 6144 * 6144 * 2
"""Two layers of 6144 x 6144 in bfloat16."""
COMMUNICATOR = "0xd9f7f697a93a5988"


@pytest.fixture
def halves(real_export: RealExport, tmp_path: Path) -> list[Path]:
    """One report per process."""
    source = real_export("ddp_payload")
    pids = query(source, "SELECT DISTINCT globalPid >> 24 FROM CUPTI_ACTIVITY_KIND_KERNEL")
    paths = []
    for rank, (pid,) in enumerate(sorted(pids, key=str)):
        path = Path(shutil.copy(source, tmp_path / f"rank_{rank}.sqlite"))
        edit(
            path,
            *(
                f"DELETE FROM CUPTI_ACTIVITY_KIND_{table} WHERE globalPid >> 24 <> {pid}"
                for table in ("KERNEL", "MEMCPY", "MEMSET", "SYNCHRONIZATION", "CUDA_EVENT")
            ),
            f"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid >> 24 <> {pid}",
            f"DELETE FROM NVTX_EVENTS WHERE globalTid >> 24 <> {pid}",
        )
        paths.append(path)
    return paths


@pytest.fixture
def answer(halves: list[Path]) -> FleetReport:
    return judge_fleet(JobReports(halves), analyze, ThisProcess())


def test_each_rank_alone_knows_sizes_and_includes_its_waiting(answer: FleetReport) -> None:
    for row in answer.rows:
        (one,) = row.collectives
        assert (one.kind, one.communicator) == ("all-reduce", COMMUNICATOR)
        assert one.speed is not None
        assert one.speed.least_bytes == one.speed.most_bytes == BUCKET
        assert (one.speed.ranks, one.speed.waits_included) == (2, True)
        assert one.speed.time_ns == one.total_ns


def test_together_they_count_from_the_last_start(
    answer: FleetReport, real_export: RealExport
) -> None:
    (meeting,) = answer.meetings
    (speed,) = meeting.speeds

    assert meeting.communicator == COMMUNICATOR
    assert (speed.kind, speed.count, speed.ranks) == ("all-reduce", meeting.occasions, 2)
    assert not speed.waits_included
    # The same as of both in one report.
    (whole,) = analyze(real_export("ddp_payload")).devices[0].collective_speeds
    assert (speed.time_ns, speed.bus_gbs) == (whole.time_ns, whole.bus_gbs)
    # Both are faster without the waiting than each rank's kernels were.
    (late,) = (row for row in answer.rows if row.label == answer.meetings[0].waits[0].rank)
    alone = late.collectives[0].speed
    assert alone is not None
    assert alone.bus_gbs is not None
    assert speed.bus_gbs is not None
    assert alone.bus_gbs < speed.bus_gbs


def test_text_and_json_show_it(answer: FleetReport) -> None:
    text = fleet_renderer("terminal").render(answer)
    (meeting,) = answer.meetings
    bus = meeting.speeds[0].bus_gbs

    assert f"9 all-reduce of 144.0 MiB: {bus:.1f} GB/s bus bandwidth (algorithm {bus:.1f})" in text
    assert max(len(line) for line in text.splitlines()) <= 80
    document = json.loads(fleet_renderer("json").render(answer))
    assert document["meetings"][0]["speeds"][0]["bus_gbs"] == pytest.approx(bus)
    assert document["ranks"][0]["collectives"][0]["speed"]["most_bytes"] == BUCKET


def test_a_kept_result_still_knows_it(
    answer: FleetReport, halves: list[Path], tmp_path: Path
) -> None:
    store = Store.beside(tmp_path, Policy(), Selection(), b"a key")
    render = fleet_renderer("json").render

    first = judge_fleet(JobReports(halves), analyze, ThisProcess(), store=store)
    again = judge_fleet(JobReports(halves), analyze, ThisProcess(), store=store)

    assert render(first) == render(again) == render(answer)


def test_other_communicators_do_not_meet(halves: list[Path]) -> None:
    # The last byte of the communicator, and of nothing else.
    edit(
        halves[1],
        "UPDATE NVTX_EVENTS SET binaryData = CAST(substr(binaryData, 1, 39) || x'01' ||"
        " substr(binaryData, 41) AS BLOB) WHERE length(binaryData) > 40",
    )

    answer = judge_fleet(JobReports(halves), analyze, ThisProcess())

    assert len({row.collectives[0].communicator for row in answer.rows}) == 2
    assert answer.meetings == ()
