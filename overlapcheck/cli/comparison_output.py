"""Writing a comparison: to stdout, to the files that were asked for, and to a CI job's summary."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlapcheck.errors import ExitCode

if TYPE_CHECKING:
    from overlapcheck.comparison import Comparison
    from overlapcheck.fleet_comparison import FleetComparison


def check_formats(format_name: str, outputs: tuple[Path, ...]) -> None:
    """Refuse, before anything is read, formats that comparisons do not have.

    Raises:
        PolicyInvalid: naming the first one.
    """
    from overlapcheck.renderers import comparison

    comparison.comparison_renderer(format_name)
    for path in outputs:
        comparison.comparison_renderer_for_file(path.name)


def deliver_comparison(
    comparison: Comparison | FleetComparison,
    format_name: str,
    outputs: tuple[Path, ...],
    detail: str,
) -> ExitCode:
    """Print the comparison, and write it to files whose suffixes choose the formats."""
    from overlapcheck.cli.files import write
    from overlapcheck.cli.output import append_summary, print_text, suited

    named, for_file = _formats(comparison)
    chosen = suited(named(format_name), to_terminal=True, detail=detail)
    print_text(chosen.render(comparison))
    for path in outputs:
        write(path, suited(for_file(path.name)).render(comparison))
    append_summary(lambda: named("markdown").render(comparison))
    return comparison.exit_code


def comparison_text(comparison: Comparison | FleetComparison, format_name: str) -> str:
    """The comparison in the format of a name."""
    text: str = _formats(comparison)[0](format_name).render(comparison)
    return text


def _formats(
    comparison: Comparison | FleetComparison,
) -> tuple[Callable[[str], Any], Callable[[str], Any]]:
    """What finds a format of such a comparison: by its name, and for a file."""
    from overlapcheck.fleet_comparison import FleetComparison

    if isinstance(comparison, FleetComparison):
        from overlapcheck.renderers.comparison import jobs as of_jobs

        return of_jobs.fleet_comparison_renderer, of_jobs.fleet_comparison_renderer_for_file
    from overlapcheck.renderers import comparison as of_reports

    return of_reports.comparison_renderer, of_reports.comparison_renderer_for_file
