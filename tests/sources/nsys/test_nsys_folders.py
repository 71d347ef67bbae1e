"""What the real nsys exports as SQLite, parquetdir and arrowdir is one report to us."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from overlapcheck import pipeline
from overlapcheck.capture.discovery import find_nsys
from overlapcheck.capture_info import CaptureInfo, GraphGranularity
from overlapcheck.errors import NsysNotFound
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import rows_or_none
from overlapcheck.trace_tables import EventRecords
from tests.sources.nsys.test_columnar import assert_same

REPORTS = sorted((Path(__file__).parents[4] / "shared" / "reports").glob("*.nsys-rep"))
FOLDERS = ("parquetdir", "arrowdir")
_NEEDS = pytest.mark.skipif(not REPORTS, reason="../shared with real reports is not here")
_CASES = [pytest.param(report, id=report.stem) for report in REPORTS] or [
    pytest.param(Path(), marks=_NEEDS, id="shared")
]


@pytest.fixture
def exported(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Path]:
    """A report in all three formats."""
    try:
        nsys = find_nsys()
    except NsysNotFound as error:
        pytest.skip(f"needs a real nsys: {error.message}")
    paths = {kind: tmp_path / f"{kind}.export" for kind in ("sqlite", *FOLDERS)}
    for kind, path in paths.items():
        command = [str(nsys.path), "export", f"--type={kind}", f"--output={path}"]
        command += [f"--lazy={request.param[1]}", str(request.param[0])]
        done = subprocess.run(command, capture_output=True, check=False)
        if kind != "sqlite" and done.returncode != 0:
            pytest.skip(f"nsys {nsys.release} does not export {kind}")
        assert done.returncode == 0, done.stderr
    return paths


def _parameters(lazy: str) -> list[object]:
    return [pytest.param((case.values[0], lazy), id=case.id, marks=case.marks) for case in _CASES]


@pytest.mark.parametrize("exported", _parameters("true"), indirect=True)
def test_numbers_verdict_and_findings_are_equal(exported: dict[str, Path]) -> None:
    expected = pipeline.analyze(exported["sqlite"])
    assert expected.devices
    for kind in FOLDERS:
        found = pipeline.analyze(exported[kind])
        assert found.verdict == expected.verdict
        assert found.devices == expected.devices
        assert found.capture.nsys_version == expected.capture.nsys_version
        assert found.capture.problems == expected.capture.problems


@pytest.mark.parametrize("exported", _parameters("false")[:2], indirect=True)
def test_every_column_is_equal_with_empty_tables_too(exported: dict[str, Path]) -> None:
    expected = read_trace(exported["sqlite"])
    for kind in FOLDERS:
        found = read_trace(exported[kind])
        if not found.info.program:
            # 2023.4 leaves META_DATA_CAPTURE out of folders, and of empty tables this one.
            info = _without_capture_metadata(expected.info)
            assert len(rows_or_none(expected.event_records, EventRecords)) == 0
            expected = replace(expected, info=info, event_records=found.event_records)
        assert_same(found, expected)


def _without_capture_metadata(info: CaptureInfo) -> CaptureInfo:
    return replace(
        info,
        program="",
        traced=frozenset(),
        asked_for_gpu_work=False,
        environment={},
        graph_granularity=GraphGranularity.UNKNOWN,
        ranks=replace(info.ranks, variables={}),
    )
