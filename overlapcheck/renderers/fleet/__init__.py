"""`FleetReport` → text: one format, one file, found by walking this folder.

They are formats of a report, with the same names and suffixes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from overlapcheck.errors import PolicyInvalid
from overlapcheck.fleet import FleetReport
from overlapcheck.renderers.formats.registry import format_for_file, formats_in


class FleetRenderer(Protocol):
    """What each file of this folder offers as `RENDERER`."""

    name: str
    """Value of --format."""
    suffix: str
    """File-name ending that chooses it."""

    def render(self, report: FleetReport, /) -> str:
        """The whole text, ending in a newline."""
        ...


@cache
def fleet_renderers() -> Mapping[str, FleetRenderer]:
    """All formats of many ranks by name."""
    return formats_in(__name__, __path__)


def fleet_renderer(name: str) -> FleetRenderer:
    """The format of a name.

    Raises:
        PolicyInvalid: many ranks have no such format.
    """
    known = fleet_renderers()
    if name not in known:
        raise PolicyInvalid(
            f"--format {name}: many ranks have no such format",
            f"use one of {', '.join(sorted(known))}",
        )
    return known[name]


def fleet_renderer_for_file(name: str) -> FleetRenderer:
    """The format whose suffix a file name ends with, the longest match first.

    Raises:
        PolicyInvalid: many ranks have no format with this suffix.
    """
    return format_for_file(fleet_renderers(), name, "a report of many ranks")
