"""The JSON form is a contract: its fields are counted here by hand."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from overlapcheck import pipeline
from overlapcheck._version import __version__
from overlapcheck.renderers import renderers
from overlapcheck.report import SCHEMA, Report
from overlapcheck.selection import Selection
from tests.conftest import EXPORTS
from tests.export import RealExport
from tests.json_schemas import published
from tests.pictures import Picture, picture
from tests.renderers.reports import EVERY, REPORTS, big_report, golden

COPY_FIELDS = {
    "count",
    "bytes",
    "copy_ns",
    "hidden_ns",
    "pageable_count",
    "overlap",
    "ceiling",
}
DEVICE_FIELDS = {
    "pid",
    "device",
    "name",
    "window",
    "window_ns",
    "compute_ns",
    "idle_ns",
    "communication_ns",
    "communication_hidden_ns",
    "recoverable",
    "copies",
    "streams",
    "gaps",
    "blocking",
    "steps",
}
WINDOW_FIELDS = {"start_ns", "end_ns", "source", "step_family", "steps", "skipped"}
CHECK_FIELDS = {"name", "device", "outcome", "measured", "limit", "reason"}


def document(path: Path, **selection: Any) -> dict[str, Any]:
    report = pipeline.analyze(path, selection=Selection(**({"skip": 0} | selection)))
    text = renderers()["json"].render(report)

    assert text.endswith("}\n")
    found: dict[str, Any] = json.loads(text, parse_constant=_no_constant)
    return found


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def drawn(drawing: Picture, folder: Path, **selection: Any) -> dict[str, Any]:
    return document(drawing.export(folder / "drawn.sqlite"), **selection)


@pytest.mark.parametrize("name", ["pt_pageable", "pt_graph", "ddp_bucketed", "fx_p2p_serial"])
def test_a_document_has_the_promised_fields(name: str, real_export: RealExport) -> None:
    found = document(real_export(name), skip=3)

    assert found["schema"] == SCHEMA == 1
    assert found["tool"] == {"name": "overlapcheck", "version": __version__}
    assert {"verdict", "devices", "findings", "capture"} <= set(found)
    assert found["verdict"]["outcome"] in {"PASS", "FAIL", "INCONCLUSIVE"}
    assert found["devices"]
    for check in found["verdict"]["checks"]:
        assert set(check) >= CHECK_FIELDS
    for device in found["devices"]:
        assert set(device) >= DEVICE_FIELDS
        assert set(device["window"]) >= WINDOW_FIELDS
        assert set(device["copies"]) <= {"h2d", "d2h", "d2d", "p2p"}
        for copies in device["copies"].values():
            assert set(copies) >= COPY_FIELDS


def test_the_numbers_are_those_of_the_picture(tmp_path: Path) -> None:
    (device,) = drawn(
        picture(
            """
            s7  kernel k            |aaaa....dd|
            s8  kernel ncclKernel   |...ee.....|
            s13 h2d pageable 64MiB  |..bbbb....|
            s14 d2h pinned 4KiB     |ccc.......|
            """,
            column_us=100,
        ),
        tmp_path,
    )["devices"]

    assert device["window_ns"] == 1_000_000
    assert (device["compute_ns"], device["idle_ns"]) == (600_000, 400_000)
    assert (device["communication_ns"], device["communication_hidden_ns"]) == (200_000, 100_000)
    assert device["recoverable"] == pytest.approx(0.4)
    assert device["copies"]["h2d"] == {
        "count": 1,
        "bytes": 64 << 20,
        "copy_ns": 400_000,
        "hidden_ns": 200_000,
        "exposed_ns": 200_000,
        "pageable_count": 1,
        "overlap": 0.5,
        "ceiling": 1.0,
    }
    assert set(device["copies"]) == {"h2d", "d2h"}
    assert device["window"]["source"] == "whole-run"


def test_checks_name_their_device_outcome_and_limit(tmp_path: Path) -> None:
    found = drawn(
        picture("""
        s7  kernel k         |.aaaa....cc|
        s13 h2d pinned 1B    |.....bbbb..|
        t1  cudaLaunchKernel |a...c......|
        t1  cudaMemcpyAsync  |..b........|
        """),
        tmp_path,
    )["verdict"]

    assert (found["outcome"], found["exit_code"]) == ("FAIL", 1)
    overlap = next(c for c in found["checks"] if c["name"] == "overlap h2d")
    assert (overlap["device"], overlap["outcome"]) == (0, "FAIL")
    assert (overlap["measured"], overlap["limit"], overlap["at_least"]) == (0.0, 0.8, True)


def test_nothing_to_divide_by_is_null_and_no_device_an_empty_list(tmp_path: Path) -> None:
    found = drawn(picture("t1 nvtx step |012|"), tmp_path)
    (check,) = found["verdict"]["checks"]

    assert found["devices"] == []
    assert (check["measured"], check["device"]) == (None, None)
    assert check["settle_with"]
    assert found["capture"]["problems"] == [check["reason"]]


def test_lists_are_bounded_and_say_how_many_there_were(tmp_path: Path) -> None:
    (device,) = drawn(picture("s7 kernel k |a.|", repeat=60), tmp_path)["devices"]

    assert len(device["gaps"]) == 20
    assert device["gaps_total"] > 100 - 60


def test_steps_have_median_95th_percentile_and_worst(tmp_path: Path) -> None:
    (device,) = drawn(
        picture("""
        s7 kernel k         |.aa..bb..cccc..dd|
        t1 cudaLaunchKernel |a..b...c.....d...|
        t1 nvtx step        |00011112222223333|
        """),
        tmp_path,
    )["devices"]
    steps = device["steps"]

    assert steps["count"] == 4
    assert steps["step"]["median_ns"] == 4_000
    assert (steps["step"]["worst_ns"], steps["step"]["worst_step"]) == (6_000, 2)
    assert steps["step"]["p95_ns"] == pytest.approx(5_700)
    assert steps["compute"]["worst_ns"] == 4_000


def test_without_steps_there_are_no_step_figures(tmp_path: Path) -> None:
    (device,) = drawn(picture("s7 kernel k |a.b|"), tmp_path)["devices"]

    assert device["steps"] is None


def test_no_number_is_infinite_or_not_a_number(real_export: RealExport) -> None:
    def numbers(node: Any) -> list[float]:
        if isinstance(node, dict):
            return [n for value in node.values() for n in numbers(value)]
        if isinstance(node, list):
            return [n for value in node for n in numbers(value)]
        return [node] if isinstance(node, int | float) else []

    found = numbers(document(real_export("pt_pageable")))
    assert len(found) > 100
    assert all(math.isfinite(number) for number in found)


def test_no_user_host_or_environment_is_in_it(real_export: RealExport) -> None:
    """The exports say USER_NAME user, DEVICE_DISPLAY_NAME vm, EXPORT_HOST host."""
    found = document(real_export("fx_launch_blocking"))
    keys = json.dumps(found["capture"]).lower()

    assert found["capture"]["environment"] == {
        "CUDA_LAUNCH_BLOCKING": "1",
        "NCCL_NVLS_ENABLE": "0",
    }
    assert not any(word in keys for word in ('"user', '"host', "working_dir", "session"))


def test_names_keep_their_letters(tmp_path: Path) -> None:
    drawing = picture("s7 kernel größe<µ> |aa.bb|")
    report = pipeline.analyze(drawing.export(tmp_path / "ü.sqlite"))

    assert "größe<µ>" in renderers()["json"].render(report)


# ---- the published schema and the saved form

REAL = sorted(path.name.split(".")[0] for path in EXPORTS.glob("*.sqlite*"))


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(published("report"))


@pytest.mark.parametrize("name", REPORTS)
def test_golden(name: str) -> None:
    text = renderers()["json"].render(REPORTS[name])

    assert text == golden("json", f"{name}.json", text)


@pytest.mark.parametrize("report", [*EVERY, big_report(4)])
def test_every_report_is_valid(report: Report, validator: Draft202012Validator) -> None:
    validator.validate(json.loads(renderers()["json"].render(report)))


@pytest.mark.parametrize("name", REAL)
def test_every_real_result_is_valid(
    name: str, real_export: RealExport, validator: Draft202012Validator
) -> None:
    validator.validate(document(real_export(name)))


def _described(node: Any, kind: str, at: str) -> list[str]:
    """Places in a document that the schema says nothing about."""
    defined = published("report")["$defs"]
    missing = []
    for key, value in node.items():
        about = defined[kind]["properties"].get(key)
        if about is None:
            missing.append(f"{at}.{key}")
            continue
        inner = about.get("items", about.get("additionalProperties", about))
        one_of = inner.get("anyOf", [inner])
        reference = next((form["$ref"] for form in one_of if "$ref" in form), "")
        values = value if isinstance(value, list) else [value]
        if isinstance(value, dict) and "additionalProperties" in about:
            values = list(value.values())
        if reference:
            for item in values:
                if isinstance(item, dict):
                    missing += _described(item, reference.removeprefix("#/$defs/"), f"{at}.{key}")
    return missing


@pytest.mark.parametrize("report", [REPORTS["with_findings"], REPORTS["no_copies"]])
def test_the_schema_describes_every_field(report: Report) -> None:
    found = json.loads(renderers()["json"].render(report))
    missing = [
        place
        for kind, rows in (
            ("DeviceReport", found["devices"]),
            ("Finding", found["findings"]),
            ("Check", found["verdict"]["checks"]),
            ("CaptureSummary", [found["capture"]]),
        )
        for row in rows
        for place in _described(row, kind, kind)
    ]

    assert missing == []
    assert set(found) == set(published("report")["properties"])


def test_every_field_of_the_report_is_saved_but_those_for_memory_only() -> None:
    report = REPORTS["with_findings"]
    saved = json.loads(renderers()["json"].render(report))["devices"][0]

    assert set(saved) == {field.name for field in fields(report.devices[0]) if field.compare}


def test_numbers_of_a_row_are_on_one_line() -> None:
    lines = renderers()["json"].render(REPORTS["fail"]).splitlines()

    assert sum('"cells": [' in line and line.endswith("],") for line in lines) == 4
    assert len(lines) < 500


def test_a_file_name_that_is_no_text_is_valid_json() -> None:
    report = next(r for r in EVERY if "\udcff" in r.capture.report)
    text = renderers()["json"].render(report)

    assert text.encode("utf-8")
    assert json.loads(text)["capture"]["report"].startswith("\N{REPLACEMENT CHARACTER}")


def test_it_stays_bounded() -> None:
    assert len(renderers()["json"].render(big_report(8))) < 10_000_000
