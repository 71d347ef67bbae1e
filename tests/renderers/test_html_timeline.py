"""The timeline of the page in a real browser: names, axis, flags, search, selection, address."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from overlapcheck.intervals import Intervals
from overlapcheck.pipeline import analyze
from overlapcheck.report import Report
from overlapcheck.reporting import timeline as timelines
from overlapcheck.timeline import EventKind, Timeline, TimelineEvents
from tests.export import RealExport
from tests.renderers.browser import Page

MOVED = (EventKind.H2D, EventKind.D2H, EventKind.P2P, EventKind.D2D, EventKind.MIGRATION)
VIEWS = (
    "const views = []; const all = t.data.length;"
    "for (let span = all; span > 100; span /= 3.7) for (const at of [0, 0.13, 0.4, 0.77, 1])"
    " views.push([at * (all - span), at * (all - span) + span]);"
)
"""Places at every zoom."""


@cache
def analyzed(path: Path) -> Report:
    return replace(analyze(path), measurements=None)


@pytest.fixture
def pageable(real_export: RealExport) -> Report:
    return analyzed(real_export("pt_pageable"))


@pytest.fixture
def bucketed(real_export: RealExport) -> Report:
    return analyzed(real_export("ddp_bucketed"))


def drawn(report: Report, page: Page) -> Timeline:
    """The first timeline of the page, which has the worst device first."""
    origin = page.run("return t.data.origin")
    found = (device.timeline for device in report.devices if device.timeline)
    return next(timeline for timeline in found if timeline.start_ns == origin)


# --- names and axis ---------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (480, "dark")])
def test_some_step_is_named_and_the_axis_is_read_wherever_one_looks(
    bucketed: Report, page: Page, width: int, theme: str
) -> None:
    page.open(bucketed, width, theme)

    seen = page.run(
        VIEWS + "return views.map(([from, to]) => { t.show(from, to); t.draw();"
        " return [t.view(), t.told.steps, t.told.ticks, t.axisTitle.textContent]; })"
    )

    assert len(seen) > 40
    timeline = drawn(bucketed, page)
    numbers = set(map(str, timeline.steps.number.tolist()))
    units = set()
    for (start, end), steps, ticks, title in seen:
        assert steps and all(text.split()[-1] in numbers for text in steps), (start, end)
        at = [place for place, _ in ticks["at"]]
        assert 2 <= len(at) <= 20 and start <= at[0] and at[-1] <= end
        step = at[1] - at[0]
        assert round(step / 10 ** np.floor(np.log10(step) + 1e-9)) in (1, 2, 5)
        size = {"us": 1e3, "ms": 1e6, "s": 1e9}[ticks["unit"]]
        told = [ticks["base"] + float(text) * size for _, text in ticks["at"]]
        assert told == pytest.approx(at, abs=step / 2)
        assert all(len(text) <= 8 for _, text in ticks["at"])
        assert title.startswith(f"{ticks['unit']} ") and ("start" in title) >= (not ticks["base"])
        units.add(ticks["unit"])
    assert units == {"us", "ms"}
    assert page.console() == []


def test_far_from_the_start_the_axis_counts_from_a_round_time(page: Page, pageable: Report) -> None:
    page.open(pageable)

    page.run("t.show(123456789, 123466789); t.draw()")

    title, ticks = page.run("return [t.axisTitle.textContent, t.told.ticks]")
    assert title == "us from window start + 123 ms"
    assert ticks["at"][0] == [123457000, "457"]


def test_operations_say_what_fits(pageable: Report, page: Page) -> None:
    page.open(pageable)
    shown: set[str] = set()
    for way in ("t.act('all')", "t.act('typical')", "t.jump('pageable-copy')", "t.zoom(0.2)"):
        page.run(way)
        page.settle()
        shown |= set(page.run("return t.told.labels"))

    copies = [text for text in shown if "128 MiB" in text]
    assert "128 MiB" in copies
    assert any(text.startswith("128 MiB ") and text.endswith(" GB/s") for text in copies)
    assert any("h2d copy from pageable memory 128 MiB" in text for text in copies)
    assert any(text.startswith("cudaMemcpyAsync ") and text.endswith(" ms") for text in shown)
    assert any(text.startswith("pageable-copy ") for text in shown)


def test_names_are_shortened_before_they_are_cut(pageable: Report, page: Page) -> None:
    page.open(pageable)
    short = "return arguments[0].map(shortName)"
    assert page.run(
        short,
        [
            "void at::native::(anonymous namespace)::copy<float, at::Op<2>>(int, float*)",
            "ampere_sgemm_128x64_nn",
            "<script>",
        ],
    ) == ["copy", "ampere_sgemm_128x64_nn", "<script>"]

    names = ["ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nt"]
    cut = page.run(
        "const c = t.plot.getContext('2d'); c.font = '11px ' + t.css.sans;"
        "return [20, 60, 90, 150].flatMap((room) => [false, true].map((end) => {"
        " const text = fitted(c, arguments[0], room, end);"
        " return [room, text, c.measureText(text).width]; }))",
        names,
    )
    for room, text, wide in cut:
        assert wide <= room
        head, _, tail = text.partition("…")
        assert text == "" or (names[0].startswith(head) and names[0].endswith(tail))
    assert [text for _, text, _ in cut][:2] == ["", ""]
    assert cut[-2][1].endswith("_nt") and cut[-1][1].endswith("…")


# --- what is drawn ----------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_compute_hid_of_a_copy_lies_low(pageable: Report, page: Page, theme: str) -> None:
    page.open(pageable, theme=theme)
    page.click("[data-do=all]")

    ink = page.run(
        """
        const e = t.events, row = t.data.rows.findIndex((r) => r.label === 's13');
        const [y, h] = t.rows[row], c = t.plot.getContext('2d'), found = [];
        const ink = (x, y) => [...c.getImageData(x, y, 1, 1).data].join();
        for (let i = e.first[row]; i < e.first[row + 1]; i++) {
          for (const share of [0.3, 0.98]) {
            const ns = e.start[i] + share * (e.end[i] - e.start[i]), x = Math.floor(t.x(ns));
            const idle = idleShares(e, ...t.view(), t.width)[x];
            if (idle > 0.01 && idle < 0.99) continue;
            const empty = ink(x, y + 1); // above the box, where bands of steps are alone
            found.push([idle > 0.5, ink(x, y + 4) !== empty, ink(x, y + h - 8) !== empty]);
          }
        }
        return found;
        """
    )

    kinds = {tuple(one) for one in ink}
    assert kinds == {(True, True, True), (False, False, True)}


def test_flags_out_of_view_are_arrows_that_lead_there(pageable: Report, page: Page) -> None:
    page.open(pageable)
    page.run("t.jump('pageable-copy')")
    page.settle()
    page.run("t.show(t.data.length * 0.5, t.data.length * 0.501)")
    page.settle()
    arrows = page.driver.find_elements(By.CSS_SELECTOR, ".flag.out")
    sides = {side for arrow in arrows for side in ("left", "right") if side in _classes(arrow)}
    assert sides == {"left", "right"}
    assert len(page.driver.find_elements(By.CSS_SELECTOR, ".flag.mark.out")) == len(
        page.run("return t.instance.marks")
    )

    for side in ("left", "right"):
        page.run("t.show(t.data.length * 0.5, t.data.length * 0.501)")
        page.settle()
        arrow = page.driver.find_element(By.CSS_SELECTOR, f".flag.out.{side}:not(.mark)")
        said = arrow.get_attribute("aria-label") or ""
        page.run("t.element.scrollIntoView()")
        arrow.click()
        one = page.run("return t.instance")
        assert one["cause"] in said and {"left": "earlier", "right": "later"}[side] in said
        assert page.view[0] <= one["span"][0] < one["span"][1] <= page.view[1]

    page.run("t.show(t.data.length * 0.5, t.data.length * 0.501)")
    page.settle()
    page.click(".flag.mark.out")
    start, end = page.run("return t.instance.marks[0].slice(1, 3)")
    assert page.view[0] <= (start + end) / 2 <= page.view[1]
    assert page.console() == []


def _classes(element: Any) -> list[str]:
    return str(element.get_attribute("class")).split()


def test_ranges_of_the_user_have_rows(bucketed: Report, page: Page) -> None:
    page.open(bucketed, width=480)

    rows = page.run("return t.data.rows.filter((row) => row.role === 'ranges')")
    assert [row["note"].split(",")[0] for row in rows][:2] == ["ranges 1", "ranges 2"]
    row, at = page.run(
        "const row = t.data.rows.findIndex((r) => r.role === 'ranges'), e = t.events;"
        "const i = e.range(row, ...t.view())[0] + 1; return [row, (e.start[i] + e.end[i]) / 2]"
    )
    page.run("t.element.scrollIntoView()")
    assert page.hover(row, at)["name"].startswith("step ")


# --- search -----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 480])
def test_search_counts_marks_and_steps_through_matches(
    bucketed: Report, page: Page, width: int
) -> None:
    page.open(bucketed, width)
    page.run("t.element.scrollIntoView()")
    box = page.driver.find_element(By.CSS_SELECTOR, ".search input")
    told = page.driver.find_element(By.CSS_SELECTOR, ".search output")
    timeline = drawn(bucketed, page)
    events = timeline.events.rows(timeline.events.row > 0)
    of = {n for n, name in enumerate(timeline.names) if "allreduce" in name.lower()}
    count = int(np.isin(events.name, list(of)).sum())
    assert count > 3

    page.driver.find_element(By.CSS_SELECTOR, "canvas.plot").send_keys("/")
    assert page.run("return document.activeElement === arguments[0]", box)
    box.send_keys("ALLREDUCE")
    assert told.text == str(count)
    seen = []
    for keys in (Keys.ENTER, Keys.ENTER, Keys.SHIFT + Keys.ENTER):
        box.send_keys(keys)
        page.settle()
        at, name, start = page.run(
            "const i = t.picked[1], e = t.events;"
            "return [t.matches.current, t.data.names[e.name[i]], e.start[i]]"
        )
        assert "allreduce" in name.lower() and told.text == f"{at + 1} of {count}"
        assert page.view[0] <= start <= page.view[1]
        seen.append(at)
    assert seen == [0, 1, 0]
    page.click(".search [data-way='-1']")
    assert told.text == f"{count} of {count}"
    page.run("arguments[0].focus()", box)
    box.send_keys(Keys.ESCAPE)
    assert told.text == "" and page.run("return t.matches") is None
    box.send_keys("no such kernel", Keys.ENTER)
    assert told.text == "none"
    assert page.console() == []


def test_a_match_too_narrow_to_see_is_zoomed_to(pageable: Report, page: Page) -> None:
    page.open(pageable)
    page.run("document.querySelector('.search input').value = 'memset'")
    page.run("document.querySelector('.search input').dispatchEvent(new Event('input'))")

    page.click(".search [data-way='1']")

    wide = page.run("const i = t.picked[1]; return t.x(t.events.end[i]) - t.x(t.events.start[i])")
    assert wide >= 2.5


# --- selection --------------------------------------------------------------------------------


def shift_drag(page: Page, start: float, end: float) -> None:
    plot = page.driver.find_element(By.CSS_SELECTOR, ".plot")
    middle = page.run("return t.width / 2")
    a, b = (int(page.run("return t.x(arguments[0])", ns) - middle) for ns in (start, end))
    (
        ActionChains(page.driver)
        .key_down(Keys.SHIFT)
        .move_to_element_with_offset(plot, a, 0)
        .click_and_hold()
        .move_to_element_with_offset(plot, b, 0)
        .release()
        .key_up(Keys.SHIFT)
        .perform()
    )
    page.settle()


def expected(timeline: Timeline, start: float, end: float) -> dict[str, float]:
    """What lies in a span, from the report's own columns."""
    first, last = (timeline.start_ns + round(ns) for ns in (start, end))
    span = Intervals.span(first, last)
    events = timeline.events
    idle = _union(events, events.row == 0) & span
    copies = _union(events, np.isin(events.kind, MOVED)) & span
    comm = _union(events, events.kind == EventKind.COMMUNICATION) & span
    return {
        "length": end - start,
        "idle": idle.total_ns,
        "compute": span.total_ns - idle.total_ns,
        "copy": copies.total_ns,
        "copyExposed": (copies & idle).total_ns,
        "comm": comm.total_ns,
        "commExposed": (comm & idle).total_ns,
    }


