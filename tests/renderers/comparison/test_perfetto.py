"""A comparison as Chrome trace JSON: a bar as long as the step for each side."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from overlapcheck.comparison import Comparison
from overlapcheck.renderers.comparison import comparison_renderers
from tests.compare.reports import MS
from tests.renderers.comparison.comparisons import COMPARISONS, EVERY


def tracks(comparison: Comparison) -> dict[int, list[dict[str, Any]]]:
    """Slices of each process."""
    text = comparison_renderers()["perfetto"].render(comparison)
    found = defaultdict(list)
    for event in json.loads(text, parse_float=Decimal)["traceEvents"]:
        if event["ph"] == "X":
            found[event["pid"]].append(event)
    return found


@pytest.mark.parametrize("comparison", EVERY)
def test_slices_lie_end_to_end_and_are_as_long_as_the_median_step(comparison: Comparison) -> None:
    found = tracks(comparison)
    sides = []
    for device in comparison.devices:
        step = device.step_time
        sides.append((device.base, step.base if step else None))
        sides.append((device.new, step.new if step else None))

    for pid, (side, step_ns) in enumerate(sides, 1):
        assert all(a["ts"] + a["dur"] == b["ts"] for a, b in pairwise(found[pid]))
        assert found[pid][0]["ts"] == 0
        length_ns = round(side.window_ns if step_ns is None else step_ns)
        assert sum(event["dur"] for event in found[pid]) * 1000 == length_ns


def test_both_sides_show_compute_and_every_cause() -> None:
    found = tracks(COMPARISONS["worse"])
    lengths = {
        pid: {event["name"]: event["dur"] * 1000 / MS for event in events}
        for pid, events in found.items()
    }

    assert lengths == {
        1: {"compute": Decimal("7.9"), "device-copy": Decimal("0.1")},
        2: {
            "compute": Decimal("6.9"),
            "pageable-copy": Decimal("3"),
            "device-copy": Decimal("0.1"),
        },
    }
    assert found[2][1]["args"] == {
        "share of the window": "30.0 %",
        "per step, on average": "3.0 ms",
    }
