"""The terminal formats on narrow and wide pages, whole and in a line, in signs of ASCII."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from overlapcheck.renderers._terminal_text import table
from overlapcheck.renderers.formats.page import Detail, Page, columns, laid_out_for
from overlapcheck.renderers.terminal import TerminalRenderer
from overlapcheck.report import Report
from tests.renderers.reports import EVERY, REPORTS, big_report

WIDTHS = (60, 61, 72, 120)
NUMBERED = list(enumerate(EVERY))


def rendered(report: Report, page: Page, *, plain_signs: bool = False) -> str:
    return TerminalRenderer(page=page, plain_signs=plain_signs).render(report)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("number", range(len(EVERY)))
@pytest.mark.parametrize("detail", [Detail.USUAL, Detail.ALL])
def test_no_line_is_longer_than_the_page(number: int, width: int, detail: Detail) -> None:
    text = rendered(EVERY[number], Page(width, detail))

    assert max(map(cell_len, text.splitlines())) <= width


def test_a_page_of_no_width_of_its_own_is_the_usual_one() -> None:
    for report in REPORTS.values():
        assert rendered(report, Page()) == TerminalRenderer().render(report)
    assert columns() == 80
    with laid_out_for(Page(60)):
        assert columns() == 60
    assert columns() == 80


def test_a_wide_page_is_used() -> None:
    text = rendered(REPORTS["hostile"], Page(120))

    assert 100 < max(map(cell_len, text.splitlines())) <= 120


def test_a_narrow_page_has_every_number_of_a_wide_one() -> None:
    report = REPORTS["with_findings"]
    wide, narrow = (" ".join(rendered(report, Page(w)).split()) for w in (80, 60))
    copies = report.devices[0].copies

    assert copies
    for heading in ("GB/s", "pageable", "ceiling", "hidden"):
        assert heading in wide and heading in narrow


def test_columns_without_room_come_below_with_the_first_one_again() -> None:
    rows = [["name", "first", "second"], ["a", "x" * 30, "y" * 30], ["b", "z" * 30, "w" * 30]]
    with laid_out_for(Page(60)):
        lines = [line.plain.rstrip() for line in table(rows, "lll")]

    assert [line.split() for line in lines] == [
        ["name", "first"],
        ["a", "x" * 30],
        ["b", "z" * 30],
        ["name", "second"],
        ["a", "y" * 30],
        ["b", "w" * 30],
    ]


def test_all_is_told_of_what_passes_too() -> None:
    for name, report in REPORTS.items():
        text = " ".join(rendered(report, Page(detail=Detail.ALL)).split())
        for found in report.findings:
            assert " ".join(found.advice.split())[:20] in text, name
        for device in report.devices:
            assert ("per step" in text) >= (device.steps is not None)
            assert ("costliest blocking calls" in text) == bool(device.blocking)


def test_all_rows_of_the_tables_and_all_devices_are_told() -> None:
    report = big_report(devices=10, causes=7)
    usual, everything = (rendered(report, Page(detail=d)) for d in (Detail.USUAL, Detail.ALL))

    assert everything.count("cause-6") >= 10
    assert everything.count("── ") >= 10 > usual.count("── ")


@pytest.mark.parametrize("name", REPORTS)
def test_a_line_is_the_whole_outcome(name: str) -> None:
    report = REPORTS[name]
    text = rendered(report, Page(detail=Detail.LINE))

    assert text.count("\n") == 1
    assert text.startswith(f"{report.verdict.outcome}  ")
    first = TerminalRenderer().render(report).splitlines()[0]
    # Where room is short, names give way to the cause.
    begin, _, end = first.partition("…")
    assert text.startswith(begin)
    assert text.rstrip().endswith(end)


def test_plain_signs_are_ascii_and_stay_in_their_columns() -> None:
    for name, report in REPORTS.items():
        drawn = rendered(report, Page()).splitlines()
        plain = rendered(report, Page(), plain_signs=True).splitlines()

        assert list(map(len, plain)) == list(map(len, drawn)), name
        if name != "hostile":
            assert "\n".join(plain).isascii(), name
