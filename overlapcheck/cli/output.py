"""Writing a report: to stdout, to the files that were asked for, and to a CI job's summary."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlapcheck.errors import ExitCode, OutputUnwritable
from overlapcheck.renderers import Renderer, renderer_for_file, renderers
from overlapcheck.renderers.github import GithubRenderer
from overlapcheck.renderers.sarif import SarifRenderer
from overlapcheck.renderers.terminal import TerminalRenderer

if TYPE_CHECKING:
    from overlapcheck.cli.options import Judging
    from overlapcheck.report import Report

_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Variable that names the file whose Markdown GitHub shows on the page of a run."""


def deliver(report: Report, judging: Judging) -> ExitCode:
    """Print and write the report.

    Returns:
        The verdict's exit code.

    Raises:
        OutputUnwritable: after stdout has the report, so nothing is lost.
    """
    show(report, judging.format)
    for path in judging.outputs:
        write(path, text_for(path, report))
    if judging.tables is not None and report.measurements is not None:
        from overlapcheck.cli.tables import write_tables

        write_tables(report.measurements, judging.tables, judging.tables_format)
    _append_summary(report)
    return report.verdict.exit_code


def show(report: Report, format_name: str) -> None:
    """Print the report to stdout."""
    chosen = renderers()[format_name]
    if isinstance(chosen, TerminalRenderer) and _wants_color():
        chosen = TerminalRenderer(color=True)
    click.echo(_encodable(_suited(chosen).render(report)), nl=False)


def text_for(path: Path, report: Report) -> str:
    """The report in the format that a file's suffix chooses."""
    return _suited(renderer_for_file(path.name)).render(report)


def write(path: Path, text: str) -> None:
    """Replace a file as a whole: a reader never sees half a report.

    Raises:
        OutputUnwritable: naming the file.
    """

    def fill(temporary: Path) -> None:
        temporary.write_bytes(text.encode("utf-8", "replace"))

    replace(path, fill)


def replace(path: Path, fill: Callable[[Path], None]) -> None:
    """Replace a file by one that `fill` writes.

    Raises:
        OutputUnwritable: naming the file.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(descriptor)
        temporary = Path(name)
        try:
            fill(temporary)
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputUnwritable(
            f"{path}: cannot write the result ({error.strerror or error})",
            "give -o a place that exists and is writable",
        ) from error


def _wants_color() -> bool:
    """A terminal that has not asked for plain text (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _suited(renderer: Renderer) -> Renderer:
    """Formats that name source files name them relative to the repository."""
    if isinstance(renderer, GithubRenderer | SarifRenderer):
        return type(renderer)(root=os.environ.get("GITHUB_WORKSPACE") or str(Path.cwd()))
    return renderer


def _encodable(text: str) -> str:
    """What stdout can take: a name that is no text must not cost the report."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def _append_summary(report: Report) -> None:
    """Add the Markdown report to the summary of a GitHub job; a report is no less without it."""
    place = os.environ.get(_SUMMARY)
    if not place:
        return
    text = renderers()["markdown"].render(report)
    try:
        with Path(place).open("a", encoding="utf-8", errors="replace") as stream:
            stream.write(text + "\n")
    except OSError as error:
        why = error.strerror or error
        click.echo(f"overlapcheck: {_SUMMARY}: no summary written ({why})", err=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
