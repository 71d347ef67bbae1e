"""The HTML of many ranks, and beside it a folder with the timelines of those that tell most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from overlapcheck.cli.files import write
from overlapcheck.cli.messages import say
from overlapcheck.errors import OutputUnwritable
from overlapcheck.fleet import FleetReport
from overlapcheck.ranks.pages import Pages
from overlapcheck.renderers.fleet import fleet_renderer


def write_with_pages(report: FleetReport, outputs: Sequence[Path], pages: Pages) -> None:
    """Write the HTML outputs, each with a folder of the pages; none writes no folder.

    Raises:
        OutputUnwritable: naming the file or folder.
    """
    for one in pages.lost:
        say(f"no timeline of {one.report}: {one.why}")
    for output in outputs:
        folder = output.parent / f"{output.stem}-ranks"
        if pages.files:
            _make(folder)
        for name, text in pages.files.items():
            write(folder / name, text)
        there = quote(folder.name)
        linked = [replace(one, address=f"{there}/{one.address}") for one in pages.ranks]
        write(output, fleet_renderer("html").render(replace(report, pages=tuple(linked))))


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputUnwritable(
            f"{folder}: cannot keep timelines ({error.strerror})",
            "give -o a place that is writable, or --rank-pages 0",
        ) from error
