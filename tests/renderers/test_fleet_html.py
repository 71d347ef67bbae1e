"""The page of many ranks: complete, bounded, inert, and leading to timelines."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from overlapcheck import pipeline
from overlapcheck.cli.rank_pages import write_with_pages
from overlapcheck.collective_speed import CollectiveSpeed
from overlapcheck.fleet import FleetReport, RankPage
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.pages import draw_pages
from overlapcheck.ranks.pool import LocalPool, ThisProcess
from overlapcheck.ranks.run import judge_fleet
from overlapcheck.renderers.fleet import fleet_renderer
from overlapcheck.report_result import LostReport
from overlapcheck.verdict import Outcome
from tests.export import RealExport
from tests.ranks import fleets
from tests.renderers.browser import Page
from tests.renderers.test_html import HOSTILE, Tags

RANKS, LATE, PAGEABLE = 8, 4, 6
MB = 1_000_000
MANY = 4000


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("job")
    return fleets.write_fleet(folder, RANKS, late=LATE, pageable=PAGEABLE)


@pytest.fixture(scope="module")
def answer(job: list[Path]) -> FleetReport:
    """One straggler, one rank with pageable copies, a lost report, a page, bandwidths."""
    answer = judge_fleet(JobReports(job), fleets.judge, ThisProcess())
    speed = CollectiveSpeed(
        kind="all-reduce", communicator="0x00000000000000aa", count=5, bytes=5 << 20,
        least_bytes=1 << 20, most_bytes=1 << 20, time_ns=2_500_000, waits_included=False,
        ranks=8, algorithm_gbs=123.4, bus_gbs=215.9,
    )  # fmt: skip
    return replace(
        answer,
        reports=RANKS + 1,
        lost=(LostReport("rank_8.sqlite", "the file is empty", "record it again"),),
        pages=(RankPage(str(LATE), "the others wait for it", "fleet-ranks/rank-4.html"),),
        meetings=tuple(replace(one, speeds=(speed,)) for one in answer.meetings),
    )


def written(report: FleetReport) -> str:
    return fleet_renderer("html").render(report)


def many(answer: FleetReport) -> FleetReport:
    rows = tuple(
        replace(answer.rows[n % RANKS], label=str(n), report=f"rank_{n}.sqlite")
        for n in range(MANY)
    )
    return replace(answer, rows=rows)


# --- what it says -----------------------------------------------------------------------------


def numbers_of(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:\.\d+)?(?: (?:ns|us|ms|s|%|GB/s|[KMGT]iB)(?!\w))?", text))


def shown_text(page: str) -> str:
    body = page[page.index("<body>") : page.index('<script type="application/json"')]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.mark.parametrize("real", [False, True])
def test_every_number_of_the_terminal_answer_is_on_the_page(
    real: bool, answer: FleetReport, real_export: RealExport
) -> None:
    if real:
        paths = [real_export("ddp_bucketed"), real_export("ddp_payload")]
        answer = judge_fleet(JobReports(paths), fleets.judge, ThisProcess())
    told = fleet_renderer("terminal").render(answer)
    page = shown_text(written(answer))

    # The columns of the heat map and of bandwidths have their unit in the head.
    bare = {re.sub(r" (?:%|GB/s)$", "", number) for number in numbers_of(page)}
    missing = {
        number
        for number in numbers_of(" ".join(told.split()))
        if number not in numbers_of(page) and re.sub(r" (?:%|GB/s)$", "", number) not in bare
    }
    assert len(numbers_of(told)) > 20
    assert missing == set()


def test_it_is_no_copy_of_the_terminal(answer: FleetReport) -> None:
    page = written(answer)

    assert "<pre" not in page
    assert [line for line in page.splitlines() if line.startswith("  check ")] == []


def test_what_ranks_share_and_who_stands_out_is_said(answer: FleetReport, page: Page) -> None:
    page.open_text(written(answer))
    said = page.run("return document.body.innerText")
    heads = page.run("return [...document.querySelectorAll('h2')].map((e) => e.textContent)")

    assert heads == [
        "Checks",
        "Stragglers: ranks that the others wait for",
        "A few steps of the ranks that tell most, on one axis",
        "Causes",
        "Ranks unlike the others",
        "Ranks by cause of the time without compute",
        "Collectives",
        "1 report lost",
    ]
    for text in (
        "exit code 1",
        f"waiting for rank {LATE}",
        "record it again",
        "far more on rank 6",
        "do\npin",
        "unless\nthe buffer",
        "215.9",
        "1.0 MiB",
        "5 all-reduce in which ranks 0, 1, 2, 3, 4, 5, 6, 7 met",
    ):
        assert text in said


def test_what_there_is_nothing_of_has_no_section(answer: FleetReport) -> None:
    none = replace(
        answer, lost=(), stragglers=(), stragglers_total=0, outliers=(), outliers_total=0,
        causes=(), meetings=(), meetings_total=0, pages=(), checks=(), notes=(), timelines=(),
    )  # fmt: skip

    assert re.findall(r"<h2>(.*?)</h2>", written(none)) == [
        "Ranks by cause of the time without compute"
    ]
    empty = written(replace(none, rows=(), outcome=Outcome.INCONCLUSIVE))
    assert "<h2>" not in empty and "nothing was recorded" in empty


def test_lists_that_are_cut_say_so(answer: FleetReport) -> None:
    cut = replace(
        answer,
        stragglers=answer.stragglers * 40,
        stragglers_total=70,
        lost=answer.lost * 60,
        meetings=answer.meetings * 9,
        meetings_total=12,
    )
    said = shown_text(written(cut))

    for left in ("54 more stragglers", "10 more reports", "4 more groups"):
        assert f"and {left};" in said


# --- bounds -----------------------------------------------------------------------------------


def test_four_thousand_ranks_stay_under_five_megabytes(answer: FleetReport) -> None:
    text = written(many(answer))

    assert text.count('<tr id="rank-') == MANY
    assert len(text.encode()) < 5 * MB
    assert "overlapcheck analyze rank_3999.sqlite -o rank.html" in text


def test_so_do_four_thousand_with_every_cause(answer: FleetReport) -> None:
    ledger = {f"some-long-cause-{n:02}": 1_000_000 // (n + 1) for n in range(27)}
    cause = replace(answer.rows[0].causes[0], evidence=("e" * 90,) * 4)
    worst = tuple(
        replace(
            row, ledger=ledger, causes=(cause,) * 6, report=f"{'job-' * 10}rank_{n}.sqlite",
            idle_ns=sum(ledger.values()), window_ns=2 * sum(ledger.values()),
        )
        for n, row in enumerate(many(answer).rows)
    )  # fmt: skip

    assert len(written(replace(answer, rows=worst)).encode()) < 5 * MB


# --- safety -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*HOSTILE, "'><script>x</script>\udcff.sqlite"])
def test_a_hostile_name_is_inert(name: str, answer: FleetReport, page: Page) -> None:
    text = written(
        replace(
            answer,
            rows=tuple(replace(row, label=name + row.label, report=name) for row in answer.rows),
            lost=(LostReport(name, name, name),),
            notes=(name,),
            settings=replace(answer.settings, program=name, environment={"NCCL_DEBUG": name}),
            stragglers=tuple(replace(o, rank=name, meanwhile={name: 1}) for o in answer.stragglers),
            outliers=tuple(replace(one, rank=name, measure=name) for one in answer.outliers),
            causes=tuple(
                replace(one, cause=name, evidence=(name,), advice=name, worst_rank=name)
                for one in answer.causes
            ),
            checks=tuple(
                replace(c, name=name, reason=name, worst_rank=name) for c in answer.checks
            ),
            pages=(RankPage(name, name, "fleet-ranks/rank.html"),),
        )
    )
    tags = Tags()
    tags.feed(text)
    page.open_text(text)

    assert tags.open == [] and "img" not in tags.seen
    assert text.count("<script") == 2
    assert page.run("return window.pwned") is None
    assert page.console() == [] and page.requests() == []


# --- in the browser ---------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 480])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ranks", [RANKS, MANY])
def test_it_fits_fetches_nothing_and_the_console_stays_empty(
    ranks: int, answer: FleetReport, page: Page, width: int, theme: str
) -> None:
    page.open_text(written(answer if ranks == RANKS else many(answer)), width, theme)
    page.run("document.querySelector('#rank-4 summary').click()")

    assert page.run("return overlapcheck.ready")
    assert page.run("return document.documentElement.dataset.theme") == theme
    # Nothing but the boxes made to scroll is wider than the page.
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run(
        "return [...document.querySelectorAll('main > section > *')]"
        ".every((e) => e.getBoundingClientRect().right <= innerWidth + 0.5)"
    )
    # The row that is open is no wider than the box that it lies in.
    assert page.run(
        "return document.querySelector('#rank-4 .more').getBoundingClientRect().right"
        " <= document.querySelector('.map').getBoundingClientRect().right + 0.5"
    )
    assert page.console() == []
    assert page.requests() == []


def test_what_can_be_pressed_or_scrolled_can_be_reached_by_key_and_has_a_name(
    answer: FleetReport, page: Page
) -> None:
    page.open_text(written(answer))

    assert page.run(
        "return [...document.querySelectorAll('button, a, .scroll, .map, summary')]"
        ".every((e) => e.tabIndex === 0 && (e.getAttribute('aria-label') || e.textContent).trim())"
    )
    assert page.run("return document.querySelector('#filter').labels.length") == 1


def visible_ranks(page: Page) -> list[str]:
    ranks: list[str] = page.run(
        "return [...document.querySelectorAll('.map tbody tr')].filter((e) => !e.hidden)"
        ".map((e) => e.querySelector('summary').textContent)"
    )
    return ranks


def ask(page: Page, text: str) -> list[str]:
    page.run(
        "const box = document.getElementById('filter'); box.value = arguments[0];"
        "box.dispatchEvent(new Event('input'))",
        text,
    )
    return visible_ranks(page)


def test_the_filter_takes_ranks_ranges_and_words(answer: FleetReport, page: Page) -> None:
    page.open_text(written(answer))

    assert ask(page, "2-4, 7") == ["2", "3", "4", "7"]
    assert ask(page, "rank 6") == ["6"]
    assert ask(page, "fail") == [row.label for row in answer.rows if row.outcome is Outcome.FAIL]
    first = {row.label for row in answer.rows if row.causes[0].cause == "exposed-collective"}
    assert set(ask(page, "exposed-coll")) == first
    assert ask(page, "0-3 nothing-like-it") == []
    assert page.run("return document.getElementById('shown').textContent") == "0 of 8 ranks"
    assert len(ask(page, "")) == RANKS


def test_a_head_sorts_and_sorts_back(answer: FleetReport, page: Page) -> None:
    page.open_text(written(answer))
    heads = page.driver.find_elements(By.CSS_SELECTOR, ".map thead th")
    by_name = {head.text: head for head in heads}

    def press(name: str) -> list[str]:
        page.run("arguments[0].querySelector('button').click()", by_name[name])
        return visible_ranks(page)

    assert press("pageable-copy")[0] == str(PAGEABLE)
    assert by_name["pageable-copy"].get_attribute("aria-sort") == "descending"
    assert press("pageable-copy")[-1] == str(PAGEABLE)
    assert press("compute")[0] == str(LATE)
    assert by_name["pageable-copy"].get_attribute("aria-sort") is None
    assert press("rank") == [str(n) for n in range(RANKS)]
    assert press("rank") == [str(n) for n in reversed(range(RANKS))]


def test_a_rank_named_anywhere_leads_to_its_row_and_opens_it(
    answer: FleetReport, page: Page
) -> None:
    page.open_text(written(answer))
    ask(page, "0-1")
    link = page.driver.find_element(By.CSS_SELECTOR, "#stragglers a")

    page.run("arguments[0].click()", link)
    page.settle()

    assert page.run("return location.hash") == f"#rank-{LATE}"
    assert page.run("return document.querySelector('.map details[open] summary').textContent") == (
        str(LATE)
    )
    assert len(visible_ranks(page)) == RANKS


def test_a_row_opens_to_its_time_as_a_bar_and_to_its_evidence(
    answer: FleetReport, page: Page
) -> None:
    page.open_text(written(answer))
    row = page.driver.find_element(By.ID, f"rank-{PAGEABLE}")
    code = row.find_element(By.CSS_SELECTOR, "code")
    assert not code.is_displayed()

    row.find_element(By.CSS_SELECTOR, "summary").click()

    assert code.text == f"overlapcheck analyze rank_{PAGEABLE}.sqlite -o rank.html"
    told = answer.rows[PAGEABLE]
    parts = row.find_elements(By.CSS_SELECTOR, ".bar i")
    widths = [part.rect["width"] for part in parts]
    shares = [told.compute_ns, *told.ledger.values()]
    assert [width / sum(widths) for width in widths] == pytest.approx(
        [ns / told.window_ns for ns in shares if ns], abs=0.01
    )
    assert told.causes[0].evidence[0] in row.text
    assert "FAIL recoverable" in row.text


def test_of_many_ranks_those_named_elsewhere_have_evidence(answer: FleetReport) -> None:
    rows = many(answer).rows
    last = str(MANY - 1)
    outlier = replace(answer.outliers[0], rank=last)
    text = written(replace(answer, rows=rows, outliers=(outlier,), outliers_total=1))
    row = text[text.index(f'<tr id="rank-{last}"') :]

    assert rows[-1].causes[0].evidence[0] in unescape(row)
    assert row.count("<li>") > 3


def test_it_prints_in_light_without_opening_every_rank(answer: FleetReport, page: Page) -> None:
    page.open_text(written(answer), theme="dark")

    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    page.run("dispatchEvent(new Event('beforeprint'))")

    assert len(printed["data"]) > 10_000
    assert page.run("return document.documentElement.dataset.theme") == "light"
    assert page.run("return document.querySelectorAll('.finding:not([open])').length") == 0
    assert page.run("return document.querySelectorAll('.map details[open]').length") == 0


def test_a_click_leads_to_the_timeline(
    answer: FleetReport, job: list[Path], driver: webdriver.Chrome, tmp_path: Path
) -> None:
    output = tmp_path / "my fleet.html"
    pages = draw_pages(answer, job, pipeline.draw, LocalPool(2), 3)
    write_with_pages(answer, [output], pages)
    driver.get_log("browser")  # type: ignore[no-untyped-call]  # forget other tests' messages

    driver.get(output.as_uri())
    rows = driver.find_elements(By.CSS_SELECTOR, ".map tbody tr")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", rows[LATE])
    rows[LATE].find_element(By.CSS_SELECTOR, "td > a").click()

    assert len(rows) == RANKS
    assert len(list((tmp_path / "my fleet-ranks").iterdir())) == 3
    assert driver.current_url.endswith(f"/my%20fleet-ranks/rank-{LATE}.html")
    assert driver.execute_script("return overlapcheck.timelines.length") == 1
    log = driver.get_log("browser")  # type: ignore[no-untyped-call]
    assert [one for one in log if one["level"] == "SEVERE"] == []
