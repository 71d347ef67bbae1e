"""Ranked by what repairs win, the first cause of every known recording is still the right one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.pipeline import measure
from overlapcheck.predicting import forecasts_of
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from tests.whatif.graphs import SHARED, unpacked

HARMLESS = ("launch-latency", "device-copy")
AUTOMATIC_SKIP = {"T12"}
FOLDERS = ("traces", "timelines", "public")


def _cases() -> list[Any]:
    found = []
    for folder in FOLDERS:
        path = SHARED / folder / "EXPECTED.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        for name, expected in known.items():
            if expected["also_first"] != "any":
                found.append(pytest.param(folder, name, expected, id=f"{folder}/{name}"))
    return found


@pytest.mark.skipif(not _cases(), reason="../shared with the known answers is not here")
@pytest.mark.parametrize(("folder", "name", "expected"), _cases())
def test_the_first_cause_is_one_of_those_expected(
    folder: str, name: str, expected: dict[str, Any], tmp_path: Path
) -> None:
    trace = read_trace(unpacked(SHARED / folder / f"{name}.sqlite.xz", tmp_path))
    skip = None if name in AUTOMATIC_SKIP else expected.get("skip", 3)
    measured = measure(trace, Selection(skip=skip))
    ranked = findings(measured, forecasts_of(trace, measured))
    named = [f.cause for f in ranked if f.share >= MATERIAL_SHARE and f.cause not in HARMLESS]
    allowed = {expected["first_cause"], *expected["also_first"]}
    first = (named[0] if named else None) if None in allowed else ranked[0].cause

    assert first in allowed, [(f.cause, f.share, f.predicted) for f in ranked]
