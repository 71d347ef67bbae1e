"""`StreamReport` → text: one format, one file, found by walking this folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from overlapcheck.errors import PolicyInvalid
from overlapcheck.renderers.formats.registry import format_for_file, formats_in
from overlapcheck.stream_report import StreamReport


class StreamRenderer(Protocol):
    """What each file of this folder offers as `RENDERER`."""

    name: str
    """Value of --format."""
    suffix: str
    """File-name ending that chooses it."""

    def render(self, report: StreamReport, /) -> str:
        """The whole text, ending in a newline."""
        ...


@cache
def stream_renderers() -> Mapping[str, StreamRenderer]:
    """All formats by name."""
    return formats_in(__name__, __path__)


def stream_renderer(name: str) -> StreamRenderer:
    """The format of a name.

    Raises:
        PolicyInvalid: streams have no such format.
    """
    known = stream_renderers()
    if name not in known:
        raise PolicyInvalid(
            f"--format {name}: streams have no such format",
            f"use one of {', '.join(sorted(known))}",
        )
    return known[name]


def stream_renderer_for_file(name: str) -> StreamRenderer:
    """The format whose suffix a file name ends with.

    Raises:
        PolicyInvalid: streams have no format with this suffix.
    """
    return format_for_file(stream_renderers(), name, "streams")
