"""`overlapcheck whatif` at the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from overlapcheck.cli import cli
from overlapcheck.errors import NoSteadySteps, PolicyInvalid
from tests.export import RealExport
from tests.json_schemas import published
from tests.pictures import picture

STEP = """
s7   h2d pageable 20MB        |.hhhh.......|
s7   kernel fwd               |......aaaaaa|
t1   cudaMemcpyAsync          |hhhhh.......|
t1   cudaLaunchKernel         |.....a......|
t1   cudaDeviceSynchronize    |......ssssss|
t1   nvtx step                |000000000000|
"""

ROWS = ["stream 1", "host to device", "thread 1"]


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return picture(STEP, repeat=10, column_us=1000).export(tmp_path / "before.sqlite")


def whatif(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["whatif", *map(str, arguments)], catch_exceptions=False)


def test_the_answer_comes_first_and_fits_a_terminal(export: Path) -> None:
    text = whatif(export).stdout

    assert text.startswith("WINS ")
    assert "pageable-copy" in text
    assert "pin the host memory" in text
    assert "then   compute-bound: " in text
    assert "assumed" in text
    assert max(map(len, text.splitlines())) <= 80


def test_json_fits_its_schema(export: Path) -> None:
    document = json.loads(whatif(export, "--format", "json").stdout)
    Draft202012Validator(published("whatif")).validate(document)
    best = document["best"]

    assert document["before_ns"] == 12_000_000
    assert best["fix"] == document["repairs"][-1]["fix"]
    assert best["low_ns"] <= best["step_ns"] <= best["high_ns"] < document["before_ns"]


def test_causes_that_are_asked_for_are_repaired_together(export: Path) -> None:
    document = json.loads(
        whatif(export, "--fix", "host-sync,default-stream", "--format", "json").stdout
    )
    (asked,) = document["repairs"]

    assert asked["fix"] == ["host-sync", "default-stream"]
    assert asked["not_there"] == ["default-stream"]


def test_a_prediction_is_verified_by_another_recording(export: Path, tmp_path: Path) -> None:
    repaired = STEP.replace("pageable", "pinned").replace("|hhhhh", "|h....")
    after = picture(repaired, repeat=10, column_us=1000).export(tmp_path / "after.sqlite")
    document = json.loads(
        whatif(export, "--fix", "pageable-copy", "--verify", after, "--format", "json").stdout
    )

    assert document["verified"]["real_ns"] == 12_000_000
    assert document["verified"]["predicted_ns"] == document["repairs"][0]["step_ns"]
    assert document["verified"]["in_band"] is False
    assert "verified" in whatif(export, "--verify", after).stdout


def test_wins_are_of_the_own_pace_where_it_is_told(tmp_path: Path) -> None:
    late = picture(
        """
        s7   kernel fwd               |.aaa......|
        t1   cudaLaunchKernel         |a.........|
        t1   nvtx step                |0000000000|
        """,
        repeat=10,
        column_us=1000,
    ).export(tmp_path / "late.sqlite")
    document = json.loads(whatif(late, "--step-time", "8ms", "--format", "json").stdout)

    assert document["basis"] == "own pace"
    assert abs(document["before_ns"] - 8_000_000) < 100_000


def test_it_is_written_to_files_too(export: Path, tmp_path: Path) -> None:
    whatif(export, "-o", tmp_path / "wins.json", "-o", tmp_path / "wins.txt")

    assert json.loads((tmp_path / "wins.json").read_text())["kind"] == "what-if"
    assert (tmp_path / "wins.txt").read_text().startswith("WINS ")


def test_the_page_draws_both_steps_on_one_axis(export: Path, tmp_path: Path) -> None:
    page = tmp_path / "wins.html"
    document = json.loads(whatif(export, "--format", "json", "-o", page).stdout)
    text = page.read_text()
    recorded, repaired = re.findall(r'<line x1="([\d.]+)"', text)[:: len(ROWS)]
    share = document["best"]["step_ns"] / document["before_ns"]

    assert "A step as recorded: 12.0 ms" in text
    assert float(recorded) == 1000
    assert abs(float(repaired) - 1000 * share) < 20
    assert re.findall(r"<dt>([^<]+)</dt>", text) == 2 * ROWS


def test_a_cause_without_a_repair_is_refused_with_those_there_are(export: Path) -> None:
    with pytest.raises(PolicyInvalid, match="no repair of it can be predicted") as error:
        whatif(export, "--fix", "copy-bound")

    assert "pageable-copy" in error.value.hint


def test_without_steps_there_is_no_pace(real_export: RealExport, tmp_path: Path) -> None:
    once = picture(STEP, column_us=1000).export(tmp_path / "once.sqlite")

    with pytest.raises(NoSteadySteps, match="no steady steps to replay"):
        whatif(once)


def test_a_format_that_there_is_not_is_refused_before_reading(tmp_path: Path) -> None:
    with pytest.raises(PolicyInvalid, match="whatif has no such format"):
        whatif(tmp_path / "missing.sqlite", "--format", "sarif")
