"""The HTML report in a real browser: it draws, it moves, it fetches nothing, names are inert."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from overlapcheck.finding import Confidence, Finding, SourceLine
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.pipeline import analyze
from overlapcheck.quantities import bandwidth, duration
from overlapcheck.renderers.html import RENDERER
from overlapcheck.report import Report
from overlapcheck.reporting.timeline import MAX_EVENTS, MAX_NAME, MAX_NAMES
from overlapcheck.timeline import TimelineEvents
from overlapcheck.verdict import Outcome
from tests.export import RealExport, edit, query
from tests.renderers.browser import Page
from tests.renderers.scaled import KERNELS, Scaled
from tests.renderers.test_terminal import a_device, a_report, failing, inconclusive, passing

MB = 1_000_000
MOST_BYTES = 5 * MB
MOST_DRAW_MS = 2000
"""What a reader waits for without wondering; drawing takes a fiftieth of it."""
HOSTILE = (
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 2</script>",
    "<img src=x onerror='window.pwned = 3'>",
    '" onmouseover="window.pwned = 4" x=\'',
    "<!-- <script>",
    "k\u2028\u202e\x1b[31m\x00&amp;",
)


# --- the reports ------------------------------------------------------------------------------


@cache
def analyzed(path: Path) -> Report:
    return replace(analyze(path), measurements=None)


@pytest.fixture
def pageable(real_export: RealExport) -> Report:
    return analyzed(real_export("pt_pageable"))


@pytest.fixture
def bucketed(real_export: RealExport) -> Report:
    return analyzed(real_export("ddp_bucketed"))


@pytest.fixture(params=["pageable", "bucketed", "scaled"])
def report(request: pytest.FixtureRequest) -> Report:
    found: Report | Scaled = request.getfixturevalue(request.param)
    return found.report if isinstance(found, Scaled) else found


# --- opened in the browser --------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 480])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_draws_fetches_nothing_and_the_console_stays_empty(
    report: Report, page: Page, width: int, theme: str
) -> None:
    page.open(report, width, theme)

    assert page.run("return overlapcheck.ready")
    took = page.run("return overlapcheck.timelines.map((t) => t.drawMs)")
    assert len(took) == len(report.devices) and 0 < sum(took) < MOST_DRAW_MS
    assert page.ink() > 10
    assert page.run("return document.documentElement.dataset.theme") == theme
    # Nothing but the boxes made to scroll is wider than the page.
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.console() == []
    assert page.requests() == []


def test_a_page_stays_small(report: Report) -> None:
    assert len(RENDERER.render(report).encode()) < MOST_BYTES


def test_the_fullest_timeline_still_fits(pageable: Report) -> None:
    """As many blocks as are ever drawn, all of them merged copies, and as many long names."""
    (device,) = pageable.devices
    assert device.timeline is not None
    start = np.arange(MAX_EVENTS, dtype=np.int64) * 1_000_003 + device.timeline.start_ns
    some = np.full(MAX_EVENTS, 700_001, dtype=np.int64)
    row, names = some // 700_001, np.arange(MAX_EVENTS, dtype=np.int64) % MAX_NAMES
    full = replace(
        device.timeline,
        end_ns=int(start[-1] + 1_000_003),
        events=TimelineEvents(row, start, start + some, row * 2, names, some, some, some * 60),
        names=tuple("k" * (MAX_NAME - 5) + f"{n:05}" for n in range(MAX_NAMES)),
    )

    text = RENDERER.render(replace(pageable, devices=(replace(device, timeline=full),)))

    assert len(text.encode()) < MOST_BYTES


def test_a_long_trace_is_drawn_in_blocks_that_account_for_every_event(
    scaled: Scaled, page: Page
) -> None:
    (timeline,) = (device.timeline for device in scaled.report.devices)
    assert timeline is not None and timeline.resolution_ns > 0
    assert timeline.recorded > KERNELS

    page.open(scaled.report)

    assert page.run("return t.events.n") == len(timeline.events) <= 100_000
    assert page.run("return t.events.count.reduce((a, b) => a + b, 0)") == timeline.recorded
    busy = page.run("return t.events.busy.reduce((a, b) => a + b, 0)")
    assert busy == pytest.approx(int(timeline.events.busy_ns.sum()), rel=1e-3)


def test_the_causes_row_adds_up_to_the_idle_time(report: Report, page: Page) -> None:
    page.open(report)

    for number in range(page.run("return overlapcheck.timelines.length")):
        drawn = page.run(
            "const e = overlapcheck.timelines[arguments[0]].events; let sum = 0;"
            "for (let i = 0; i < e.first[1]; i++) sum += e.busy[i]; return sum",
            number,
        )
        assert any(drawn == pytest.approx(device.idle_ns, rel=1e-4) for device in report.devices)


def test_it_zooms_pans_says_what_is_under_the_pointer_and_jumps(report: Report, page: Page) -> None:
    page.open(report)
    page.click("[data-do=all]")
    page.run("t.element.scrollIntoView()")
    whole = page.view
    plot = page.driver.find_element(By.CSS_SELECTOR, ".plot")

    page.ctrl_wheel(-200)
    page.ctrl_wheel(-200)
    zoomed = page.view
    assert whole[0] < zoomed[0] < zoomed[1] < whole[1]

    ActionChains(page.driver).drag_and_drop_by_offset(plot, -100, 0).perform()
    panned = page.view
    assert panned[0] > zoomed[0]
    assert panned[1] - panned[0] == pytest.approx(zoomed[1] - zoomed[0])

    row, at = page.run(
        "const e = t.events, row = t.data.rows.findIndex((r) => r.role === 'stream');"
        "const i = e.range(row, t.view()[0], t.view()[1])[0]; "
        "return [row, (Math.max(e.start[i], t.view()[0]) + Math.min(e.end[i], t.view()[1])) / 2]"
    )
    said = page.hover(row, at)
    shown = page.driver.find_element(By.CSS_SELECTOR, ".tip")
    assert said["row"] == page.run("return t.data.rows[arguments[0]].label", row)
    assert shown.is_displayed() and said["name"] in shown.text and said["duration"] in shown.text

    page.run("[...document.querySelectorAll('.show')].find((b) => !b.hidden).click()")
    jumped, span = page.view, page.run("return t.instance.span")
    assert jumped != panned
    assert jumped[0] <= span[0] < span[1] <= jumped[1]
    assert page.console() == [] and page.requests() == []


def test_the_wheel_scrolls_the_page_and_zooms_with_ctrl(pageable: Report, page: Page) -> None:
    page.open(pageable)
    page.click("[data-do=all]")
    page.run("t.element.scrollIntoView()")
    before, top = page.view, page.run("return scrollY")

    page.wheel(0, 200)
    assert page.view == before and page.run("return scrollY") > top
    page.wheel(0, -200)
    assert page.view == before and page.run("return scrollY") == top

    page.ctrl_wheel(-200)
    after = page.view
    assert after[1] - after[0] < before[1] - before[0]
    assert sum(after) == pytest.approx(sum(before), rel=0.02), "about the pointer, in the middle"
    page.wheel(200, 0)
    panned = page.view
    assert panned[0] > after[0] and panned[1] - panned[0] == pytest.approx(after[1] - after[0])
    page.ctrl_wheel(600)
    page.ctrl_wheel(600)
    assert page.view == before
    assert page.run("return scrollY") == top
    assert page.run("return visualViewport.scale") == 1


def test_dragging_pans_within_the_window(pageable: Report, page: Page) -> None:
    page.open(pageable)
    page.run("t.element.scrollIntoView()")
    page.click("[data-do=zoom-in]")
    before = page.view
    plot = page.driver.find_element(By.CSS_SELECTOR, ".plot")

    ActionChains(page.driver).drag_and_drop_by_offset(plot, -100, 0).perform()

    later = page.view
    assert later[0] > before[0]
    assert later[1] - later[0] == pytest.approx(before[1] - before[0])
    for _ in range(5):
        ActionChains(page.driver).drag_and_drop_by_offset(plot, 300, 0).perform()
    assert page.view[0] == 0


def test_keys_zoom_pan_go_home_and_walk_through_events(pageable: Report, page: Page) -> None:
    page.open(pageable)
    plot = page.driver.find_element(By.CSS_SELECTOR, ".plot")
    page.run("t.plot.focus()")
    whole = page.view

    plot.send_keys("+")
    plot.send_keys("+")
    zoomed = page.view
    assert zoomed[1] - zoomed[0] == pytest.approx((whole[1] - whole[0]) / 4)
    plot.send_keys(Keys.ARROW_RIGHT)
    assert page.view[0] > zoomed[0]
    plot.send_keys(Keys.ARROW_LEFT)
    assert page.view == pytest.approx(zoomed)
    plot.send_keys("-")
    assert page.view[1] - page.view[0] == pytest.approx((whole[1] - whole[0]) / 2)
    plot.send_keys(Keys.HOME)
    assert page.view == [0, page.run("return t.data.length")]

    plot.send_keys(Keys.ARROW_DOWN)
    plot.send_keys(Keys.ARROW_DOWN)
    first = page.run("return t.picked")
    plot.send_keys(".")
    assert page.run("return t.picked") == [first[0], first[1] + 1]
    assert page.driver.find_element(By.CSS_SELECTOR, ".tip").is_displayed()


def test_hovering_a_copy_says_name_duration_bytes_speed_and_cause(
    pageable: Report, page: Page, real_export: RealExport
) -> None:
    ((moved, took),) = query(
        real_export("pt_pageable"),
        "SELECT bytes, end - start FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1"
        f" AND end > {pageable.devices[0].window.start_ns} ORDER BY start LIMIT 1",
    )
    page.open(pageable)
    page.run("t.element.scrollIntoView()")
    row, at = page.run(
        "const e = t.events, row = t.data.rows.findIndex((r) => r.label === 's13');"
        "const i = e.first[row]; return [row, (e.start[i] + e.end[i]) / 2]"
    )

    said = page.hover(row, at)

    assert said["name"] == "h2d copy from pageable memory"
    assert said["bytes"] == "128.0 MiB"
    assert said["speed"] == bandwidth(int(str(moved)), int(str(took)))
    assert said["duration"] == duration(int(str(took)))
    assert said["cause"] == "pageable-copy"
    shown = page.driver.find_element(By.CSS_SELECTOR, ".tip").text
    assert all(said[key] in shown for key in ("name", "bytes", "speed", "duration", "cause"))


def test_a_cause_jumps_to_its_worst_instance_and_marks_the_chain(
    pageable: Report, page: Page
) -> None:
    page.open(pageable)
    before = page.view

    page.click(".show[data-cause=pageable-copy]")

    view, instance = page.view, page.run("return t.instance")
    assert view != before
    assert view[0] <= instance["span"][0] < instance["span"][1] <= view[1]
    starts, roles = ([mark[i] for mark in instance["marks"]] for i in (1, 3))
    assert starts == sorted(starts)
    # The gap begins with the call that held the thread: either may stand first.
    assert sorted(roles[:3]) == ["held", "idle", "waited for"]
    assert roles[3:] == ["launch", "kernel"]
    longest = page.run(
        "const e = t.events; let most = 0; for (let i = 0; i < e.first[1]; i++)"
        "if (t.data.causes[e.kind[i]][0] === 'pageable-copy') most = Math.max(most, e.busy[i]);"
        "return most"
    )
    assert instance["span"][1] - instance["span"][0] == pytest.approx(longest, rel=1e-6)
    said = page.driver.find_element(By.CSS_SELECTOR, ".chain").text
    assert "cudaMemcpyAsync in python3" in said and "worst 1 of 3" in said
    page.click(".show[data-cause=pageable-copy]")
    assert page.view != view


def test_a_collective_that_is_waited_for_is_in_the_chain(bucketed: Report, page: Page) -> None:
    page.open(bucketed)

    page.click(".show[data-cause=exposed-collective]")

    marks = page.run("return t.instance.marks")
    assert [mark[3] for mark in marks] == ["launch", "waited for", "idle", "kernel"]
    assert "nccl" in marks[1][4]


@pytest.mark.parametrize("part", [".part", ".chip"])
def test_parts_of_the_ledger_filter_the_causes(pageable: Report, page: Page, part: str) -> None:
    page.open(pageable)

    def shown() -> list[str]:
        found: list[str] = page.run(
            "return [...document.querySelectorAll('.finding')].filter((f) => !f.hidden)"
            ".map((f) => f.dataset.cause)"
        )
        return found

    every = shown()
    page.click(f"{part}[data-cause=device-copy]")
    assert shown() == ["device-copy"]
    assert page.run("return t.filter") == "device-copy"
    page.click(".every")
    assert shown() == every and len(every) > 1


def test_the_theme_switches_and_the_drawing_with_it(pageable: Report, page: Page) -> None:
    page.open(pageable)
    light = page.run("return [getComputedStyle(document.body).backgroundColor, t.css.text]")

    page.click("#theme")

    dark = page.run("return [getComputedStyle(document.body).backgroundColor, t.css.text]")
    assert light[0] != dark[0] and light[1] != dark[1]
    page.click("#theme")  # the choice is remembered: leave it as it was
    page.run("localStorage.clear()")


def test_everything_that_can_be_pressed_can_be_reached_by_key(bucketed: Report, page: Page) -> None:
    page.open(bucketed)

    assert page.run(
        "return [...document.querySelectorAll('button, canvas.plot, .scroll, summary')]"
        ".every((e) => e.tabIndex === 0)"
    )
    assert page.run(
        "return [...document.querySelectorAll('button, canvas.plot, .scroll')]"
        ".every((e) => (e.getAttribute('aria-label') || e.textContent).trim())"
    )


def test_it_prints_in_light_with_every_cause_unfolded(pageable: Report, page: Page) -> None:
    page.open(pageable, theme="dark")

    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})

    assert len(printed["data"]) > 10_000
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("return document.documentElement.dataset.theme") == "light"
    assert page.run("return document.querySelectorAll('.finding:not([open])').length") == 0


# --- names of the trace -----------------------------------------------------------------------


@pytest.fixture
def hostile(real_export: RealExport, tmp_path: Path) -> Report:
    """A trace whose kernels, threads, steps and program bear names that attack a page."""
    path = tmp_path / "<b>'hostile'.sqlite"
    shutil.copy(real_export("pt_pageable"), path)
    with closing(sqlite3.connect(path)) as db:
        kernels = db.execute("SELECT DISTINCT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchall()
        for number, (name,) in enumerate(kernels):
            text = HOSTILE[number % len(HOSTILE)] + str(number)
            db.execute("UPDATE StringIds SET value = ? WHERE id = ?", (text, name))
        db.execute(
            "UPDATE StringIds SET value = ? WHERE value = 'python3'", (HOSTILE[2] + HOSTILE[1],)
        )
        db.commit()
    edit(path, "UPDATE NVTX_EVENTS SET text = replace(text, 'step ', 'step </script><i> ')")
    return analyze(path)


def test_hostile_names_are_shown_and_inert(hostile: Report, page: Page) -> None:
    page.open(hostile)
    page.run("t.element.scrollIntoView()")

    for row in range(page.run("return t.rows.length")):
        at = page.run("return (t.events.start[t.events.first[arguments[0]]] || 0) + 1", row)
        page.hover(row, at)
    page.click(".show")

    assert page.run("return window.pwned") is None
    assert page.run("return document.querySelectorAll('img, i').length") == 0
    assert page.run("return document.scripts.length") == 2
    assert "<img src=x onerror" in page.driver.find_element(By.CSS_SELECTOR, ".labels").text
    assert page.console() == [] and page.requests() == []


class Tags(HTMLParser):
    """Tags that are open at the end, and those that a page of ours never has."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in {"meta", "link", "br", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def a_finding(text: str = "") -> Finding:
    return Finding(
        cause="pageable-copy",
        title=f"pageable copies {text}",
        device=DeviceKey(1, 0),
        blamed=Intervals.span(0, 40 * MB),
        share=0.16,
        per_step_ns=3.3 * MB,
        saves_at_most_ns=40 * MB,
        confidence=Confidence.SURE,
        evidence=(f"11 copies {text}", f"held {text}"),
        advice=f"pin {text}",
        caveat=f"unless {text}",
        source=(SourceLine(f"/src/{text}.py", 104, text or "prefetch"),),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_of_a_report_is_escaped(text: str) -> None:
    page = RENDERER.render(
        a_report(failing(), (a_device(name=text),), (a_finding(text),), program=text, report=text)
    )

    tags = Tags()
    tags.feed(page)
    assert tags.open == [] and "img" not in tags.seen
    assert page.count("<script") == 2


def test_a_page_allows_itself_no_request_and_no_script_but_its_own() -> None:
    page = RENDERER.render(a_report(passing()))

    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    allowed = unescape(policy[1])
    assert "default-src 'none'" in allowed and "script-src 'sha256-" in allowed
    assert not re.search(
        r"https?://|//[a-z]+\.[a-z]", re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    )


# --- without a timeline -----------------------------------------------------------------------


def test_a_result_without_events_shows_the_coarse_picture(page: Page) -> None:
    page.open(a_report(failing(), findings=(a_finding(),)))

    assert page.run("return overlapcheck.ready")
    assert page.run("return overlapcheck.timelines.length") == 0
    drawn = page.run("return document.querySelectorAll('.picture svg rect').length")
    assert drawn > 40
    assert page.run("return document.querySelector('.show').hidden")
    assert page.console() == [] and page.requests() == []


def test_a_saved_result_looks_the_same_but_for_the_timeline(pageable: Report, page: Page) -> None:
    (device,) = pageable.devices
    page.open(replace(pageable, devices=(replace(device, timeline=None),)))

    assert page.run("return document.querySelectorAll('.picture svg').length") == len(
        device.picture.rows
    )
    page.click(".chip[data-cause=device-copy]")
    assert page.console() == []


@pytest.mark.parametrize(
    ("checks", "outcome"),
    [(passing(), Outcome.PASS), (failing(), Outcome.FAIL), (inconclusive(), Outcome.INCONCLUSIVE)],
)
def test_the_answer_comes_first_and_says_what_to_do(checks: Any, outcome: Outcome) -> None:
    page = RENDERER.render(a_report(checks))

    assert page.index(f">{outcome.value}<") < page.index(checks[0].reason)
    for check in checks:
        assert check.name in page and (check.settle_with in page)


def test_nothing_recorded_is_a_page_too() -> None:
    page = RENDERER.render(a_report((), ()))

    assert "INCONCLUSIVE" in page and page.endswith("</html>\n")
