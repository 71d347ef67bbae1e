"""`FleetComparison` → text: one format, one file, found by walking this folder.

They are the formats of a comparison of two reports, with the same names and suffixes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from overlapcheck.errors import PolicyInvalid
from overlapcheck.fleet_comparison import FleetComparison
from overlapcheck.renderers.formats.registry import format_for_file, formats_in


class FleetComparisonRenderer(Protocol):
    """What each file of this folder offers as `RENDERER`."""

    name: str
    """Value of --format."""
    suffix: str
    """File-name ending that chooses it."""

    def render(self, found: FleetComparison, /) -> str:
        """The whole text, ending in a newline."""
        ...


@cache
def fleet_comparison_renderers() -> Mapping[str, FleetComparisonRenderer]:
    """All formats of a comparison of jobs by name."""
    return formats_in(__name__, __path__)


def fleet_comparison_renderer(name: str) -> FleetComparisonRenderer:
    """The format of a name.

    Raises:
        PolicyInvalid: a comparison of jobs has no such format.
    """
    known = fleet_comparison_renderers()
    if name not in known:
        raise PolicyInvalid(
            f"--format {name}: a comparison has no such format",
            f"use one of {', '.join(sorted(known))}",
        )
    return known[name]


def fleet_comparison_renderer_for_file(name: str) -> FleetComparisonRenderer:
    """The format whose suffix a file name ends with, the longest match first.

    Raises:
        PolicyInvalid: a comparison of jobs has no format with this suffix.
    """
    return format_for_file(fleet_comparison_renderers(), name, "a comparison")
