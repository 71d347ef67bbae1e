"""The causes of every recorded and drawn trace of ../shared against answers known beforehand."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.finding import MATERIAL_SHARE, Finding
from overlapcheck.ledger import Reason
from overlapcheck.measurements import Measurements
from tests.conftest import ROOT
from tests.export import edit
from tests.pictures import measure_file

SHARED = ROOT.parent / "shared"
FOLDERS = ("traces", "timelines", "public")
AUTOMATIC_SKIP = {"T12"}
HARMLESS = ("launch-latency", "device-copy")
"""May stand first, at any share, where nothing is at fault."""
UNEXPLAINED_SHARE = 0.05
UNEXPLAINED_LEAST_SHARE = 0.005
"""Of the window: a device that is hardly ever idle may hide the reason of one wait."""
WITHOUT_EVENT_ROWS = ("pt_event_wait", "pt_serial", "pt_overlapped", "cu_legacy_default")

pytestmark = pytest.mark.skipif(
    not SHARED.is_dir(), reason="../shared with the known answers is not here"
)


def _expected() -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (folder, name): expected
        for folder in FOLDERS
        if (SHARED / folder / "EXPECTED.json").exists()
        for name, expected in json.loads((SHARED / folder / "EXPECTED.json").read_text()).items()
    }


EXPECTED = _expected()
CASES = [pytest.param(folder, name, id=f"{folder}/{name}") for folder, name in EXPECTED]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("shared")

    @cache
    def unpack(source: str, name: str) -> Path:
        target = folder / f"{name}.sqlite"
        target.write_bytes(lzma.decompress((SHARED / source / f"{name}.sqlite.xz").read_bytes()))
        return target

    return unpack


def _first(found: tuple[Finding, ...]) -> str | None:
    """The first cause that is called one; None where nothing is at fault."""
    named = [f.cause for f in found if f.share >= MATERIAL_SHARE and f.cause not in HARMLESS]
    return named[0] if named else None


@pytest.mark.parametrize(("folder", "name"), CASES)
def test_the_causes_are_those_expected(folder: str, name: str, unpacked: Any) -> None:
    expected = EXPECTED[folder, name]
    skip = None if name in AUTOMATIC_SKIP else expected.get("skip", 3)
    measured = measure_file(unpacked(folder, name), skip=skip)
    found = findings(measured)
    material = {f.cause for f in found if f.share >= MATERIAL_SHARE}

    if expected["also_first"] != "any":
        allowed = {expected["first_cause"], *expected["also_first"]}
        first = _first(found) if None in allowed else found[0].cause
        assert first in allowed, _told(found)
    assert set(expected.get("reports", ())) <= {f.cause for f in found}, _told(found)
    assert not material & set(expected["never"]), _told(found)
    for device in measured.devices:
        ledger = device.ledger
        length = ledger.end_ns - ledger.start_ns
        assert int(length.sum()) == device.idle_ns
        unexplained = int(length[ledger.reason == Reason.UNEXPLAINED].sum())
        if folder == "traces" and name != "pt_broken_capture":
            least = UNEXPLAINED_LEAST_SHARE * device.window.length_ns
            assert unexplained <= max(UNEXPLAINED_SHARE * device.idle_ns, least)


def test_two_versions_of_nsys_tell_the_same_first_cause(unpacked: Any) -> None:
    new, old = (
        findings(measure_file(unpacked("traces", name), skip=3))
        for name in ("pt_overlapped", "pt_overlapped_2023_4")
    )

    assert new[0].cause == old[0].cause
    assert _first(new) == _first(old)


@pytest.mark.parametrize("name", WITHOUT_EVENT_ROWS)
def test_without_event_rows_the_first_cause_stays(name: str, unpacked: Any, tmp_path: Path) -> None:
    export = unpacked("traces", name)
    older = tmp_path / f"{name}.sqlite"
    older.write_bytes(export.read_bytes())
    edit(
        older,
        "DROP TABLE IF EXISTS CUPTI_ACTIVITY_KIND_CUDA_EVENT",
        "UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET eventSyncId = NULL",
    )
    new, old = (findings(_measured(path)) for path in (export, older))

    assert new[0].cause == old[0].cause
    assert _first(new) == _first(old)


def _measured(path: Path) -> Measurements:
    return measure_file(path, skip=3)


def _told(found: tuple[Finding, ...]) -> str:
    return ", ".join(f"{f.cause} {f.share:.1%}" for f in found)
