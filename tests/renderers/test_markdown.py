"""The comment on a pull request: short, complete, and no name can format or mention anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from overlapcheck.renderers import renderer_for_file, renderers
from overlapcheck.renderers._markdown_text import MARKER
from overlapcheck.report import Report
from tests.renderers.reports import EVERY, MARKUP, REPORTS, big_report, golden
from tests.renderers.test_terminal import a_check, a_report, hostile_report

OURS = ("<!-- overlapcheck -->", "<details>", "</details>", "<sub>", "</sub>")


def render(report: Report) -> str:
    return renderers()["markdown"].render(report)


def tokens(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def inline_tokens(text: str) -> Iterator[Token]:
    for token in tokens(text):
        yield from token.children or ()


def cells(text: str) -> list[str]:
    """Texts of all table cells, as a reader sees them."""
    found = tokens(text.replace("\u2060", ""))
    return [
        "".join(child.content for child in found[n + 1].children or ())
        for n, token in enumerate(found)
        if token.type in ("td_open", "th_open")
    ]


@pytest.mark.parametrize("name", REPORTS)
def test_golden(name: str) -> None:
    text = render(REPORTS[name])

    assert text == golden("markdown", f"{name}.md", text)


@pytest.mark.parametrize("report", [*EVERY, big_report()])
def test_it_fits_into_a_comment_and_begins_with_its_marker(report: Report) -> None:
    text = render(report)

    assert len(text) <= 65_000
    assert text.startswith(f"{MARKER}\n### ")
    assert report.verdict.outcome.value in text.splitlines()[1]
    assert text.endswith("</sub>\n")
    assert text.count("<details>") == text.count("</details>")


@pytest.mark.parametrize("report", EVERY)
def test_no_name_becomes_markup(report: Report) -> None:
    text = render(report)
    kinds = {token.type for token in inline_tokens(text)}
    html = [t.content for t in tokens(text) if t.type == "html_block"]
    html += [t.content for t in inline_tokens(text) if t.type == "html_inline"]

    assert kinds <= {"text", "text_special", "strong_open", "strong_close", "html_inline"}
    assert all(part.startswith(OURS) for part in html), html


def test_a_table_shows_names_as_they_are() -> None:
    shown = cells(render(hostile_report(MARKUP)))

    assert " ".join(MARKUP.split()) in shown


@pytest.mark.parametrize("word", ["@jane", " #12", ":smile:", "$k$", "https://l"])
def test_nothing_is_mentioned_or_linked(word: str) -> None:
    assert word not in render(hostile_report(MARKUP))


def test_ordinary_words_stay_readable() -> None:
    text = render(REPORTS["with_findings"])

    assert "DataLoader(pin_memory=True) or tensor.pin_memory()" in text
    assert "≥ 80.0 %" in text


def test_a_limit_that_somebody_set_says_where() -> None:
    check = replace(a_check(), limit_from="pyproject.toml")

    assert "≤ 10.0 % (pyproject.toml)" in render(a_report((check,)))


def test_what_fails_is_told_and_what_passes_is_folded() -> None:
    failing, passing = render(REPORTS["with_findings"]), render(REPORTS["pass"])

    assert failing.index("**1. pageable-copy**") < failing.index("<details>")
    assert len(passing.split("<details>")[0].splitlines()) <= 12


def test_inconclusive_says_what_to_do() -> None:
    assert "- **to do** record with --cuda-graph-trace=node" in render(REPORTS["inconclusive"])


def test_its_suffix() -> None:
    assert renderer_for_file("comment.md").name == "markdown"
