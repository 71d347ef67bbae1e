"""Writing a report: to stdout, to the files that were asked for, and to a CI job's summary."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from overlapcheck.cli.files import write
from overlapcheck.cli.messages import say
from overlapcheck.cli.terminal_page import wants_color, wants_plain_signs, width
from overlapcheck.errors import ExitCode
from overlapcheck.reading import Reading
from overlapcheck.renderers import renderer_for_file, renderers
from overlapcheck.renderers.formats.page import Detail, Page
from overlapcheck.renderers.formats.registry import Format
from overlapcheck.renderers.formats.rooted import RootedFormat
from overlapcheck.showing import format_for_file, format_named

if TYPE_CHECKING:
    from overlapcheck.cli.options import Judging
    from overlapcheck.cli.progress import Stages
    from overlapcheck.fleet import FleetReport
    from overlapcheck.report import Report

_Format = TypeVar("_Format", bound=Format)
_USUAL = "usual"
_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Variable that names the file whose Markdown GitHub shows on the page of a run."""


def deliver(report: Report, judging: Judging) -> ExitCode:
    """Print and write the report.

    Returns:
        The verdict's exit code.

    Raises:
        OutputUnwritable: after stdout has the report, so nothing is lost.
    """
    show(report, judging.format, judging.detail)
    for path in judging.outputs:
        write(path, text_for(path, report, judging.detail))
    if judging.tables is not None and report.measurements is not None:
        from overlapcheck.cli.tables import write_tables
        from overlapcheck.reporting.tables import measured_tables

        tables = {name: (one,) for name, one in measured_tables(report.measurements).items()}
        write_tables(tables, judging.tables, judging.tables_format)
    append_summary(lambda: renderers()["markdown"].render(report))
    return report.verdict.exit_code


def reading_of(judging: Judging, nsys: Path | None, progress: Stages) -> Reading:
    """How a recording is read for what the user asked for: a timeline only where it is shown."""
    chosen = [renderers()[judging.format], *(renderer_for_file(p.name) for p in judging.outputs)]
    return Reading(
        nsys=nsys,
        cache=judging.cache,
        source_root=judging.source_root,
        timeline=any(renderer.draws_timeline for renderer in chosen),
        progress=progress,
        opened=progress.opens,
        warn=say,
    )


def show(report: Report | FleetReport, format_name: str, detail: str = _USUAL) -> None:
    """Print the report to stdout."""
    chosen = suited(format_named(report, format_name), to_terminal=True, detail=detail)
    print_text(chosen.render(report))


def print_text(text: str) -> None:
    """Print to stdout what it can take of a text: a name that is no text must not cost the rest."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    # Whether there are colours is decided already.
    click.echo(text.encode(encoding, "replace").decode(encoding), nl=False, color=True)


def text_for(path: Path, report: Report | FleetReport, detail: str = _USUAL) -> str:
    """The report in the format that a file's suffix chooses."""
    return suited(format_for_file(report, path.name), detail=detail).render(report)


def suited(renderer: _Format, *, to_terminal: bool = False, detail: str = _USUAL) -> _Format:
    """A format as this place wants it.

    Args:
        renderer: the format; where it names source files, it does so relative to the repository.
        to_terminal: whether it goes to stdout: as wide as that, and in its colours and signs.
        detail: how much is told, value of a `Detail`; a single line on stdout alone.
    """
    if isinstance(renderer, RootedFormat):
        return type(renderer)(root=os.environ.get("GITHUB_WORKSPACE") or str(Path.cwd()))
    if renderer.name != "terminal":
        return renderer
    from overlapcheck.renderers.formats.terminal import TerminalFormat  # loads rich

    if isinstance(renderer, TerminalFormat):
        if to_terminal:
            page = Page(width(), Detail(detail))
            return type(renderer)(color=wants_color(), page=page, plain_signs=wants_plain_signs())
        if detail == Detail.ALL:
            return type(renderer)(page=Page(detail=Detail.ALL))
    return renderer


def append_summary(markdown: Callable[[], str]) -> None:
    """Add a text to the summary of a GitHub job; a report is no less without it.

    Args:
        markdown: makes the text, where there is such a job.
    """
    place = os.environ.get(_SUMMARY)
    if not place:
        return
    text = markdown()
    try:
        with Path(place).open("a", encoding="utf-8", errors="replace") as stream:
            stream.write(text + "\n")
    except OSError as error:
        why = error.strerror or error
        say(f"{_SUMMARY}: no summary written ({why})")
