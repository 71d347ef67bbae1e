"""docs/architecture.md and CONTRIBUTING.md name what is there."""

from __future__ import annotations

import ast
import os
import re
import sqlite3
from functools import cache
from pathlib import Path

import pytest

import overlapcheck
from overlapcheck.cli import cli
from overlapcheck.ledger import Reason
from tests.architecture_parts import parts
from tests.conftest import ROOT
from tests.export import RealExport
from tests.test_layers import MAX_LINES, STAGES
from tests.threshold_page import tables

ARCHITECTURE = ROOT / "docs" / "architecture.md"
THRESHOLDS = ROOT / "docs" / "thresholds.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
RECORDING = ROOT / "docs" / "recording.md"
DEFINITIONS = ROOT / "docs" / "definitions.md"
AGENTS = ROOT / "docs" / "agents.md"
PAGES = (ARCHITECTURE, THRESHOLDS, CONTRIBUTING, DEFINITIONS, RECORDING, AGENTS)
WAY = r"^\| `(overlapcheck/[a-z_/]+)` \| ([^|]+) \|"
MARK, END_MARK = "<!-- parts -->\n", "<!-- /parts -->"
PLACES = ("overlapcheck/", "tests/", "fixtures/", "docs/", ".ci/", "bench/", "examples/")


def page(path: Path = ARCHITECTURE) -> str:
    return path.read_text(encoding="utf-8")


@cache
def defined_below(folder: Path) -> set[str]:
    """Names of all functions and classes of a package's modules."""
    return {
        node.name
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_path_it_names_exists(path: Path) -> None:
    named = {
        word
        for span in re.findall(r"`([^`\n]+)`", page(path))
        for word in span.split()
        if word.startswith(PLACES)
    }

    assert {word for word in named if not (ROOT / word).exists()} == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_its_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page(path))

    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_every_option_of_a_recording_is_explained() -> None:
    analysed = {option for one in cli.commands["analyze"].params for option in one.opts}
    options = {option for one in cli.commands["run"].params for option in one.opts} - analysed
    told = set(re.findall(r"--[a-z][a-z-]+", page(RECORDING)))

    assert {"--light", "--mark-steps", "--duration"} < options
    assert {option for option in options if option.startswith("--")} <= told


def test_the_picture_has_every_stage_and_no_other() -> None:
    (picture,) = re.findall(r"```text\n(.*?)```", page(), flags=re.DOTALL)

    assert set(re.findall(r"([a-z]+)/", picture)) == STAGES | {"cli"}
    assert "pipeline.py" in picture


def test_the_parts_are_those_of_the_package() -> None:
    before, rest = page().split(MARK)
    _, after = rest.split(END_MARK)
    fresh = f"{before}{MARK}{parts()}\n{END_MARK}{after}"
    if os.environ.get("UPDATE_GOLDEN"):
        ARCHITECTURE.write_text(fresh, encoding="utf-8")

    assert page() == fresh, "make golden writes it anew"


def test_the_numbers_that_decide_are_those_of_the_package() -> None:
    before, rest = page(THRESHOLDS).split("<!-- numbers -->\n")
    _, after = rest.split("<!-- /numbers -->")
    fresh = f"{before}<!-- numbers -->\n{tables()}\n\n<!-- /numbers -->{after}"
    if os.environ.get("UPDATE_GOLDEN"):
        THRESHOLDS.write_text(fresh, encoding="utf-8")

    assert page(THRESHOLDS) == fresh, "make golden writes it anew"


def test_the_way_of_a_copy_goes_through_functions_that_exist() -> None:
    rows = re.findall(WAY, page(), flags=re.MULTILINE)
    visited = [folder.split("/")[1] for folder, _ in rows]

    assert list(dict.fromkeys(visited)) == [
        "sources",
        "passes",
        "causes",
        "checks",
        "reporting",
        "renderers",
    ]
    for folder, names in rows:
        missing = set(re.findall(r"`(\w+)`", names)) - defined_below(ROOT / folder)
        assert missing == set(), f"not in {folder}"


def test_the_way_of_a_copy_ends_where_it_says(real_export: RealExport) -> None:
    export = real_export("pt_pageable")
    with sqlite3.connect(f"file:{export}?mode=ro", uri=True) as db:
        copy = db.execute(
            "SELECT bytes, copyKind, srcKind, streamId, end - start"
            " FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE correlationId = 5731"
        ).fetchall()
        call = db.execute(
            "SELECT start, end - start FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId = 5731"
        ).fetchall()
    report = overlapcheck.analyze(export)
    assert report.measurements is not None
    ledger = report.measurements.devices[0].ledger.frame()
    mine = ledger[ledger.call_start_ns == call[0][0]]
    longest = mine.loc[(mine.end_ns - mine.start_ns).idxmax()]
    (line,) = re.findall(r"^    (cudaMemcpyAsync held .*)$", page(), flags=re.MULTILINE)

    assert copy == [(134217728, 1, 0, 13, 19307046)]
    assert call[0][1] == 19495372
    assert (longest.end_ns - longest.start_ns, longest.step) == (4882100, 6)
    assert longest.reason == Reason.PAGEABLE_COPY
    assert line in report.findings[0].evidence
    for number in ("134217728", "19307046", "5731", "19495372", "4882100"):
        assert number in page()


def test_numbers_of_the_rules_are_those_enforced() -> None:
    assert f"at most {MAX_LINES} lines of code" in page()


def test_contributing_names_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):.*##", page(ROOT / "Makefile"), flags=re.MULTILINE))

    assert set(re.findall(r"(?:^|`)make ([a-z]+)", page(CONTRIBUTING), flags=re.M)) <= targets


def test_the_drawing_in_contributing_gives_what_it_asserts() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", page(CONTRIBUTING), flags=re.DOTALL)
    assert "assert" in example

    exec(compile(example, str(CONTRIBUTING), "exec"), {})
