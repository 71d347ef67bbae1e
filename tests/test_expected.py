"""Every recorded and drawn trace of ../shared against numbers computed independently of us."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.checks.judge import judge
from overlapcheck.measurements import DeviceMeasurements, WindowSource
from overlapcheck.passes.measure import measure
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Trace
from overlapcheck.verdict import Policy

SHARED = Path(__file__).parents[2] / "shared"
FOLDERS = ("traces", "timelines", "public")
AUTOMATIC_SKIP = {"T12"}
"""Drawn with a warm-up and a teardown that must fall out of the window by themselves."""
RATIO_TOLERANCE = 0.0005


def _cases() -> list[Any]:
    if not SHARED.is_dir():
        why = pytest.mark.skip(reason="../shared with the expected numbers is not here")
        return [pytest.param("", "", {}, id="shared", marks=why)]
    return [
        pytest.param(folder, name, expected, id=f"{folder}/{name}")
        for folder in FOLDERS
        for name, expected in json.loads((SHARED / folder / "EXPECTED.json").read_text()).items()
    ]


def shared_trace(folder: str, name: str, scratch: Path) -> Trace:
    """Unpack, read, and do not keep tens of megabytes per run."""
    export = scratch / f"{name}.sqlite"
    export.write_bytes(lzma.decompress((SHARED / folder / f"{name}.sqlite.xz").read_bytes()))
    trace = read_trace(export)
    export.unlink()
    return trace


@pytest.mark.parametrize(("folder", "name", "expected"), _cases())
def test_numbers_and_verdict_are_those_expected(
    folder: str, name: str, expected: dict[str, Any], tmp_path: Path
) -> None:
    skip = None if name in AUTOMATIC_SKIP else expected.get("skip", 0)
    measured = measure(shared_trace(folder, name, tmp_path), Selection(skip=skip))
    verdict = judge(measured, Policy())
    numbers = [_numbers(device) for device in measured.devices]

    # An empty list says "no device to judge" only beside INCONCLUSIVE, else that none are given.
    if expected["numbers"] or expected["verdict"] == "INCONCLUSIVE":
        assert numbers == [
            {"stalled_ns": 0} | _with_tolerance(device) for device in expected["numbers"]
        ]
    if expected["verdict"] is not None:
        assert verdict.outcome == expected["verdict"], verdict.checks


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared with the drawn timelines is not here")
def test_warm_up_and_teardown_without_ranges_fall_out_of_the_window(tmp_path: Path) -> None:
    (device,) = measure(shared_trace("timelines", "T12", tmp_path), Selection()).devices

    assert device.window.source is WindowSource.KERNEL_PERIOD
    # The three steady steps of the drawing, which begin at 20 ms: columns 0 to 3010 of 1 us.
    assert (device.window.start_ns, device.window.end_ns) == (20_000_000, 23_010_000)
    assert device.idle_ns == 10_000


def _numbers(device: DeviceMeasurements) -> dict[str, Any]:
    """What EXPECTED.json says about a device."""
    return {
        "pid": device.key.host << 24 | device.key.pid,
        "device": device.key.device_id,
        "step_family": device.window.step_family,
        "steps": device.window.steps,
        "window_ns": device.window.length_ns,
        "compute_ns": device.compute_ns,
        "stalled_ns": device.stalled.total_ns,
        "idle_ns": device.idle_ns,
        "communication_ns": device.communication.total_ns,
        "communication_hidden_ns": device.communication_hidden_ns,
        "copies": {
            direction.value: {
                "count": copies.count,
                "bytes": copies.bytes,
                "copy_ns": copies.copy_ns,
                "hidden_ns": copies.hidden_ns,
                "pageable_count": copies.pageable_count,
                "overlap": copies.overlap,
                "ceiling": copies.ceiling,
            }
            for direction, copies in device.copies.items()
        },
        "recoverable": device.recoverable,
    }


def _with_tolerance(expected: Any) -> Any:
    """Integers are exact; ratios are written with four digits."""
    if isinstance(expected, dict):
        return {key: _with_tolerance(value) for key, value in expected.items()}
    return pytest.approx(expected, abs=RATIO_TOLERANCE) if isinstance(expected, float) else expected
