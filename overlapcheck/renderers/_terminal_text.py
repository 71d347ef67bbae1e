"""Lines of a fixed-width report: cleaning, measuring, cutting, wrapping and aligning text.

Everything that comes from a trace passes `clean`: names may hold line breaks, escape sequences or
bidirectional controls, and must neither break a line nor steer a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.text import Text

from overlapcheck.clean import clean
from overlapcheck.renderers.formats.page import columns

INDENT = 2
ELLIPSIS = "…"

BOLD = "bold"
DIM = "dim"

Cell = str | Text

_UNIT = re.compile(r"(?<=\d) (?=(?:%|ns|us|ms|s|B|[KMGT]iB|GB/s)(?![\w/]))")
_GLUE = "\u00a0"


def width_of(cell: Cell) -> int:
    """Columns that a text fills."""
    return cell_len(cell.plain if isinstance(cell, Text) else cell)


def clip(text: str, width: int) -> str:
    """Cut at the end to a width, showing that something is missing."""
    text = clean(text)
    if cell_len(text) <= width:
        return text
    return _head(text, max(width - 1, 0)).rstrip() + ELLIPSIS if width > 0 else ""


def clip_middle(text: str, width: int) -> str:
    """Cut in the middle: names often differ only at their ends."""
    text = clean(text)
    if cell_len(text) <= width:
        return text
    if width < 8:
        return clip(text, width)
    tail = (width - 1) // 2
    return _head(text, width - 1 - tail) + ELLIPSIS + _head(text[::-1], tail)[::-1]


def _head(text: str, width: int) -> str:
    """The longest beginning that fills no more than a width."""
    used = 0
    for position, char in enumerate(text):
        used += cell_len(char)
        if used > width:
            return text[:position]
    return text


def wrap(text: str, width: int) -> list[str]:
    """Lines no wider than a width, broken at spaces, a number and its unit kept together."""
    lines: list[str] = []
    line = ""
    for word in _UNIT.sub(_GLUE, clean(text)).split(" "):
        while cell_len(word) > width:
            lines += [line] if line else []
            part = _head(word, width) or word[0]
            lines.append(part)
            word, line = word[len(part) :], ""
        if line and cell_len(line) + 1 + cell_len(word) > width:
            lines.append(line)
            line = word
        elif word:
            line = f"{line} {word}" if line else word
    if line or not lines:
        lines.append(line)
    return [done.replace(_GLUE, " ") for done in lines]


def text_of(*parts: Cell) -> Text:
    """One line of parts, cleaned."""
    line = Text(end="")
    for part in parts:
        line.append_text(part if isinstance(part, Text) else Text(clean(part)))
    return line


def styled(text: str, style: str) -> Text:
    """A cleaned text in a style."""
    return Text(clean(text), style=style, end="")


def paragraph(label: Cell, text: str, *, indent: int = INDENT, hang: int = 0) -> list[Text]:
    """A label and a text wrapped to the right of it.

    Args:
        label: begins the first line; cut in the middle where it takes more than half of it.
        text: what follows.
        indent: columns before the label.
        hang: columns from the label's begin to the text; 0 takes one space.
    """
    label = _no_wider(label, columns() // 2)
    hang = max(hang, width_of(label) + 1)
    lines = wrap(text, columns() - indent - hang)
    first = text_of(" " * indent, label, " " * (hang - width_of(label)), lines[0])
    return [first, *(text_of(" " * (indent + hang), line) for line in lines[1:])]


def _no_wider(label: Cell, width: int) -> Cell:
    if width_of(label) <= width:
        return label
    style = label.style if isinstance(label, Text) else ""
    plain = label.plain if isinstance(label, Text) else label
    return Text(clip_middle(plain, width), style=style, end="")


def table(
    rows: Sequence[Sequence[Cell]],
    align: str,
    *,
    flexible: Iterable[int] = (),
    header: bool = True,
) -> list[Text]:
    """Rows in aligned columns no wider than a line.

    Columns that find no room beside the others come below, after the first one again.

    Args:
        rows: cells; the first row is the header.
        align: one letter a column, l or r.
        flexible: columns that give way, cut in the middle, where all do not fit.
        header: whether the first row is set off.
    """
    cells = [[text_of(cell) for cell in row] for row in rows]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    flexible = sorted(flexible)
    gap = 2 if flexible or _total(widths, 2) <= columns() else 1
    widths = _shrink(widths, flexible, _total(widths, gap) - columns())
    lines: list[Text] = []
    for part in _parts(widths, gap):
        shown = [[row[i] for i in part] for row in cells]
        room = [widths[i] for i in part]
        lines += _aligned(shown, room, [align[i] for i in part], gap, header=header)
    return lines


def _parts(widths: Sequence[int], gap: int) -> list[list[int]]:
    """Columns by number that fit side by side, each part with the first one."""
    parts = [[0]]
    for i in range(1, len(widths)):
        longer = [*parts[-1], i]
        if len(parts[-1]) > 1 and _total([widths[n] for n in longer], gap) > columns():
            longer = [0, i]
            parts.append(longer)
        parts[-1] = longer
    return parts


def _aligned(
    cells: Sequence[Sequence[Text]],
    widths: Sequence[int],
    align: Sequence[str],
    gap: int,
    *,
    header: bool,
) -> list[Text]:
    lines = []
    for number, row in enumerate(cells):
        line = text_of(" " * INDENT)
        for i, (cell, width, side) in enumerate(zip(row, widths, align, strict=True)):
            line.append(" " * (gap if i else 0))
            line.append_text(_fit(cell, width, side))
        if header and number == 0:
            line.stylize(BOLD)
        lines.append(line)
    return lines


def _total(widths: Sequence[int], gap: int) -> int:
    return INDENT + sum(widths) + gap * (len(widths) - 1)


def _shrink(widths: list[int], flexible: Sequence[int], excess: int) -> list[int]:
    """Take the excess from the flexible columns, always from the widest."""
    widths = list(widths)
    for _ in range(max(excess, 0)):
        widest = max(flexible, key=lambda i: widths[i], default=None)
        if widest is None or widths[widest] <= 1:
            break
        widths[widest] -= 1
    return widths


def _fit(cell: Text, width: int, side: str) -> Text:
    missing = width - width_of(cell)
    if missing < 0:
        cell = Text(clip_middle(cell.plain, width), style=cell.style, end="")
        missing = width - width_of(cell)
    padding = " " * missing
    return text_of(padding, cell) if side == "r" else text_of(cell, padding)
