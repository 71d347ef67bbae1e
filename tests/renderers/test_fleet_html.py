"""The page of many ranks: bounded, inert, and leading to timelines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from overlapcheck import pipeline
from overlapcheck.cli.rank_pages import write_with_pages
from overlapcheck.fleet import FleetReport
from overlapcheck.ranks.pool import LocalPool, ThisProcess
from overlapcheck.ranks.run import judge_fleet
from overlapcheck.renderers.fleet import fleet_renderer
from tests.ranks import fleets

RANKS, LATE = 6, 4
MB = 1_000_000


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return fleets.write_fleet(tmp_path_factory.mktemp("job"), RANKS, late=LATE)


@pytest.fixture(scope="module")
def answer(job: list[Path]) -> FleetReport:
    return judge_fleet(job, fleets.judge, ThisProcess())


def test_four_thousand_ranks_stay_under_five_megabytes(answer: FleetReport) -> None:
    rows = tuple(
        replace(answer.rows[n % RANKS], label=str(n), report=f"rank_{n}.sqlite")
        for n in range(4000)
    )

    text = fleet_renderer("html").render(replace(answer, rows=rows))

    assert text.count('<tr id="rank-') == 4000
    assert len(text.encode()) < 5 * MB
    assert "overlapcheck analyze rank_3999.sqlite -o rank.html" in text


def test_a_hostile_name_is_inert(answer: FleetReport) -> None:
    name = "'><script>x</script>\udcff.sqlite"
    rows = tuple(replace(row, label=name, report=name) for row in answer.rows)

    text = fleet_renderer("html").render(replace(answer, rows=rows))

    assert "<script" not in text
    assert text.encode("utf-8")


def test_a_click_leads_to_the_timeline(
    answer: FleetReport, job: list[Path], driver: webdriver.Chrome, tmp_path: Path
) -> None:
    output = tmp_path / "my fleet.html"
    write_with_pages(answer, [output], job, pipeline.draw, LocalPool(2), 3)
    driver.get_log("browser")  # type: ignore[no-untyped-call]  # forget other tests' messages

    driver.get(output.as_uri())
    rows = driver.find_elements(By.CSS_SELECTOR, "tbody tr")
    driver.execute_script("arguments[0].scrollIntoView()", rows[LATE])
    rows[LATE].find_element(By.CSS_SELECTOR, "td > a").click()

    assert len(rows) == RANKS
    assert len(list((tmp_path / "my fleet-ranks").iterdir())) == 2
    assert driver.current_url.endswith(f"/my%20fleet-ranks/rank-{LATE}.html")
    assert driver.execute_script("return overlapcheck.timelines.length") == 1
    log = driver.get_log("browser")  # type: ignore[no-untyped-call]
    assert [one for one in log if one["level"] == "SEVERE"] == []


def test_a_row_without_a_timeline_says_how_to_draw_it(
    answer: FleetReport, driver: webdriver.Chrome, tmp_path: Path
) -> None:
    page = tmp_path / "fleet.html"
    page.write_text(fleet_renderer("html").render(answer), encoding="utf-8")

    driver.get(page.as_uri())
    row = driver.find_element(By.ID, "rank-2")
    code = row.find_element(By.CSS_SELECTOR, "code")
    assert not code.is_displayed()
    row.find_element(By.CSS_SELECTOR, "summary").click()

    assert code.is_displayed()
    assert code.text == "overlapcheck analyze rank_2.sqlite -o rank.html"
    bar = row.find_element(By.CSS_SELECTOR, ".bar")
    drawn = sum(part.size["width"] for part in bar.find_elements(By.CSS_SELECTOR, "i"))
    # Compute and idle time are the whole window.
    assert drawn == pytest.approx(bar.size["width"], rel=0.02)
