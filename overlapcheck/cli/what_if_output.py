"""Writing what repairs would win: to stdout, and to the files that were asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlapcheck.predicted import WhatIf


def require_formats(format_name: str, outputs: tuple[Path, ...]) -> None:
    """Refuse formats that there are not, before anything is read.

    Raises:
        PolicyInvalid: there is no such format.
    """
    from overlapcheck.renderers.what_if import what_if_renderer, what_if_renderer_for_file

    what_if_renderer(format_name)
    for path in outputs:
        what_if_renderer_for_file(path.name)


def deliver_what_if(found: WhatIf, format_name: str, outputs: tuple[Path, ...]) -> None:
    """Print what was found, and write it to files whose suffixes choose the formats."""
    from overlapcheck.cli.files import write
    from overlapcheck.cli.output import print_text, suited
    from overlapcheck.renderers.what_if import what_if_renderer, what_if_renderer_for_file

    print_text(suited(what_if_renderer(format_name), to_terminal=True).render(found))
    for path in outputs:
        write(path, suited(what_if_renderer_for_file(path.name)).render(found))
