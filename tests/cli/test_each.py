"""`overlapcheck analyze --each`, and folders of different programs without it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from overlapcheck.renderers.separate import separate_renderers
from overlapcheck.separate import ERROR, SeparateReport, SeparateReports
from tests.cli.test_compare import Overlapcheck, overlapcheck
from tests.ranks import fleets
from tests.ranks.programs import write_programs

__all__ = ["overlapcheck"]
ALONE = ("--jobs", "1")


@pytest.fixture
def programs(overlapcheck: Overlapcheck, tmp_path: Path) -> Path:
    write_programs(tmp_path / "nightly")
    return Path("nightly")


def test_a_folder_of_different_programs_is_no_job_and_says_what_to_do(
    overlapcheck: Overlapcheck, programs: Path
) -> None:
    code, out, err = overlapcheck("analyze", programs, *ALONE, "-o", "fleet.json")

    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == (
        "overlapcheck: not one job: 2 reports of 2 programs that have no collective in common:"
        " serve.py (serve.sqlite), train.py (train.sqlite); judge each alone: --each (or, if they"
        " are one job: --expect-ranks N)"
    )
    assert not Path("fleet.json").exists()


@pytest.mark.parametrize("insisting", [("--expect-ranks", "2"), ("--rank-pattern", "(?P<rank>.)r")])
def test_who_says_that_they_are_one_job_is_believed(
    insisting: tuple[str, str], overlapcheck: Overlapcheck, programs: Path
) -> None:
    code, out, _ = overlapcheck("analyze", programs, *ALONE, *insisting)

    assert code == 1
    assert out.startswith("FAIL  1 of 2 ranks failed")


def test_each_is_a_line_and_the_worst_counts(overlapcheck: Overlapcheck, programs: Path) -> None:
    code, out, _ = overlapcheck("analyze", programs, "--each", *ALONE)
    lines = out.splitlines()

    assert code == 1
    assert lines[0] == "2 reports: 1 PASS, 1 FAIL"
    assert lines[1].split() == ["PASS", "-", "nightly/serve.sqlite"]
    assert lines[2].split()[0] == "FAIL"
    assert lines[2].split()[-1] == "nightly/train.sqlite"
    assert len(lines) == 3


def test_each_that_passes_is_green(overlapcheck: Overlapcheck, programs: Path) -> None:
    assert overlapcheck("analyze", programs / "serve.sqlite", "--each", *ALONE)[0] == 0


def test_a_report_that_cannot_be_read_is_a_line_and_no_failure_of_the_others(
    overlapcheck: Overlapcheck, programs: Path
) -> None:
    (programs / "train.sqlite").unlink()
    (programs / "zzz.sqlite").write_text("nothing")
    code, out, _ = overlapcheck("analyze", programs, "--each", *ALONE)

    assert code == 4
    assert out.splitlines()[0] == "2 reports: 1 PASS, 1 ERROR"
    assert out.splitlines()[2].startswith("ERROR        ")
    assert out.splitlines()[2].endswith("nightly/zzz.sqlite")


def test_each_is_written_as_json(overlapcheck: Overlapcheck, programs: Path) -> None:
    _, out, _ = overlapcheck("analyze", programs, "--each", *ALONE, "-o", "each.json", "--quiet")
    found = json.loads(Path("each.json").read_text())

    assert out == "2 reports: 1 PASS, 1 FAIL\n"
    assert (found["kind"], found["exit_code"]) == ("separate-reports", 1)
    assert [one["outcome"] for one in found["reports"]] == ["PASS", "FAIL"]
    assert found["reports"][1]["program"] == "python3 train.py"
    assert found["reports"][1]["why"].startswith("overlap h2d: ")


def test_each_is_a_case_of_junit_and_a_row_of_markdown(
    overlapcheck: Overlapcheck, programs: Path
) -> None:
    (programs / "zzz.sqlite").write_text("nothing")
    overlapcheck("analyze", programs, "--each", *ALONE, "-o", "each.xml", "-o", "each.md")
    suite = ElementTree.parse("each.xml").getroot()
    cases = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    rows = [line for line in Path("each.md").read_text().splitlines() if line.startswith("| ")]

    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")
    assert cases == {
        "nightly/train.sqlite": ["failure"],
        "nightly/zzz.sqlite": ["error"],
        "nightly/serve.sqlite": ["system-out"],
    }
    assert "\n### ❌ overlapcheck: FAIL\n" in Path("each.md").read_text()
    assert [row.split(" | ")[2][2:] for row in rows[2:]] == ["FAIL", "ERROR", "PASS"]


def report(number: int, outcome: str) -> SeparateReport:
    code = {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3, ERROR: 4}[outcome]
    return SeparateReport(f"r{number}.sqlite", "train.py", outcome, code, "", 0, "why not")


@pytest.mark.parametrize("form", sorted(separate_renderers()))
def test_no_format_drops_what_failed_of_very_many(form: str) -> None:
    passing = [report(number, "PASS") for number in range(5_000)]
    found = SeparateReports("1.0", (*passing, report(5_000, "FAIL")))

    assert "r5000.sqlite" in separate_renderers()[form].render(found)


@pytest.mark.parametrize(
    ("outcome", "tag", "kind"),
    [
        ("FAIL", "failure", "fail"),
        ("INCONCLUSIVE", "error", "inconclusive"),
        (ERROR, "error", "unreadable"),
    ],
)
def test_what_did_not_pass_is_red_in_junit_and_says_why(outcome: str, tag: str, kind: str) -> None:
    text = separate_renderers()["junit"].render(SeparateReports("1.0", (report(0, outcome),)))
    (found,) = ElementTree.fromstring(text.encode()).iter(tag)

    assert (found.get("type"), found.get("message")) == (kind, "why not")
    assert "train.py" in str(found.text)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("-o", "x.html"), "-o x.html: --each has no format with this suffix; use one of"),
        (("--format", "sarif"), "--format sarif: --each has no such format; use one of"),
        (("--tables", "t"), "--tables: not with --each"),
    ],
)
def test_what_each_cannot_write_is_told_before_anything_is_read(
    asked: tuple[str, str], said: str, overlapcheck: Overlapcheck, programs: Path
) -> None:
    code, out, err = overlapcheck("analyze", programs, "--each", *asked)

    assert (code, out) == (2, "")
    assert said in err


def test_a_folder_of_different_jobs_is_no_side_of_a_comparison(
    overlapcheck: Overlapcheck, programs: Path
) -> None:
    code, _, err = overlapcheck("compare", programs, programs)

    assert code == 2
    assert "not one job" in err


def test_ranks_stay_a_job(overlapcheck: Overlapcheck, tmp_path: Path) -> None:
    fleets.write_fleet(tmp_path / "job", 2, late=1)

    assert overlapcheck("analyze", "job", *ALONE)[1].startswith("FAIL  2 of 2 ranks failed")
