"""From a rank in the heat map to its timeline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from overlapcheck import pipeline
from overlapcheck.cli.rank_pages import write_with_pages
from overlapcheck.errors import OutputUnwritable
from overlapcheck.fleet import FleetReport
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.pages import draw_pages
from overlapcheck.ranks.pool import ThisProcess
from overlapcheck.ranks.run import judge_fleet
from overlapcheck.ranks.telling import telling_ranks
from tests.ranks import fleets

RANKS = 12
LATE, PAGEABLE = 5, 10


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return fleets.write_fleet(tmp_path_factory.mktemp("pages"), RANKS, late=LATE, pageable=PAGEABLE)


@pytest.fixture(scope="module")
def answer(job: list[Path]) -> FleetReport:
    return judge_fleet(JobReports(job), fleets.judge, ThisProcess())


def test_the_telling_ranks_and_a_typical_one(answer: FleetReport) -> None:
    pages = telling_ranks(answer, 3)

    assert [page.rank for page in pages[:2]] == [str(LATE), str(PAGEABLE)]
    assert pages[0].why.startswith("the others wait for it")
    assert pages[1].why.startswith("far more pageable-copy than the median rank")
    assert pages[2].why.startswith("typical")
    assert pages[2].rank not in {str(LATE), str(PAGEABLE)}
    assert [page.rank for page in telling_ranks(answer, 1)] == [pages[2].rank]
    assert telling_ranks(answer, 0) == ()
    assert len(telling_ranks(answer, 8)) <= 8


def test_ranks_with_the_same_reason_leave_room_for_others(answer: FleetReport) -> None:
    many = tuple(replace(answer.stragglers[0], rank=str(n)) for n in range(9))

    chosen = [page.rank for page in telling_ranks(replace(answer, stragglers=many), 5)]

    assert chosen == ["1", "2", str(PAGEABLE), "3", "0"]


def test_only_their_reports_are_read_again(answer: FleetReport, job: list[Path]) -> None:
    read: list[str] = []

    def draw(path: Path) -> str:
        read.append(path.name)
        return f"<p>{path.name}"

    pages = draw_pages(answer, job, draw, ThisProcess(), 2)

    assert read == ["rank_0.sqlite", f"rank_{LATE}.sqlite"]
    assert pages.files[f"rank-{LATE}.html"] == f"<p>rank_{LATE}.sqlite"
    assert {page.address for page in pages.ranks} == set(pages.files)
    assert pages.lost == ()


def test_a_page_that_cannot_be_drawn_loses_only_itself(
    answer: FleetReport, job: list[Path]
) -> None:
    def draw(path: Path) -> str:
        if path.name == f"rank_{LATE}.sqlite":
            raise OutputUnwritable(f"{path}: no room", "make some")
        return "<p>"

    pages = draw_pages(answer, job, draw, ThisProcess(), 3)

    assert [one.why for one in pages.lost] == ["no room"]
    assert str(LATE) not in {page.rank for page in pages.ranks}
    assert len(pages.files) == 2


def test_devices_of_one_report_share_a_page(answer: FleetReport, job: list[Path]) -> None:
    rows = (
        replace(answer.rows[0], label="0.0", device=0, report_number=0),
        replace(answer.rows[1], label="0/1", device=1, report_number=0),
    )
    few = replace(answer, rows=rows, stragglers=(), outliers=(), checks=(), causes=())
    late = replace(answer.stragglers[0], rank="0/1")

    pages = draw_pages(
        replace(few, stragglers=(late,)), job, lambda path: path.name, ThisProcess(), 2
    )

    assert [page.address for page in pages.ranks] == [
        "rank-0_1.html#device-1",
        "rank-0_1.html#device-0",
    ]
    assert list(pages.files.values()) == ["rank_0.sqlite"]


def test_no_pages_no_folder(answer: FleetReport, job: list[Path], tmp_path: Path) -> None:
    pages = draw_pages(answer, job, pipeline.draw, ThisProcess(), 0)
    write_with_pages(answer, [tmp_path / "f.html"], pages)

    assert [path.name for path in tmp_path.iterdir()] == ["f.html"]
    assert "<h2>Timelines" not in (tmp_path / "f.html").read_text()


def test_a_folder_that_cannot_be_made_is_said(
    answer: FleetReport, job: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "f-ranks").write_text("a file")
    pages = draw_pages(answer, job, lambda path: path.name, ThisProcess(), 2)

    with pytest.raises(OutputUnwritable, match=r"f-ranks: cannot keep timelines"):
        write_with_pages(answer, [tmp_path / "f.html"], pages)
