"""Many ranks as Chrome trace JSON: a bar as long as the step for each rank."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from overlapcheck.fleet import FleetReport
from overlapcheck.renderers.fleet import fleet_renderers
from overlapcheck.renderers.fleet.perfetto import MAX_RANKS
from tests.renderers.fleet.jobs import EVERY, JOBS, MS, many

Tracks = dict[tuple[int, int], list[dict[str, Any]]]


def document(job: FleetReport) -> dict[str, Any]:
    text = fleet_renderers()["perfetto"].render(job)
    found: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return found


def tracks(job: FleetReport) -> Tracks:
    """Slices of each thread of each process."""
    found = defaultdict(list)
    for event in document(job)["traceEvents"]:
        if event["ph"] == "X":
            found[event["pid"], event["tid"]].append(event)
    return found


@pytest.mark.parametrize("job", EVERY)
def test_slices_lie_end_to_end_and_are_as_long_as_the_median_step(job: FleetReport) -> None:
    found = tracks(job)

    for slices in found.values():
        assert slices[0]["ts"] == 0
        assert all(a["ts"] + a["dur"] == b["ts"] for a, b in pairwise(slices))
    for tid, row in enumerate(job.rows, 1):
        length_ns = round(row.step_median_ns or 0)
        assert sum(event["dur"] for event in found[1, tid]) * 1000 == length_ns


def test_a_rank_shows_compute_and_every_cause_and_a_meeting_waiting_and_moving() -> None:
    found = tracks(JOBS["fail"])

    assert {event["name"]: event["args"]["in the window"] for event in found[1, 7]} == {
        "compute": "76.0 ms",
        "pageable-copy": "20.0 ms",
        "exposed-collective": "3.0 ms",
        "launch-latency": "1.0 ms",
    }
    assert {event["name"]: event["dur"] * 1000 / MS for event in found[2, 2]} == {
        "waits without compute": 2,
        "waits under compute": 4,
        "moves data without compute": 4,
        "moves data under compute": 9,
    }
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in document(JOBS["fail"])["traceEvents"]
        if event["name"] == "thread_name"
    }
    assert names[1, 7] == "rank 6 FAIL (rank_6.sqlite)"


def test_ranks_that_are_left_out_are_counted() -> None:
    about = document(many(MAX_RANKS + 5))["otherData"]

    assert about["ranks_left_out"] == 5
