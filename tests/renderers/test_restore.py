"""A result that was saved and read back renders as if it had never been away."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from overlapcheck import pipeline
from overlapcheck.errors import ExitCode, InputUnreadable, NotAReport
from overlapcheck.renderers import renderers
from overlapcheck.report import Report
from overlapcheck.reporting.cleaned import cleaned
from overlapcheck.reporting.restore import read_result
from overlapcheck.saved import restored
from tests.export import RealExport
from tests.renderers.reports import EVERY, REPORTS, big_report

FROM_SAVED = ["terminal", "json", "junit", "markdown", "github", "sarif"]
Document = dict[str, Any]


def saved(report: Report) -> str:
    return renderers()["json"].render(report)


@pytest.mark.parametrize("report", [*EVERY, big_report(3)])
def test_every_format_is_the_same(report: Report) -> None:
    report = cleaned(report)
    again = restored(saved(report))

    for name in FROM_SAVED:
        assert renderers()[name].render(again) == renderers()[name].render(report), name


@pytest.mark.parametrize("report", REPORTS.values())
def test_everything_but_the_place_of_blame_is_equal(report: Report) -> None:
    report = cleaned(report)
    again = restored(saved(report))

    assert replace(again, findings=()) == replace(report, findings=())
    for mine, theirs in zip(again.findings, report.findings, strict=True):
        assert mine.blamed.total_ns == theirs.blamed.total_ns
        assert replace(mine, blamed=theirs.blamed) == theirs


@pytest.mark.parametrize("name", ["pt_pageable", "ddp_bucketed", "pt_capture_range"])
def test_a_real_result_survives(name: str, real_export: RealExport) -> None:
    report = pipeline.analyze(real_export(name))
    again = restored(saved(report))

    assert again.devices == report.devices
    for form in FROM_SAVED:
        assert renderers()[form].render(again) == renderers()[form].render(report)


def test_a_row_of_no_known_role_is_drawn_all_the_same(real_export: RealExport) -> None:
    document = json.loads(saved(pipeline.analyze(real_export("pt_capture_range"))))
    for row in document["devices"][0]["picture"]["rows"]:
        row |= {"role": "of a version to come", "kind": ""}
    report = restored(json.dumps(document))

    for form in [*FROM_SAVED, "html"]:
        assert renderers()[form].render(report)


def test_a_result_of_before_pictures_were_saved_can_be_read() -> None:
    document = json.loads(saved(REPORTS["fail"]))
    del document["devices"][0]["picture"]
    again = restored(json.dumps(document))

    assert again.devices[0].picture.rows == ()
    assert renderers()["terminal"].render(again).startswith("FAIL")


def test_fields_of_a_later_version_are_left_out() -> None:
    document = json.loads(saved(REPORTS["with_findings"]))
    document["weather"] = "fine"
    document["devices"][0]["mood"] = [1]
    document["findings"][0]["color"] = None

    assert saved(restored(json.dumps(document))) == saved(REPORTS["with_findings"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is no JSON"),
        ("{", r"it is no JSON \(Input data was truncated\)"),
        ('{"a": 1}}', r"it is no JSON \(JSON is malformed: trailing characters \(byte 9\)\)"),
        ("[" * 100_000, "it is no JSON"),
        ("[]", "it is JSON of something else"),
        ('{"a": 1}', "it is JSON of something else"),
        ('{"schema": 1, "tool": NaN}', "it is no JSON"),
        ('{"schema": "1", "tool": 1, "verdict": 1}', "its schema number is none"),
        ('{"schema": true, "tool": 1, "verdict": 1}', "its schema number is none"),
        pytest.param(
            f'{{"schema": {"9" * 4000}, "tool": 1, "verdict": 1}}',
            "schema is larger than any number",
            id="4000 digits",
        ),
        pytest.param(f'{{"schema": {"9" * 9000}}}', "it is no JSON", id="9000 digits"),
        ('{"schema": 0, "tool": 1, "verdict": 1}', "its schema number is none"),
        ('{"schema": 1, "tool": 1, "verdict": 1}', "tool: expected `object`, got `int`"),
    ],
)
def test_what_is_no_result_says_why(text: str, why: str) -> None:
    with pytest.raises(NotAReport, match=f"^x.json: not a saved result of overlapcheck: {why}"):
        restored(text, "x.json")


def _without(key: str) -> Callable[[Document], object]:
    return lambda document: document["devices"][0].pop(key)


@pytest.mark.parametrize(
    ("bend", "why"),
    [
        (_without("idle_ns"), r"devices\[0\]: object missing required field `idle_ns`"),
        (lambda d: d.update(devices={}), "devices: expected `array`, got `object`"),
        (lambda d: d["devices"][0].update(idle_ns=1.5), r"devices\[0\].idle_ns: .* got `float`"),
        (lambda d: d["devices"][0].update(idle_ns=True), r"devices\[0\].idle_ns: .* got `bool`"),
        (
            lambda d: d["devices"][0].update(recoverable="1"),
            r"devices\[0\].recoverable: expected `float \| null`, got `str`",
        ),
        (
            lambda d: d["devices"][0].update(copies=[]),
            r"devices\[0\].copies: expected `object`, got `array`",
        ),
        (
            lambda d: d["devices"][0]["picture"].update(ticks=[[1]]),
            r"ticks\[0\]: expected `array` of length 2, got 1",
        ),
        (
            lambda d: d["verdict"]["checks"][0].update(outcome="ok"),
            r"checks\[0\].outcome: invalid enum value 'ok'",
        ),
        (
            lambda d: d["verdict"]["checks"][0].update(pid=None),
            r"checks\[0\]: expected `pid` and `device`",
        ),
        (lambda d: d.pop("capture"), "object missing required field `capture`"),
        (lambda d: d.update(findings=[3]), r"findings\[0\]: expected `object`, got `int`"),
    ],
)
def test_a_damaged_result_names_the_place(bend: Callable[[Document], object], why: str) -> None:
    document = json.loads(saved(REPORTS["with_findings"]))
    bend(document)
    with pytest.raises(NotAReport, match=why):
        restored(json.dumps(document))


def test_a_number_that_json_reads_as_infinite_is_refused() -> None:
    text = saved(REPORTS["fail"]).replace('"recoverable": 0.185', '"recoverable": 1e999')
    with pytest.raises(NotAReport, match=r"it is no JSON \(Number out of range\)"):
        restored(text)


@pytest.mark.parametrize("number", ["1e300", "9223372036854775808", "-9223372036854775808"])
def test_a_number_beyond_those_of_a_result_is_refused(number: str) -> None:
    text = saved(REPORTS["fail"]).replace('"recoverable": 0.185', f'"recoverable": {number}')
    with pytest.raises(NotAReport, match="recoverable is larger than any"):
        restored(text)


@pytest.mark.parametrize(
    "bend",
    [
        lambda picture: picture["rows"][0]["cells"].append(1.5),
        lambda picture: picture["rows"][0]["cells"].append(-1),
        lambda picture: picture.update(ticks=[[10_000, "1"]]),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused(bend: Callable[[Document], object]) -> None:
    document = json.loads(saved(REPORTS["fail"]))
    bend(document["devices"][0]["picture"])
    with pytest.raises(NotAReport, match=r"devices\[0\].picture is none that can be drawn"):
        restored(json.dumps(document))


def test_what_a_damaged_result_says_does_not_reach_the_terminal_as_it_is() -> None:
    document = json.loads(saved(REPORTS["fail"]))
    document["verdict"]["outcome"] = "\x1b[31m\n::error::"
    document["capture"]["\x1b[2J\n"] = 10**30
    with pytest.raises(NotAReport) as error:
        restored(json.dumps(document))
    assert error.value.message.isprintable()


def test_a_newer_result_asks_for_an_upgrade() -> None:
    text = saved(REPORTS["pass"]).replace('"schema": 1', '"schema": 7')
    with pytest.raises(NotAReport, match=r"schema 7, this one reads 1\); upgrade overlapcheck"):
        restored(text)


def test_a_trace_is_told_from_a_result(real_export: RealExport) -> None:
    path = real_export("cu_double_buffer")
    with pytest.raises(NotAReport, match=r"a trace, not a saved result; .* overlapcheck analyze"):
        read_result(path)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b'{"\xff": 1}', b"PK\x03\x04", b"{}"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(NotAReport, match=r"x\.json: not a saved result of overlapcheck"):
        read_result(path)


def test_a_missing_file_and_a_folder_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(InputUnreadable) as error:
            read_result(path)
        assert error.value.exit_code is ExitCode.COULD_NOT_RUN
        assert str(path) in error.value.message
