"""What every format makes of every comparison, as a file to look at."""

from __future__ import annotations

import pytest

from overlapcheck.renderers import renderers
from overlapcheck.renderers.comparison import comparison_renderer_for_file, comparison_renderers
from tests.renderers.comparison.comparisons import COMPARISONS
from tests.renderers.reports import golden

TEXTS = sorted(set(comparison_renderers()) - {"html"})
"""A page is looked at in a browser: its text is mostly style."""


def test_a_comparison_has_the_formats_of_a_report() -> None:
    assert {n: r.suffix for n, r in comparison_renderers().items()} == {
        n: r.suffix for n, r in renderers().items()
    }


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_golden(form: str, name: str) -> None:
    renderer = comparison_renderers()[form]
    text = renderer.render(COMPARISONS[name])

    assert text == golden(f"comparison/{form}", f"{name}{renderer.suffix}", text)


@pytest.mark.parametrize("name", COMPARISONS)
def test_golden_page(name: str) -> None:
    """The body alone: style and script have files of their own."""
    text = comparison_renderers()["html"].render(COMPARISONS[name])
    body = text[text.index("<body>") : text.index("<script")].replace("><", ">\n<") + "\n"

    assert body == golden("comparison/html", f"{name}.body.html", body)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("c.json", "json"),
        ("c.html", "html"),
        ("c.MD", "markdown"),
        ("c.junit.xml", "junit"),
        ("c.xml", "junit"),
        ("c.sarif", "sarif"),
        ("c.perfetto.json", "perfetto"),
        ("c.github.txt", "github"),
        ("c.txt", "terminal"),
    ],
)
def test_the_suffix_chooses_the_format(file: str, name: str) -> None:
    assert comparison_renderer_for_file(file).name == name
