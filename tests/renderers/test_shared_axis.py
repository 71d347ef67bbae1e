"""Timelines on one axis in a real browser: one moves the others, and what differs is seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from overlapcheck.compare.compare import compare
from overlapcheck.comparison import Comparison
from overlapcheck.excerpt import Excerpt
from overlapcheck.fleet import FleetReport, RankPage
from overlapcheck.pipeline import analyze
from overlapcheck.ranks.job_reports import JobReports
from overlapcheck.ranks.pool import ThisProcess
from overlapcheck.ranks.run import judge_fleet
from overlapcheck.reading import Reading
from overlapcheck.renderers.comparison import comparison_renderers
from overlapcheck.renderers.fleet import fleet_renderer
from tests.pictures import picture
from tests.ranks import fleets
from tests.renderers.browser import Page
from tests.renderers.test_html import HOSTILE, Tags

LATE, PAGEABLE = 4, 6
SCREENS = [(1280, "light"), (480, "dark"), (1280, "dark"), (480, "light")]
US, KB = 1000, 1000


BEFORE = """
s13  h2d pageable 64MiB      |ddd.........|
s7   kernel fwd              |...aaaaaa...|
s7   kernel opt              |..........cc|
t1   cudaMemcpyAsync         |ddd.........|
t1   cudaLaunchKernel        |...ac.......|
t1   nvtx step               |000000000000|
"""
AFTER = """
s13  h2d pinned 64MiB        |ddd......|
s7   kernel fwd              |aaaaaa...|
s7   kernel opt              |.......cc|
t1   cudaMemcpyAsync         |d........|
t1   cudaLaunchKernel        |ac.......|
t1   nvtx step               |000000000|
"""
WAS, NOW = 1_200_000, 900_000
"""Lengths of their steps, of columns of 100 us."""


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A step of 1.2 ms that came to take 900 us."""
    folder = tmp_path_factory.mktemp("sides")
    sides = []
    for name, drawing in (("before", BEFORE), ("after", AFTER)):
        path = picture(drawing, column_us=100, repeat=7).export(folder / f"{name}.sqlite")
        sides.append(analyze(path, reading=Reading(timeline=False)))
    return compare(*sides)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> FleetReport:
    """Eight ranks of one host, one late and one with pageable copies, and one of another host."""
    folder = tmp_path_factory.mktemp("job")
    paths = fleets.write_fleet(folder, fleets.PER_HOST + 1, late=LATE, pageable=PAGEABLE)
    return judge_fleet(JobReports(paths), fleets.judge, ThisProcess())


@pytest.fixture(params=["comparison", "fleet"])
def written(request: pytest.FixtureRequest) -> str:
    if request.param == "comparison":
        return of_comparison(request.getfixturevalue("comparison"))
    return of_fleet(request.getfixturevalue("fleet"))


def of_comparison(comparison: Comparison) -> str:
    return comparison_renderers()["html"].render(comparison)


def of_fleet(report: FleetReport) -> str:
    return fleet_renderer("html").render(report)


def views(page: Page) -> list[list[float]]:
    page.settle()
    found: list[list[float]] = page.run("return overlapcheck.timelines.map((t) => t.view())")
    return found


def places(page: Page, ns: float) -> list[float]:
    """Where on the screen a time of the axis is in each timeline."""
    found: list[float] = page.run(
        "const left = (t) => t.plot.getBoundingClientRect().left;"
        "return overlapcheck.timelines.map((t) => left(t) + t.x(arguments[0]))",
        ns,
    )
    return found


def steps(comparison: Comparison) -> tuple[Excerpt, Excerpt]:
    base, new = comparison.devices[0].excerpts
    assert base is not None and new is not None
    return base, new


# --- the axis ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "theme"), SCREENS)
def test_it_draws_and_fits_and_the_console_stays_empty(
    written: str, page: Page, width: int, theme: str
) -> None:
    page.open_text(written, width, theme)
    page.settle()

    assert page.run("return overlapcheck.ready")
    assert page.run("return document.documentElement.dataset.theme") == theme
    assert page.run("return overlapcheck.timelines.every((t) => t.drawMs > 0)")
    assert page.ink() > 10
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.console() == []
    assert page.requests() == []


