"""Own paces of real programs against what the programs printed themselves; see ../shared/pairs."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from overlapcheck import Reading, pipeline
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.verdict import Basis

SHARED = Path(__file__).parents[2] / "shared" / "pairs"
EXPECTED: dict[str, Any] = (
    json.loads((SHARED / "EXPECTED.json").read_text(encoding="utf-8"))
    if (SHARED / "EXPECTED.json").is_file()
    else {}
)
CONTROLLED = [name for name, one in EXPECTED.items() if one["control"]]
WITHIN = 0.03
"""Of what the program printed: on other machines of the kind, hosts differ by as much."""
DEVICE_BOUND = ("serve_graph", "serve_swap_side", "vision_item", "vision_prefetch")
"""Their devices compute or copy all of the time: recording them changes next to nothing."""

pytestmark = pytest.mark.skipif(not EXPECTED, reason="../shared with the pairs is not here")


def unpacked(name: str, scratch: Path) -> Path:
    path = scratch / f"{name.replace('/', '_')}.sqlite"
    path.write_bytes(lzma.decompress((SHARED / f"{name}.sqlite.xz").read_bytes()))
    return path


@pytest.mark.parametrize("name", CONTROLLED)
def test_the_own_pace_is_the_programs(name: str, tmp_path: Path) -> None:
    expected = EXPECTED[name]

    report = pipeline.analyze(
        unpacked(name, tmp_path),
        control=[unpacked(f"control/{name}", tmp_path)],
        reading=Reading(timeline=False),
    )

    for device in report.devices:
        pace = device.pace
        assert pace and pace.own_ns and pace.recorded_ns
        truth = min(expected["control_own_ms"] * 1e6, pace.recorded_ns)
        assert pace.own_ns == pytest.approx(truth, rel=WITHIN)
        assert sum(entry.ns for entry in device.ledger) == device.idle_ns
        if name in DEVICE_BOUND:
            assert pace.own_ns == pytest.approx(pace.recorded_ns, rel=0.01)
    assert report.verdict.basis is Basis.OWN_PACE
    assert report.verdict.outcome.value == expected["own_pace_verdict"]
    first = report.findings[0] if report.findings else None
    cause = first.cause if first and first.share >= MATERIAL_SHARE else None
    assert cause in expected["first_cause"]
