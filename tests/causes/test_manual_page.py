"""How the page of a cause is laid out."""

from __future__ import annotations

from overlapcheck.causes._page import filled, paragraph

LONG = "a-hyphenated " * 8


def test_paragraphs_are_filled_and_pictures_stay() -> None:
    page = (
        "One line.\n\n"
        "What it is\n    Two short\n    lines.\n\n    And\n    more.\n\n"
        "What it looks like\n    s7  ###   ###\n    s8     ###\n\n    s9  ..#\n\n"
        "What to do\n    Wait   and\n    see."
    )
    assert filled(page) == (
        "One line.\n\n"
        "What it is\n    Two short lines.\n\n    And more.\n\n"
        "What it looks like\n    s7  ###   ###\n    s8     ###\n\n    s9  ..#\n\n"
        "What to do\n    Wait and see."
    )


def test_lines_hang_where_they_are_told_to() -> None:
    words = "word " * 16

    assert paragraph(words, "  ") == ["  " + "word " * 14 + "word", "  word"]
    assert paragraph(words, "  ", hang="    ") == ["  " + "word " * 14 + "word", "    word"]
    assert paragraph(words, "  ", hang="") == ["  " + "word " * 14 + "word", "word"]


def test_words_are_never_broken() -> None:
    assert paragraph(LONG, "") == [
        "a-hyphenated " * 5 + "a-hyphenated",
        "a-hyphenated a-hyphenated",
    ]
    assert paragraph("x" * 90, "  ") == ["  " + "x" * 90]


def test_nor_are_hyphens_a_place_to_break() -> None:
    assert paragraph("x" * 75 + " ab-cdefgh", "") == ["x" * 75, "ab-cdefgh"]


def test_a_page_may_begin_with_a_paragraph() -> None:
    assert filled("    Two\n    words.") == "    Two words."