def test_what_moves_one_moves_the_others_by_as_many_pixels(written: str, page: Page) -> None:
    page.open_text(written)
    first = views(page)
    assert len(first) > 1 and all(view == first[0] for view in first)
    assert len(set(places(page, first[0][1] / 3))) == 1

    page.run("overlapcheck.timelines.at(-1).zoom(0.25, 0.5)")
    zoomed = views(page)
    assert all(view == zoomed[-1] for view in zoomed)
    assert zoomed[0][1] - zoomed[0][0] == pytest.approx((first[0][1] - first[0][0]) / 4)
    assert len({round(x, 3) for x in places(page, zoomed[0][0] + 1)}) == 1

    plots = page.driver.find_elements(By.CSS_SELECTOR, ".shared .plot")
    plots[1].send_keys(Keys.ARROW_RIGHT)
    panned = views(page)
    assert all(view == panned[1] for view in panned)
    assert panned[0][0] > zoomed[0][0]

    page.click(".shared [data-do=all]")
    length = page.run("return t.length")
    assert views(page) == [[0, length]] * len(first)
    page.click(".shared [data-do=typical]")
    assert views(page) == first


def test_what_can_be_pressed_has_a_name_and_a_key(written: str, page: Page) -> None:
    page.open_text(written)

    assert page.run(
        "return [...document.querySelectorAll('.shared button, .shared .plot')]"
        ".every((e) => e.tabIndex === 0 && (e.getAttribute('aria-label') || e.textContent).trim())"
    )
    assert page.run(
        "return [...document.querySelectorAll('.shared .plot')].every((e) =>"
        " document.getElementById(e.getAttribute('aria-describedby')))"
    )


# --- two results ------------------------------------------------------------------------------


def test_both_begin_with_a_step_and_the_shorter_one_ends_earlier(
    comparison: Comparison, page: Page
) -> None:
    page.open_text(of_comparison(comparison))

    first = page.run(
        "return overlapcheck.timelines.map(({ data: { steps: [, s, e] } }) => [s[0], e[0]])"
    )
    assert first == [[0, WAS], [0, NOW]]
    base, new = page.run(
        "return overlapcheck.timelines.map((t) => t.x(t.data.steps[2][0]) - t.x(0))"
    )
    assert new / base == pytest.approx(NOW / WAS)


def test_which_steps_these_are_and_what_was_won_is_said(comparison: Comparison, page: Page) -> None:
    page.open_text(of_comparison(comparison))
    titles = page.run(
        "return [...document.querySelectorAll('.lane-title')].map((e) => e.innerText)"
    )

    assert titles == [
        "base before.sqlite, step 4, a typical one: 1.2 ms",
        "new after.sqlite, step 4, a typical one: 900.0 us, \u2212300.0 us",
    ]


def pixel(page: Page, lane: int, ns: float, below: int) -> list[int]:
    """Colour in a lane at a time, so many pixels below the axis."""
    found: list[int] = page.run(
        "const o = overlapcheck.timelines[arguments[0]], c = o.plot.getContext('2d');"
        "const x = Math.round(o.x(arguments[1])), y = o.top + arguments[2];"
        "return [...c.getImageData(x, y, 1, 1).data]",
        lane, ns, below,
    )  # fmt: skip
    return found


def test_the_time_between_both_ends_is_shaded_and_labelled(
    comparison: Comparison, page: Page
) -> None:
    page.open_text(of_comparison(comparison))
    page.settle()

    # In the label's ground, which is the colour of what got better; none without the difference.
    beside = (WAS + NOW) / 2 - 20_000
    green = pixel(page, 1, beside, 3)
    assert green[1] > green[0] and green[1] > green[2]
    page.run("const o = overlapcheck.axes[0][1]; o.drawOver = null; o.draw()")
    assert pixel(page, 1, beside, 3) != green


@pytest.mark.parametrize("lacking", [(0,), (1,), (0, 1)])
def test_a_side_that_keeps_no_events_is_named_with_what_to_do(
    lacking: tuple[int, ...], comparison: Comparison, page: Page
) -> None:
    excerpts: Any = [None if n in lacking else e for n, e in enumerate(steps(comparison))]
    (device,) = comparison.devices
    page.open_text(
        of_comparison(replace(comparison, devices=(replace(device, excerpts=tuple(excerpts)),)))
    )
    said = page.run("return document.body.innerText")

    names = " and ".join(("base", "new")[n] for n in lacking)
    assert f"No timeline of {names}: " in said and "overlapcheck compare BASE.nsys-rep" in said
    assert page.run("return overlapcheck.timelines.length") == 2 - len(lacking)
    assert page.console() == []


def test_a_page_of_two_results_stays_small(comparison: Comparison) -> None:
    """Style and scripts are 55 kB, each side some ten bytes an event."""
    assert len(of_comparison(comparison).encode()) < 150 * KB


