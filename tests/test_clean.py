"""A text that was cleaned steers neither a terminal nor a runner, and stays as it is."""

from __future__ import annotations

import pytest

from overlapcheck.clean import MOST, clean, inert, spreadsheet_cell

HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m",
    "clipboard": "\x1b]52;c;aGk=\x07k",
    "clipboard-c1": "\x9d52;c;aGk=\x9ck",
    "line": "k\n::error::m\r\n::set-output name=a::b",
    "separator": "k\u2028l\u2029m\x85n\x0bo\x0cp",
    "bidi": "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    "zero-width": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u034fh\u3164i\ufe0fj",
    "tags": "a\U000e0041\U000e0101b",
    "surrogate": "a\udcffb",
    "group": "##[group]x ##vso[task.setvariable variable=a]b ##teamcity[x] ###[y",
    "hidden-group": "#\u200b#[error]x #\x1b[0m#[error]y",
}  # fmt: skip
FORBIDDEN = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u2028", "\u2029"}
FORBIDDEN |= set(HOSTILE["bidi"]) | set(
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u3164\ufe0f\udcff"
)


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_steers(name: str) -> None:
    text = clean(HOSTILE[name])

    assert not set(text) & FORBIDDEN
    assert "##[" not in text and "##vso[" not in text and "##teamcity[" not in text
    assert "]52;" not in text or name == "clipboard-c1"
    assert clean(text) == text


@pytest.mark.parametrize(
    "text", ["void k<int, 3>(float*)", "漢字 é 😀", "a::b", "## head", "#1 [x]"]
)
def test_ordinary_names_stay(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize("unit", ["k", "##[", "\u202e", "漢", "\x1b[3m"])
def test_a_long_name_is_cut_in_the_middle_and_its_length_is_said(unit: str) -> None:
    name = "begin" + unit * 1_000_000 + "end"
    text = clean(name)

    assert text.startswith("begin") and text.endswith("end")
    assert len(text) <= MOST and f"({len(name)} characters)" in text
    assert clean(text) == text


@pytest.mark.parametrize(
    "line", ["::error::m", "  ::error::m", "\t:::error::m", "##[error]m", "  ::::", "a ##vso[x]"]
)
def test_a_finished_line_is_no_command(line: str) -> None:
    text = inert(line)

    assert not text.lstrip().startswith("::") and "##[" not in text and "##vso[" not in text
    assert len(text) == len(line)
    assert inert(text) == text


def test_an_ordinary_line_stays() -> None:
    assert inert("  std::vector ::x: 3 ## y") == "  std::vector ::x: 3 ## y"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1"])
def test_a_spreadsheet_computes_nothing(text: str) -> None:
    assert spreadsheet_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["kernel", "a=b", "", "step 1"])
def test_a_spreadsheet_shows_the_rest_as_it_is(text: str) -> None:
    assert spreadsheet_cell(text) == text
