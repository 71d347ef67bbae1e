"""A few steps drawn in characters, one row for each stream and for the thread that was held."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from rich.text import Text

from overlapcheck.device_report import Picture, PictureRow
from overlapcheck.quantities import duration
from overlapcheck.renderers._terminal_text import (
    DIM,
    INDENT,
    clip,
    clip_middle,
    paragraph,
    styled,
    text_of,
    width_of,
)
from overlapcheck.renderers.formats.page import WIDTH, columns

# Heights, for shades mean copies and collectives.
_HEIGHTS = " ▁▂▃▄▅▆▇█"
_FILLS = {"copy": "▓", "communication": "▒", "memset": "▒", "host": "─"}
_PARTLY = {"host": "╌"}
_NAMES = {"communication": "collective"}
_STYLES = {"compute": "green", "copy": "yellow", "communication": "magenta", "host": "cyan"}
_KEYS = (
    ("compute", "█ kernels"),
    ("copy", "▓ copies"),
    ("migration", "▓ migrations"),
    ("communication", "▒ collectives"),
)
MIN_CELLS = 10
_LABEL_WIDTH = 6
_KIND_WIDTH = 10


def picture_lines(picture: Picture) -> list[Text]:
    """The drawing with step marks and a key below it."""
    if not picture.rows:
        return []
    picture = _fitted(picture)
    labels = [_labels(row) for row in picture.rows]
    label_width = max(width_of(label) for label, _ in labels)
    kind_width = max(width_of(kind) for _, kind in labels)
    left = INDENT + label_width + kind_width + 3
    lines = []
    for row, (label, kind) in zip(picture.rows, labels, strict=True):
        lead = " " * INDENT + _pad(label, label_width) + " " + _pad(kind, kind_width) + " "
        body = styled(_body(row), _STYLES.get(row.role, ""))
        drawn = text_of(lead, "│", body, "│ ")
        drawn.append_text(text_of(clip(row.note, columns() - width_of(drawn))))
        lines.append(drawn)
    lines.append(_marks(picture, left))
    return lines + _key(picture)


def _fitted(picture: Picture) -> Picture:
    """The drawing, of fewer cells where the page is narrower than it was made for."""
    cells = len(picture.rows[0].cells)
    fewer = max(cells - max(WIDTH - columns(), 0), MIN_CELLS)
    if fewer >= cells:
        return picture
    rows = tuple(replace(row, cells=_merged(row.cells, fewer)) for row in picture.rows)
    ticks = tuple((column * fewer // cells, name) for column, name in picture.ticks)
    return replace(picture, rows=rows, ticks=ticks)


def _merged(cells: tuple[float, ...], fewer: int) -> tuple[float, ...]:
    """Means of neighbours, each counted by how much of it lies in the wider cell."""
    width = len(cells) / fewer
    merged = []
    for i in range(fewer):
        start, end = i * width, (i + 1) * width
        parts = ((min(end, n + 1) - max(start, n), cell) for n, cell in enumerate(cells))
        merged.append(sum(part * cell for part, cell in parts if part > 0) / width)
    return tuple(merged)


def _pad(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


def _labels(row: PictureRow) -> tuple[str, str]:
    if row.role == "host":
        return "host", clip_middle(row.label, _KIND_WIDTH)
    kind = row.kind or _NAMES.get(row.role, row.role)
    return clip_middle(row.label, _LABEL_WIDTH), clip(kind, _KIND_WIDTH)


def _body(row: PictureRow) -> str:
    if row.role == "compute":
        return "".join(_height(share) for share in row.cells)
    fill, partly = _FILLS.get(row.role, "▓"), _PARTLY.get(row.role, "░")
    body = "".join(fill if c >= 0.5 else partly if c > 0 else " " for c in row.cells)
    return _written_into(body, row.kind, fill) if row.role == "host" else body


def _height(share: float) -> str:
    steps = len(_HEIGHTS) - 1
    # What ran at all is seen, and what was not busy all the time is not shown as if it were.
    level = min(max(round(share * steps), 1), steps - 1) if 0 < share < 0.97 else round(share)
    return _HEIGHTS[level if 0 < share < 0.97 else steps * level]


def _written_into(body: str, name: str, fill: str) -> str:
    """The call's name inside each line that is long enough to hold it."""
    parts = []
    for char, run in groupby(body):
        length = len(list(run))
        wide = char == fill and 0 < width_of(name) <= length - 2
        parts.append(name.center(length, fill) if wide else char * length)
    return "".join(parts)


def _marks(picture: Picture, left: int) -> Text:
    columns = len(picture.rows[0].cells)
    line = ""
    ends = [*(column for column, _ in picture.ticks[1:]), columns]
    for (column, name), end in zip(picture.ticks, ends, strict=False):
        line = _pad(line, column)
        line += clip("╵" + name, max(end - column - 1, 1))
    span = f" {duration(picture.end_ns - picture.start_ns)} shown"
    return text_of(" " * left, styled(_pad(line, columns + 1), DIM), styled(span, DIM))


def _key(picture: Picture) -> list[Text]:
    roles = {"migration" if row.kind == "migration" else row.role for row in picture.rows}
    parts = [text for role, text in _KEYS if role in roles]
    parts += [f"─ in {clip(row.kind, 30)}" for row in picture.rows if row.role == "host"]
    drawn = "".join(map(_body, picture.rows))
    partly = " ".join(char for char in "▄░╌" if char in drawn)
    parts += [f"{partly} partly"] if partly else []
    # NO-BREAK SPACE keeps a sign with its meaning when the line is wrapped.
    lines = paragraph("key", " · ".join(part.replace(" ", "\u00a0") for part in parts))
    for line in lines:
        line.stylize(DIM)
    return lines
