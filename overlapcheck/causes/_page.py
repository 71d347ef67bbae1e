"""The page of a cause, from the docstring of its module to the width of a terminal."""

from __future__ import annotations

import textwrap

MAX_WIDTH = 80
_PICTURE = "What it looks like"


def filled(page: str) -> str:
    """A page whose paragraphs are filled to the width of a terminal; its picture stays as drawn."""
    lines: list[str] = []
    drawn = False
    for block in page.split("\n\n"):
        title, text = "", block
        if not block.startswith(" "):
            title, _, text = block.partition("\n")
            drawn = title == _PICTURE
        lines += paragraph(title, "")
        lines += text.split("\n") if drawn else paragraph(text, "    ")
        lines.append("")
    return "\n".join(lines).rstrip("\n")


def paragraph(text: str, indent: str, hang: str | None = None) -> list[str]:
    """Lines of a text; those after the first begin with `hang`, or else with `indent`."""
    return textwrap.wrap(
        " ".join(text.split()),
        MAX_WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if hang is None else hang,
        break_on_hyphens=False,
        break_long_words=False,
    )