def _union(events: TimelineEvents, mask: Any) -> Intervals:
    return Intervals.of(events.start_ns[mask], events.end_ns[mask])


@pytest.mark.parametrize(
    ("name", "width"), [("pageable", 1280), ("bucketed", 480), ("bucketed", 1280)]
)
def test_a_selection_measures_what_it_holds(
    name: str, width: int, page: Page, request: pytest.FixtureRequest
) -> None:
    report: Report = request.getfixturevalue(name)
    page.open(report, width)
    page.click("[data-do=all]")
    page.run("t.element.scrollIntoView()")
    view, length = page.view, page.run("return t.data.length")

    shift_drag(page, 0.31 * length, 0.68 * length)

    start, end = page.run("return t.selection")
    assert (start, end) == pytest.approx((0.31 * length, 0.68 * length), abs=length / 200)
    assert page.view == view, "a selection moves nothing"
    measured = page.run("return t.measured")
    timeline = drawn(report, page)
    for what, ns in expected(timeline, start, end).items():
        assert measured[what] == pytest.approx(ns, rel=1e-4, abs=5), what
    assert measured["blocks"] == 0
    said = page.driver.find_element(By.CSS_SELECTOR, ".measured").text
    assert all(word in said for word in ("selected", "compute busy", "no compute", "copies"))
    assert "approximate" not in said

    page.driver.find_element(By.CSS_SELECTOR, "canvas.plot").send_keys(Keys.ESCAPE)
    assert page.run("return t.selection") is None
    page.driver.find_element(By.CSS_SELECTOR, "canvas.plot").send_keys("s")
    assert page.run("return t.selection") == view
    assert page.console() == []


