"""What the formats for a terminal share: lines as wide as the page, colours where wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import StringIO

from rich.text import Text

from overlapcheck.clean import inert
from overlapcheck.renderers._terminal_text import width_of
from overlapcheck.renderers.formats.page import Detail, Page, laid_out_for

_WIDE = 1000
"""Columns in which a first line is whole."""
# One sign for one, so that columns stay where they are.
_PLAIN_SIGNS = str.maketrans("█▓▒░▁▂▃▄▅▆▇─╌│╵·…\u00a0", "#Xo:_.,-=+*-~|'.~ ")


class TerminalFormat:
    """Text for people.

    Args:
        color: whether to emit ANSI colours; the text is the same without.
        page: how wide it is, and how much is told.
        plain_signs: whether to draw with ASCII alone.
    """

    name = "terminal"
    suffix = ".txt"

    def __init__(
        self, *, color: bool = False, page: Page | None = None, plain_signs: bool = False
    ) -> None:
        self._color = color
        self._page = page or Page()
        self._plain_signs = plain_signs

    def printed(self, lines: list[Text] | Callable[[], list[Text]]) -> str:
        """Lines as one text; what is too long for a line in spite of all is cut.

        Args:
            lines: made for a page of the usual width, or what makes them for this one.
        """
        alone = self._page.detail is Detail.LINE
        page = replace(self._page, width=_WIDE) if alone else self._page
        if not isinstance(lines, list):
            with laid_out_for(page):
                lines = lines()
        lines = lines[:1] if alone else lines
        for line in lines:
            line.rstrip()
            line.plain = inert(line.plain)
            if width_of(line) > page.width:
                line.truncate(page.width, overflow="ellipsis")
        text = self._colored(lines) if self._color else "".join(f"{one.plain}\n" for one in lines)
        return text.translate(_PLAIN_SIGNS) if self._plain_signs else text

    def _colored(self, lines: list[Text]) -> str:
        from rich.console import Console  # for colours alone

        console = Console(
            width=_WIDE,
            file=StringIO(),
            force_terminal=True,
            color_system="standard",
            no_color=False,
        )
        with console.capture() as capture:
            for line in lines:
                console.print(line, soft_wrap=True, end="\n")
        return capture.get()
