"""What a report in Python's hands does: it is saved, shown in a notebook, and made data frames."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

import overlapcheck
from overlapcheck.cli.output import text_for
from overlapcheck.errors import OutputUnwritable, PolicyInvalid
from overlapcheck.reporting.restore import read_result
from tests.export import RealExport
from tests.ranks import fleets

SUFFIXES = (".html", ".json", ".md", ".txt", ".xml", ".sarif", ".perfetto.json", ".github.txt")


@pytest.fixture(scope="module")
def report(real_export: RealExport) -> overlapcheck.Report:
    return overlapcheck.analyze(real_export("pt_pageable"))


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> overlapcheck.FleetReport:
    folder = tmp_path_factory.mktemp("fleet")
    fleets.write_fleet(folder, 2)
    return overlapcheck.analyze_ranks([folder], reading=overlapcheck.Reading(jobs=1))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_it_is_saved_as_the_command_line_would(
    suffix: str, report: overlapcheck.Report, tmp_path: Path
) -> None:
    path = tmp_path / f"report{suffix}"
    report.save(path)
    report.save(str(path))

    # The command line names source files relative to where it runs; there are none in this report.
    assert path.read_text(encoding="utf-8") == text_for(path, report)
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_json_is_what_is_read_back(report: overlapcheck.Report, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(report.to_json())

    assert json.loads(report.to_json())["verdict"]["outcome"] == "FAIL"
    assert read_result(tmp_path / "result.json").verdict == report.verdict


def test_saving_keeps_the_mode_and_follows_links(
    report: overlapcheck.Report, tmp_path: Path
) -> None:
    place, link = tmp_path / "kept.json", tmp_path / "link.json"
    place.write_text("before")
    place.chmod(0o600)
    link.symlink_to(place)
    report.save(link)

    assert link.is_symlink()
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.read_text() == report.to_json()


def test_what_cannot_be_saved_is_said(report: overlapcheck.Report, tmp_path: Path) -> None:
    with pytest.raises(OutputUnwritable, match="cannot write the report"):
        report.save(tmp_path / "gone" / "r.html")
    with pytest.raises(PolicyInvalid, match="no format has this suffix"):
        report.save(tmp_path / "r.doc")


def test_a_notebook_shows_the_page_inside_a_frame(report: overlapcheck.Report) -> None:
    shown = report._repr_html_()
    match = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts"[^>]*></iframe>', shown)

    assert match
    assert unescape(match[1]).startswith("<!doctype html>")


def test_it_is_short_in_a_prompt(
    report: overlapcheck.Report, fleet: overlapcheck.FleetReport
) -> None:
    assert repr(report) == (
        "<Report FAIL of pt_pageable.sqlite: overlap h2d, recoverable; first cause pageable-copy>"
    )
    assert repr(report.devices[0]) == (
        "<DeviceReport device 0 of python3 (1527): compute 248.1 ms of 318.5 ms>"
    )
    assert repr(report.measurements) == "<Measurements of 1 device>"
    assert repr(fleet).startswith(f"<FleetReport {fleet.outcome} of 2 ranks")


def test_many_ranks_are_saved_and_shown_too(
    fleet: overlapcheck.FleetReport, tmp_path: Path
) -> None:
    fleet.save(tmp_path / "fleet.json")

    assert (tmp_path / "fleet.json").read_text() == fleet.to_json()
    assert "<iframe" in fleet._repr_html_()


@pytest.mark.parametrize(
    ("name", "column", "holds"),
    [
        ("gaps", "after_kernel", "nvjet"),
        ("blocking", "api", "cudaMemcpyAsync"),
        ("ledger", "cause", "pageable-copy"),
        ("streams", "role", "compute"),
    ],
)
def test_frames_have_names(name: str, column: str, holds: str, report: overlapcheck.Report) -> None:
    frame = report.frame(name)

    assert len(frame) > 0
    assert frame[column].str.contains(holds).any()
    assert not any(str(one).endswith("name_id") for one in frame.columns)


def test_a_table_that_is_none_names_those_that_are(report: overlapcheck.Report) -> None:
    with pytest.raises(PolicyInvalid, match="gap: no such table; there are gaps, blocking, steps"):
        report.frame("gap")


def test_a_report_read_back_has_no_tables(report: overlapcheck.Report, tmp_path: Path) -> None:
    report.save(tmp_path / "result.json")
    with pytest.raises(PolicyInvalid, match="read back from JSON has no tables"):
        read_result(tmp_path / "result.json").frame("gaps")