def test_a_selection_over_blocks_says_that_it_is_approximate(
    real_export: RealExport, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = analyze(real_export("pt_pageable"))
    monkeypatch.setattr(timelines, "MAX_EVENTS", 300)
    report = analyze(real_export("pt_pageable"))
    page.open(report)
    assert drawn(report, page).resolution_ns > 0
    length = page.run("return t.data.length")

    page.run("t.select(arguments[0], arguments[1])", 0, length)
    measured = page.run("return t.measured")
    exact = expected(drawn(whole, page), 0, length)
    assert measured["blocks"] > 0
    assert "approximate" in page.driver.find_element(By.CSS_SELECTOR, ".measured").text
    assert measured["idle"] == pytest.approx(exact["idle"], rel=1e-4), "blocks keep how much"
    assert measured["copy"] == pytest.approx(exact["copy"], rel=0.05)


# --- the address ------------------------------------------------------------------------------


def test_the_address_holds_what_is_shown_and_history_its_leaps(
    pageable: Report, page: Page
) -> None:
    page.open(pageable)
    home, entries = page.view, page.run("return history.length")
    assert page.run("return location.hash") == ""
    for _ in range(5):
        page.click("[data-do=zoom-in]")
        page.click("[data-do=right]")
    moved = page.view
    page.run("t.select(1000000, 2000000); t.tellView(false)")
    box = page.driver.find_element(By.CSS_SELECTOR, ".search input")
    box.send_keys("gemm & 100%")
    _until(page, "return location.hash.includes('find')")
    assert page.run("return history.length") == entries, "moving about makes no entries"

    page.driver.refresh()
    page.settle()
    assert page.view == pytest.approx(moved, abs=2)
    assert page.run("return t.selection") == [1000000, 2000000]
    assert page.run("return t.matches.text") == "gemm & 100%"

    page.click(".show[data-cause=pageable-copy]")
    jumped = page.view
    assert page.run("return history.length") == entries + 1
    page.driver.back()
    _until(page, "return Math.abs(t.view()[0] - arguments[0]) < 2", moved[0])
    page.driver.forward()
    _until(page, "return Math.abs(t.view()[0] - arguments[0]) < 2", jumped[0])
    page.driver.get(page.path.as_uri())
    page.settle()
    assert page.view == home
    assert page.console() == []


@pytest.mark.parametrize(
    "bad", ["#view-0=9-3&select-0=x", "#view-0=1-99999999999999999999", "#device-0", "#%"]
)
def test_an_address_that_says_nothing_is_ignored(bad: str, pageable: Report, page: Page) -> None:
    page.open(pageable)
    home = page.view

    page.driver.get("about:blank")
    page.driver.get(page.path.as_uri() + bad)

    assert page.view == home and page.run("return t.selection") is None
    assert page.console() == []


def _until(page: Page, condition: str, *given: object) -> None:
    page.driver.set_script_timeout(10)
    page.driver.execute_async_script(
        "const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);"
        "const t = overlapcheck.timelines[0], met = function () {" + condition + "};"
        "const look = () => (met.apply(null, given) ? done(true) : setTimeout(look, 20)); look();",
        *given,
    )


# --- several on a page ------------------------------------------------------------------------


def test_timelines_can_share_an_axis(bucketed: Report, page: Page) -> None:
    page.open(bucketed)

    seen = page.run(
        """
        const other = overlapcheck.timelines[1], calls = [];
        const box = document.createElement('div');
        t.element.parentElement.append(box);
        const options = { bare: true, length: t.data.length * 2, origin: 'rank 0' };
        const third = Timeline(box, t.data, options);
        const count = (css) => box.querySelectorAll(css).length;
        third.onview((from, to, leapt) => calls.push([from, to, leapt]));
        third.onview((from, to) => other.show(from, to));
        const whole = third.view();
        third.show(1000, 2001000);
        third.show(1000, 2001000);
        third.draw();
        return [whole, calls, other.view(), t.view(), third.axisTitle.textContent,
          count('.toolbar, .overview'), count('canvas.plot')];
        """
    )

    length = page.run("return t.data.length")
    whole, calls, followed, own, title, bars, plots = seen
    assert whole == [0, 2 * length]
    assert calls == [[1000, 2001000, False]], "told once, and not where nothing changed"
    assert followed == [1000, 2001000] and own == [0, length]
    assert title.endswith("from rank 0") and (bars, plots) == (0, 1)
    assert page.console() == []
