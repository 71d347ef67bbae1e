"""The saved form and its published schemas are one: both come from the types that are saved."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from overlapcheck import saved_fleet, saved_report
from overlapcheck.errors import NotAReport
from overlapcheck.finding import Finding
from overlapcheck.fleet import FleetReport
from overlapcheck.renderers.fleet import fleet_renderer
from overlapcheck.report import Report
from overlapcheck.report_result import RankRow
from overlapcheck.saved import any_restored, restored
from overlapcheck.verdict import Check
from tests.json_schemas import FOLDER, FORMS, file_name, made, published
from tests.renderers.fleet.jobs import JOBS
from tests.renderers.reports import GOLDEN


@pytest.mark.parametrize("name", FORMS)
def test_a_published_schema_is_the_one_of_the_types(name: str) -> None:
    path = FOLDER / file_name(name)
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(made(name), encoding="utf-8")

    assert path.read_text(encoding="utf-8") == made(name), "make golden writes it anew"
    Draft202012Validator.check_schema(published(name))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        *(("report", path) for path in sorted((GOLDEN / "json").glob("*.json"))),
        *(("comparison", path) for path in sorted((GOLDEN / "comparison/json").glob("*.json"))),
        *(("brief", path) for path in sorted(GOLDEN.glob("**/*.brief.json"))),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else value,
)
def test_golden_results_fit_their_schema(name: str, path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    Draft202012Validator(published(name)).validate(document)

    assert list(document) == list(published(name)["properties"])


@pytest.mark.parametrize(
    ("noun", "form", "without", "instead"),
    [
        (Report, saved_report.SavedReport, {"tool_version"}, {"schema", "tool"}),
        (Check, saved_report.SavedCheck, set(), {"pid", "host"}),
        (Finding, saved_report.SavedFinding, {"blamed"}, {"pid", "host", "blamed_ns"}),
        (RankRow, saved_fleet.SavedRank, {"label"}, {"rank", "demands"}),
    ],
)
def test_no_field_of_a_noun_is_forgotten(
    noun: Any, form: type[msgspec.Struct], without: set[str], instead: set[str]
) -> None:
    kept = {field.name for field in fields(noun) if field.compare} - without

    assert set(form.__struct_fields__) == kept | instead


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fleet_schema": 99}, r"by a newer overlapcheck \(schema 99"),
        ({"fleet_schema": "1"}, "its schema number is none"),
        ({"ranks": [{"rank": 1}]}, r"ranks\[0\]\.rank: expected `str`, got `int`"),
        ({"reports": 1 << 70}, "reports is larger than any number of a result"),
        ({"verdict": None}, "verdict: expected `object`, got `null`"),
    ],
)
def test_a_damaged_result_of_many_ranks_is_refused_with_the_place(
    change: dict[str, Any], said: str
) -> None:
    document = json.loads(fleet_renderer("json").render(JOBS["fail"]))

    with pytest.raises(NotAReport, match=said):
        any_restored(json.dumps(document | change))


def test_a_result_of_many_ranks_is_none_of_one_report() -> None:
    text = fleet_renderer("json").render(JOBS["fail"])

    assert repr(any_restored(text)) == "<FleetReport FAIL of 8 ranks: overlap h2d, recoverable>"
    with pytest.raises(NotAReport, match="a result of many ranks"):
        restored(text)


def test_a_result_of_many_ranks_that_was_saved_before_is_still_read() -> None:
    document = json.loads(fleet_renderer("json").render(JOBS["fail"]))
    del document["crossed"]
    for rank in document["ranks"]:
        del rank["demands"]
    for cause in document["causes"]:
        del cause["source"]
    again = any_restored(json.dumps(document))

    assert isinstance(again, FleetReport)
    assert [row.outcome for row in again.rows] == [row.outcome for row in JOBS["fail"].rows]
    assert "1 of 8 ranks failed" in fleet_renderer("junit").render(again)
