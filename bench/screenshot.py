"""`python -m bench.screenshot`: the picture in the README, made from what the program prints."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

import overlapcheck
from overlapcheck.renderers.terminal import TerminalRenderer

ROOT = Path(__file__).parent.parent
REPORT = ROOT / "fixtures" / "exports" / "pt_pageable.sqlite"
PICTURE = ROOT / "docs" / "failing-report.svg"
COMMAND = f"overlapcheck analyze {REPORT.relative_to(ROOT)}"
_COLUMNS = 82
_ADVICE = "    unless "
"""Begins the last part of a cause that is told in full."""
_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own, without fonts from the network: a page that shows the picture loads nothing else."""


def shown() -> Text:
    """What the command prints of the bundled recording, down to the advice of its first cause."""
    printed = TerminalRenderer(color=True).render(overlapcheck.analyze(REPORT))
    blocks = Text.from_ansi(printed).split("\n")
    last = next(n for n, line in enumerate(blocks) if line.plain.startswith(_ADVICE))
    end = next(n for n, line in enumerate(blocks) if n > last and not line.plain.strip())
    return Text("\n").join(blocks[:end])


def drawn(text: Text) -> str:
    """A text in colours as SVG."""
    console = Console(record=True, width=_COLUMNS, file=StringIO())
    console.print(text, soft_wrap=True)
    return console.export_svg(title=COMMAND, code_format=_FORMAT, unique_id="overlapcheck")


def main() -> int:
    PICTURE.write_text(drawn(shown()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
