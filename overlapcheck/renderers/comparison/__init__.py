"""`Comparison` → text: one format, one file, found by walking this folder.

They are the formats of a report, with the same names and suffixes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from overlapcheck.comparison import Comparison
from overlapcheck.errors import PolicyInvalid
from overlapcheck.renderers.formats.registry import format_for_file, formats_in


class ComparisonRenderer(Protocol):
    """What each file of this folder offers as `RENDERER`."""

    name: str
    """Value of --format."""
    suffix: str
    """File-name ending that chooses it."""

    def render(self, comparison: Comparison, /) -> str:
        """The whole text, ending in a newline."""
        ...


@cache
def comparison_renderers() -> Mapping[str, ComparisonRenderer]:
    """All formats of a comparison by name."""
    return formats_in(__name__, __path__)


def comparison_renderer(name: str) -> ComparisonRenderer:
    """The format of a name.

    Raises:
        PolicyInvalid: a comparison has no such format.
    """
    known = comparison_renderers()
    if name not in known:
        raise PolicyInvalid(
            f"--format {name}: a comparison has no such format",
            f"use one of {', '.join(sorted(known))}",
        )
    return known[name]


def comparison_renderer_for_file(name: str) -> ComparisonRenderer:
    """The format whose suffix a file name ends with, the longest match first.

    Raises:
        PolicyInvalid: a comparison has no format with this suffix.
    """
    return format_for_file(comparison_renderers(), name, "a comparison")