# --- many ranks -------------------------------------------------------------------------------


def test_the_late_rank_ends_the_waiting_of_the_others_at_one_place(
    fleet: FleetReport, page: Page
) -> None:
    page.open_text(of_fleet(fleet))
    drawn = {one.rank: n for n, one in enumerate(fleet.timelines)}
    late, other = drawn[str(LATE)], drawn[str(PAGEABLE)]
    page.settle()

    # From 600 us on the other waits in its collective's row; the late one comes at 900 us.
    kinds = page.run(
        "return overlapcheck.timelines.map((t) => t.data.rows.findIndex((r) => r.label === 's20'))"
    )
    top = page.run(
        "return overlapcheck.timelines.map((t, n) => t.rows[arguments[0][n]][0] - t.top)", kinds
    )
    hollow = pixel(page, other, 880 * US, top[other] + 14)
    full = pixel(page, other, 950 * US, top[other] + 14)
    assert hollow == [255, 255, 255, 255] and full != hollow
    assert pixel(page, late, 880 * US, top[late] + 14)[3] == 0  # nothing is drawn yet
    # The line on which the last rank came runs through the rows of both.
    x = {round(x) for x in places(page, 900 * US)}
    assert len(x) == 1


def test_by_which_clocks_ranks_are_drawn_is_said(fleet: FleetReport, page: Page) -> None:
    page.open_text(of_fleet(fleet))
    note = page.run("return document.querySelector('#together .note').textContent")
    titles = page.run(
        "return [...document.querySelectorAll('.lane-title')].map((e) => e.innerText)"
    )

    assert "as they ran: they meet, so their clocks agree" in note
    late = next(title for title in titles if title.startswith(f"rank {LATE} "))
    assert "the others wait for it" in late and "comes last in 1 of 1 collective" in late
    other = next(title for title in titles if title.startswith(f"rank {PAGEABLE} "))
    assert "waits 300.0 us in 1 collective" in other


def test_ranks_of_two_clocks_are_told_apart(fleet: FleetReport) -> None:
    far = replace(fleet.timelines[-1], clock=1, step="step 9", excerpt=renumbered(fleet))
    text = of_fleet(replace(fleet, timelines=(*fleet.timelines[:-1], far)))

    assert f"rank {far.rank} from the begin of step 3: no clock is known to be the others" in text
    assert f"rank {far.rank} from step 9, for it shows no step 3" in text


def renumbered(fleet: FleetReport) -> Excerpt:
    excerpt = fleet.timelines[-1].excerpt
    return replace(excerpt, step_number=tuple(range(9, 9 + len(excerpt.step_number))))


def test_a_rank_leads_to_its_page_where_it_has_one_else_to_its_row(
    fleet: FleetReport, page: Page
) -> None:
    paged = (RankPage(str(LATE), "the others wait for it", "fleet-ranks/rank-4.html"),)
    page.open_text(of_fleet(replace(fleet, pages=paged)))
    links = page.run(
        "return [...document.querySelectorAll('.lane-title a')]"
        ".map((e) => [e.innerText, e.getAttribute('href')])"
    )

    assert dict(links).pop(f"rank {LATE}") == paged[0].address
    assert [str(PAGEABLE), f"#rank-{PAGEABLE}"] in links


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_inert(name: str, fleet: FleetReport, page: Page) -> None:
    def renamed(excerpt: Excerpt) -> Excerpt:
        rows = tuple(replace(row, label=name, note=name) for row in excerpt.rows)
        return replace(excerpt, rows=rows, names=(name,) * len(excerpt.names), step_name=name)

    text = of_fleet(
        replace(
            fleet,
            timelines=tuple(
                replace(
                    one, rank=name, why=name, excerpt=renamed(one.excerpt), step=name,
                    meetings=tuple(replace(m, latest=name, kind=name) for m in one.meetings),
                )
                for one in fleet.timelines
            ),
        )
    )  # fmt: skip
    tags = Tags()
    tags.feed(text)
    page.open_text(text)

    assert tags.open == [] and text.count("<script") == 2
    assert page.run("return window.pwned") is None
    assert page.console() == [] and page.requests() == []


def test_a_printed_page_has_them(written: str, page: Page, tmp_path: Path) -> None:
    page.open_text(written, theme="dark")
    page.run("dispatchEvent(new Event('beforeprint'))")
    page.settle()

    assert page.run("return document.documentElement.dataset.theme") == "light"
    assert page.ink() > 10
