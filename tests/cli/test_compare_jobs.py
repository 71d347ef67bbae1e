"""`overlapcheck compare` and `baseline` of jobs of many ranks, as their users meet them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from overlapcheck import pipeline
from overlapcheck.fleet import FleetReport
from overlapcheck.reading import Reading
from overlapcheck.renderers.comparison import comparison_renderers
from overlapcheck.report_result import LostReport
from overlapcheck.saved import any_restored
from overlapcheck.showing import text_of
from tests.cli.test_compare import Overlapcheck, overlapcheck
from tests.compare.jobs import synchronised
from tests.ranks import fleets

__all__ = ["overlapcheck"]


@pytest.fixture
def jobs(tmp_path: Path) -> tuple[Path, Path]:
    """A saved job of three ranks, and the same with rank 2 late."""
    found = []
    for name, late in (("before", None), ("after", 2)):
        reports = fleets.write_fleet(tmp_path / name, 3, late=late)
        path = tmp_path / f"{name}.json"
        path.write_text(pipeline.analyze_ranks(reports, reading=Reading(jobs=1)).to_json())
        found.append(path)
    return found[0], found[1]


def test_the_late_rank_is_named_first(overlapcheck: Overlapcheck, jobs: tuple[Path, Path]) -> None:
    code, out, err = overlapcheck("compare", *jobs)
    head = " ".join(out.split("\n\n")[0].split())

    assert (code, err) == (0, "")
    assert head.startswith("WORSE rank 2 got slower: its own part of the step ")
    assert head.endswith("waiting for rank 2")


def test_a_folder_is_as_good_as_what_was_saved_of_it(
    overlapcheck: Overlapcheck, jobs: tuple[Path, Path]
) -> None:
    asked = ("compare", jobs[0])
    saved = json.loads(overlapcheck(*asked, jobs[1], "--format", "json")[1])
    read = json.loads(overlapcheck(*asked, jobs[1].with_suffix(""), "--format", "json")[1])

    assert (saved["new"].pop("name"), read["new"].pop("name")) == ("after.json", "after")
    assert saved == read
    assert saved["slower"] == ["2"]


def test_every_format_is_written(overlapcheck: Overlapcheck, jobs: tuple[Path, Path]) -> None:
    files = [Path(f"c{one.suffix}") for one in comparison_renderers().values()]
    asked = [word for file in files for word in ("-o", file)]
    code, out, err = overlapcheck("compare", *jobs, *asked)

    assert (code, err) == (0, "")
    assert out == Path("c.txt").read_text()
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    texts["c.json"] = texts["c.json"].replace('"rank": "2"', "rank 2")
    assert [name for name, text in texts.items() if "rank 2" not in text] == []


def test_of_300_saved_ranks_the_slower_one_is_named_and_the_gate_is_red(
    overlapcheck: Overlapcheck,
) -> None:
    for name, job in (("b.json", synchronised(300)), ("a.json", synchronised(300, late=217))):
        Path(name).write_text(text_of(job, "json"))
    code, out, err = overlapcheck("compare", "b.json", "a.json", "--fail-if-worse", "5")

    assert (code, err) == (1, "")
    assert out.startswith("WORSE  rank 217 got slower")
    assert "FAIL --fail-if-worse 5: step time is 33.3 % longer" in " ".join(out.split())
    assert overlapcheck("compare", "a.json", "b.json", "--fail-if-worse", "5")[0] == 0


def test_a_saved_job_comes_back_as_what_compare_needs() -> None:
    job = synchronised(3, late=1)
    again = any_restored(text_of(job, "json"))

    assert isinstance(again, FleetReport)
    assert [row.per_step for row in again.rows] == [row.per_step for row in job.rows]
    assert [row.bound_ns for row in again.rows] == [row.bound_ns for row in job.rows]


def test_a_job_and_a_report_are_not_compared(
    overlapcheck: Overlapcheck, jobs: tuple[Path, Path]
) -> None:
    code, out, err = overlapcheck("compare", jobs[0], jobs[0].with_suffix("") / "rank_0.sqlite")

    assert (code, out) == (3, "")
    assert err == (
        "overlapcheck: not comparable: before.json is a job of 3 ranks, rank_0.sqlite is one"
        " report; compare two jobs (folders, or what analyze FOLDER -o FILE.json wrote), or two"
        " reports\n"
    )


def test_a_job_is_a_baseline(
    overlapcheck: Overlapcheck, jobs: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    assert overlapcheck("baseline", "save", "main", jobs[0])[0] == 0
    code, out, _ = overlapcheck("compare", "--baseline", "main", jobs[1], "--fail-if-worse", "5")
    same = overlapcheck("compare", "--baseline", "main", jobs[0], "--fail-if-worse", "5")

    assert code == 0, "the step is no longer than before"
    assert out.startswith("WORSE  rank 2 got slower")
    assert same[1].startswith("NO CHANGE")
    assert overlapcheck("baseline", "list")[1].startswith("main             3 ranks of NVIDIA")
    assert "3 of 3 reports, 3 ranks" in overlapcheck("baseline", "show", "main")[1]


def test_a_job_that_lacks_a_rank_is_no_baseline(
    overlapcheck: Overlapcheck, jobs: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    found = any_restored(jobs[0].read_text())
    assert isinstance(found, FleetReport)
    lost = LostReport("rank_3.sqlite", "damaged", "copy it again")
    jobs[0].write_text(replace(found, lost=(lost,)).to_json())
    code, out, err = overlapcheck("baseline", "save", "main", jobs[0])

    assert (code, out) == (3, "")
    assert "no baseline of this job, for 1 rank is missing; analyse all of its ranks" in err
