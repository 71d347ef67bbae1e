"""What the formats for a terminal share: lines of 80 columns, in colour where it is wanted."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.text import Text

from overlapcheck.clean import inert
from overlapcheck.renderers._terminal_text import WIDTH, width_of


class TerminalFormat:
    """Text for people.

    Args:
        color: whether to emit ANSI colours; the text is the same without.
    """

    name = "terminal"
    suffix = ".txt"

    def __init__(self, *, color: bool = False) -> None:
        self._color = color

    def printed(self, lines: list[Text]) -> str:
        """Lines as one text; what is too long for a line in spite of all is cut."""
        for line in lines:
            line.rstrip()
            line.plain = inert(line.plain)
            if width_of(line) > WIDTH:
                line.truncate(WIDTH, overflow="ellipsis")
        if not self._color:
            return "".join(line.plain + "\n" for line in lines)
        console = Console(
            width=WIDTH,
            file=StringIO(),
            force_terminal=True,
            color_system="standard",
            no_color=False,
        )
        with console.capture() as capture:
            for line in lines:
                console.print(line, soft_wrap=True, end="\n")
        return capture.get()
