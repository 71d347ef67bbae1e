"""The page of a comparison in a real browser: it draws, fetches nothing, names are inert."""

from __future__ import annotations

import pytest

from overlapcheck.comparison import Comparison
from overlapcheck.renderers.comparison import comparison_renderers
from tests.renderers.browser import Page
from tests.renderers.comparison.comparisons import COMPARISONS, EVERY, hostile_comparison
from tests.renderers.test_html import HOSTILE, Tags


def render(comparison: Comparison) -> str:
    return comparison_renderers()["html"].render(comparison)


@pytest.mark.parametrize("width", [1280, 480])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_it_fits_fetches_nothing_and_the_console_stays_empty(
    name: str, page: Page, width: int, theme: str
) -> None:
    page.open_text(render(COMPARISONS[name]), width, theme)

    assert page.run("return overlapcheck.ready")
    assert page.run("return document.documentElement.dataset.theme") == theme
    # Nothing but the boxes made to scroll is wider than the page.
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.console() == []
    assert page.requests() == []


def test_steps_are_drawn_to_one_scale_and_causes_to_another(page: Page) -> None:
    page.open_text(render(COMPARISONS["worse"]))

    base, new = page.run(
        "return [...document.querySelectorAll('.slabs')].map((e) => e.clientWidth)"
    )
    assert base / new == pytest.approx(8 / 10, rel=0.01)
    pairs = page.run(
        "return [...document.querySelectorAll('.pair')].map((e) =>"
        "[...e.children].map((c) => c.getBoundingClientRect().width))"
    )
    (none, longest), (was, now) = pairs
    assert (none, was) == (0, now)
    assert now / longest == pytest.approx(0.1 / 3, rel=0.1)


def test_what_changed_and_what_to_do_are_said(page: Page) -> None:
    page.open_text(render(COMPARISONS["worse"]))
    said = page.run("return document.body.innerText")

    for text in (
        "WORSE",
        "FAIL --fail-if-worse 5, exit code 1",
        "step time is 25.0 % longer: 8.0 ms -> 10.0 ms",
        "pageable-copy",
        "do this",
        "/repo/train.py:104 prefetch",
    ):
        assert text in said
    assert page.run("return document.querySelectorAll('.finding[open]').length") == 1


def test_what_can_be_pressed_or_scrolled_can_be_reached_by_key_and_has_a_name(page: Page) -> None:
    page.open_text(render(COMPARISONS["two_devices"]))

    assert page.run(
        "return [...document.querySelectorAll('button, .scroll, summary')]"
        ".every((e) => e.tabIndex === 0 && (e.getAttribute('aria-label') || e.textContent).trim())"
    )
    assert page.run("return [...document.querySelectorAll('[role=img]')].every((e) => e.ariaLabel)")


def test_it_prints_in_light_with_everything_unfolded(page: Page) -> None:
    page.open_text(render(COMPARISONS["better"]), theme="dark")

    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    page.run("dispatchEvent(new Event('beforeprint'))")

    assert len(printed["data"]) > 10_000
    assert page.run("return document.documentElement.dataset.theme") == "light"
    assert page.run("return document.querySelectorAll('details:not([open])').length") == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_is_escaped(text: str, page: Page) -> None:
    written = render(hostile_comparison(text))
    tags = Tags()
    tags.feed(written)
    page.open_text(written)

    assert tags.open == [] and "img" not in tags.seen
    assert page.run("return window.pwned") is None
    assert page.console() == [] and page.requests() == []


@pytest.mark.parametrize("comparison", EVERY)
def test_it_stays_small(comparison: Comparison) -> None:
    """Style and script are 20 kB; a device adds tables and bars, never events."""
    assert len(render(comparison).encode()) < 100_000
