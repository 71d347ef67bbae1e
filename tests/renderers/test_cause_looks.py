"""A cause has one look: everywhere the same, and unlike that of any other."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import pytest

from overlapcheck.causes import causes
from overlapcheck.device_report import LedgerEntry
from overlapcheck.ledger import Reason
from overlapcheck.renderers import renderers
from overlapcheck.renderers._cause_looks import LOOKS, OTHER, Hue, look_of, number_of
from overlapcheck.renderers.comparison import comparison_renderers
from overlapcheck.renderers.terminal import TerminalRenderer
from tests.renderers.browser import Page
from tests.renderers.comparison.comparisons import COMPARISONS
from tests.renderers.test_terminal import a_device, a_finding, a_report, failing

GROUND = {"light": "#ffffff", "dark": "#14171a"}
LEAST_CONTRAST = 3.0
"""WCAG 2 for what is no text."""
LEAST_APART = 0.07
"""In OKLab, where 0.02 is just seen."""


def linear(color: str) -> list[float]:
    shares = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]


def contrast(one: str, other: str) -> float:
    def luminance(color: str) -> float:
        r, g, b = linear(color)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def oklab(color: str) -> tuple[float, float, float]:
    r, g, b = linear(color)
    long = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    middle = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    short = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def test_every_cause_has_a_look_and_none_has_that_of_another() -> None:
    assert set(LOOKS) == set(causes()) | {reason.cause for reason in Reason}
    assert len({*LOOKS.values(), OTHER}) == len(LOOKS) + 1
    assert look_of("a cause of next year") == OTHER
    assert number_of("a cause of next year") == len(LOOKS)


@pytest.mark.parametrize("theme", GROUND)
def test_hues_stand_out_from_the_ground_and_from_each_other(theme: str) -> None:
    colors = [getattr(hue, theme) for hue in Hue]

    for color in colors:
        assert contrast(color, GROUND[theme]) >= LEAST_CONTRAST, color
    for one, other in combinations(colors, 2):
        apart = sum((a - b) ** 2 for a, b in zip(oklab(one), oklab(other), strict=True)) ** 0.5
        assert apart >= LEAST_APART, (one, other)
    assert len({hue.terminal for hue in Hue}) == len(Hue)


def test_bar_list_and_comparison_show_a_cause_alike() -> None:
    names = ("copy-bound", "pageable-copy", "host-sync")
    ledger = tuple(LedgerEntry(name, 1_000_000 * n) for n, name in enumerate(names, 1))
    found = tuple(a_finding(name) for name in names)
    page = renderers()["html"].render(
        a_report(failing(), (replace(a_device(), ledger=ledger),), found)
    )

    for name in names:
        number = number_of(name)
        assert f'class="part sw c{number}" style="flex-grow:' in page
        shown = r'class="sw c(\d+)"></span><span class="(?:chip-name|cause)">' + name
        assert re.findall(shown, page) == [str(number)] * 2
    compared = comparison_renderers()["html"].render(COMPARISONS["worse"])
    look = number_of("pageable-copy")
    assert re.findall(r'class="sw c(\d+)"></span> <b>pageable-copy', compared) == [str(look)]


def test_the_page_paints_the_colours_of_both_themes(page: Page) -> None:
    report = a_report(failing(), (a_device(),), (a_finding("pageable-copy"),))
    for theme in GROUND:
        page.open(report, theme=theme)
        painted = page.run(
            "return getComputedStyle(document.querySelector('.finding .sw')).backgroundColor"
        )
        color = getattr(look_of("pageable-copy").hue, theme)
        assert painted == "rgb({}, {}, {})".format(*(int(color[i : i + 2], 16) for i in (1, 3, 5)))


def test_the_terminal_has_them_too() -> None:
    ledger = (LedgerEntry("copy-bound", 3_000_000), LedgerEntry("host-sync", 1_000_000))
    device = replace(a_device(), ledger=ledger)
    text = TerminalRenderer(color=True).render(
        a_report(failing(), (device,), (a_finding("copy-bound"),))
    )

    assert re.search(r"\x1b\[36m█+\x1b\[0m\x1b\[32m▓+", text), "cyan, then green"
    assert "\x1b[1;36m1 copy-bound" in text
