"""`SeparateReports` → text: one format, one file, found by walking this folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from overlapcheck.errors import PolicyInvalid
from overlapcheck.renderers.formats.registry import format_for_file, formats_in
from overlapcheck.separate import SeparateReports


class SeparateRenderer(Protocol):
    """What each file of this folder offers as `RENDERER`."""

    name: str
    """Value of --format."""
    suffix: str
    """File-name ending that chooses it."""

    def render(self, found: SeparateReports, /) -> str:
        """The whole text, ending in a newline."""
        ...


@cache
def separate_renderers() -> Mapping[str, SeparateRenderer]:
    """All formats by name."""
    return formats_in(__name__, __path__)


def separate_renderer(name: str) -> SeparateRenderer:
    """The format of a name.

    Raises:
        PolicyInvalid: reports judged each alone have no such format.
    """
    known = separate_renderers()
    if name not in known:
        raise PolicyInvalid(
            f"--format {name}: --each has no such format", f"use one of {', '.join(sorted(known))}"
        )
    return known[name]


def separate_renderer_for_file(name: str) -> SeparateRenderer:
    """The format whose suffix a file name ends with.

    Raises:
        PolicyInvalid: reports judged each alone have no format with this suffix.
    """
    return format_for_file(separate_renderers(), name, "--each")
