"""Writing a report: to the files that were asked for, and to stdout."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlapcheck.errors import ExitCode, OutputUnwritable
from overlapcheck.renderers import renderer_for_file, renderers
from overlapcheck.renderers.terminal import TerminalRenderer

if TYPE_CHECKING:
    from overlapcheck.cli.options import Judging
    from overlapcheck.report import Report


def deliver(report: Report, judging: Judging) -> ExitCode:
    """Print and write the report.

    Returns:
        The verdict's exit code.

    Raises:
        OutputUnwritable: after stdout has the report, so nothing is lost.
    """
    chosen = renderers()[judging.format]
    if isinstance(chosen, TerminalRenderer) and _wants_color():
        chosen = TerminalRenderer(color=True)
    click.echo(chosen.render(report), nl=False)
    for path in judging.outputs:
        _write(path, renderer_for_file(path.name).render(report))
    return report.verdict.exit_code


def _wants_color() -> bool:
    """A terminal that has not asked for plain text (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _write(path: Path, text: str) -> None:
    """Replace the file as a whole: a reader never sees half a report."""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputUnwritable(
            f"{path}: cannot write the result ({error.strerror or error})",
            "give -o a place that exists and is writable",
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
