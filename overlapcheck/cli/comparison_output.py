"""Writing a comparison: to stdout, and to the files that were asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlapcheck.errors import ExitCode

if TYPE_CHECKING:
    from overlapcheck.comparison import Comparison


def deliver_comparison(
    comparison: Comparison, format_name: str, outputs: tuple[Path, ...]
) -> ExitCode:
    """Print the comparison, and write it to files whose suffixes choose the formats."""
    from overlapcheck.cli.output import write
    from overlapcheck.renderers._comparison import (
        comparison_renderer_for_file,
        comparison_renderers,
    )
    from overlapcheck.renderers._comparison_terminal import ComparisonTerminal

    chosen = comparison_renderers()[format_name]
    if isinstance(chosen, ComparisonTerminal):
        chosen = ComparisonTerminal(color=sys.stdout.isatty() and not os.environ.get("NO_COLOR"))
    click.echo(chosen.render(comparison), nl=False)
    for path in outputs:
        write(path, comparison_renderer_for_file(path.name).render(comparison))
    return comparison.exit_code
