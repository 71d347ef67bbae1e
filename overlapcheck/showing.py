"""How a report shows itself to whoever holds one in Python: in a file, a notebook, a data frame."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from overlapcheck.errors import OutputUnwritable, PolicyInvalid
from overlapcheck.renderers import renderer_for_file, renderers
from overlapcheck.report import Report

if TYPE_CHECKING:
    import pandas as pd

    from overlapcheck.fleet import FleetReport

FRAME_HEIGHT = 640
"""Pixels of a page in a notebook."""


class Format(Protocol):
    """A format of what is shown."""

    name: str
    suffix: str

    def render(self, report: Any, /) -> str:
        """The whole text, ending in a newline."""
        ...


def format_named(report: Report | FleetReport, name: str) -> Format:
    """The format of a report that the command line calls by a name: "json", "terminal", "html" ...

    Raises:
        PolicyInvalid: there is no such format for it.
    """
    if not isinstance(report, Report):
        from overlapcheck.renderers.fleet import fleet_renderer

        return fleet_renderer(name)
    if name not in renderers():
        raise PolicyInvalid(
            f"{name}: no such format", f"use one of {', '.join(sorted(renderers()))}"
        )
    return renderers()[name]


def format_for_file(report: Report | FleetReport, name: str) -> Format:
    """The format of a report that a file's suffix chooses.

    Raises:
        PolicyInvalid: no format has this suffix.
    """
    if not isinstance(report, Report):
        from overlapcheck.renderers.fleet import fleet_renderer_for_file

        return fleet_renderer_for_file(name)
    return renderer_for_file(name)


def text_of(report: Report | FleetReport, format_name: str) -> str:
    """The report in a format of the command line.

    Raises:
        PolicyInvalid: there is no such format for it.
    """
    return format_named(report, format_name).render(report)


def save(report: Report | FleetReport, path: str | Path) -> None:
    """Write the report in the format that the suffix chooses; a file that was there goes at once.

    Raises:
        PolicyInvalid: no format has this suffix.
        OutputUnwritable: naming the file.
    """
    path = Path(path)
    text = format_for_file(report, path.name).render(report)
    try:
        _replace(Path(os.path.realpath(path)), text.encode("utf-8", "replace"))
    except OSError as error:
        raise OutputUnwritable(
            f"{path}: cannot write the report ({error.strerror or error})",
            "give a place that exists and is writable",
        ) from error


def _replace(path: Path, content: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".overlapcheck-") as folder:
        whole = Path(folder) / "report"
        whole.write_bytes(content)
        if mode is not None:
            whole.chmod(mode)
        whole.replace(path)


def in_notebook(report: Report | FleetReport) -> str:
    """The page of the report as a part of another page, which it cannot disturb."""
    page = escape(text_of(report, "html"), quote=True)
    return (
        f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="overlapcheck report"'
        f' style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
    )


def frame_of(report: Report | FleetReport, name: str) -> pd.DataFrame:
    """A table of all devices, or of all ranks, ids as names.

    Raises:
        PolicyInvalid: there is no such table, or the report is one read back from JSON.
    """
    if not isinstance(report, Report):
        from overlapcheck.reporting.fleet_tables import fleet_table, fleet_table_names

        _require_table(name, fleet_table_names())
        return fleet_table(report, name)
    from overlapcheck.reporting.tables import measured_table, table_names

    _require_table(name, table_names())
    if report.measurements is None:
        raise PolicyInvalid(
            f"{report.capture.report}: a report read back from JSON has no tables",
            "analyse the recording again",
        )
    return measured_table(report.measurements, name)


def _require_table(name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise PolicyInvalid(f"{name}: no such table", f"there are {', '.join(known)}")
