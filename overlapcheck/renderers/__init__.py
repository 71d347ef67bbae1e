"""`Report` → text: one format, one file, found by walking this folder.

A renderer formats and does not compute: whatever it shows is in the report already. To add one, add
a file with a `RENDERER`; `--format` and the suffix of `-o` know it at once. `comparison/` holds the
formats of a comparison in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from overlapcheck.renderers.formats.registry import format_for_file, formats_in
from overlapcheck.report import Report


class Renderer(Protocol):
    """What each file of this folder offers as `RENDERER`."""

    name: str
    """Value of --format."""
    suffix: str
    """File-name ending that chooses it."""
    draws_timeline: bool
    """Whether it shows `DeviceReport.timeline`, which takes its time to make."""

    def render(self, report: Report, /) -> str:
        """The whole text, ending in a newline."""
        ...


@cache
def renderers() -> Mapping[str, Renderer]:
    """All renderers by name."""
    return formats_in(__name__, __path__)


def renderer_for_file(name: str) -> Renderer:
    """The renderer whose suffix a file name ends with, the longest match first.

    Raises:
        PolicyInvalid: no format has this suffix.
    """
    return format_for_file(renderers(), name)
