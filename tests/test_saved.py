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
from overlapcheck.finding import Finding
from overlapcheck.report import Report
from overlapcheck.report_result import RankRow
from overlapcheck.verdict import Check
from tests.json_schemas import FOLDER, FORMS, file_name, made, published
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
