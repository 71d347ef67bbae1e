"""Writing a comparison: to stdout, to the files that were asked for, and to a CI job's summary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from overlapcheck.errors import ExitCode

if TYPE_CHECKING:
    from overlapcheck.comparison import Comparison


def deliver_comparison(
    comparison: Comparison, format_name: str, outputs: tuple[Path, ...], detail: str
) -> ExitCode:
    """Print the comparison, and write it to files whose suffixes choose the formats."""
    from overlapcheck.cli.files import write
    from overlapcheck.cli.output import append_summary, print_text, suited
    from overlapcheck.renderers.comparison import (
        comparison_renderer,
        comparison_renderer_for_file,
    )

    chosen = suited(comparison_renderer(format_name), to_terminal=True, detail=detail)
    print_text(chosen.render(comparison))
    for path in outputs:
        write(path, suited(comparison_renderer_for_file(path.name)).render(comparison))
    append_summary(lambda: comparison_renderer("markdown").render(comparison))
    return comparison.exit_code
