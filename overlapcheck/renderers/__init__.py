"""`Report` → text: one format, one file, found by walking this folder.

A renderer formats and does not compute: whatever it shows is in the report already. To add one, add
a file with a `RENDERER`; `--format` and the suffix of `-o` know it at once.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import Protocol

from overlapcheck.errors import PolicyInvalid
from overlapcheck.report import Report


class Renderer(Protocol):
    """What each file of this folder offers as `RENDERER`."""

    name: str
    """Value of --format."""
    suffix: str
    """File-name ending that chooses it."""

    def render(self, report: Report, /) -> str:
        """The whole text, ending in a newline."""
        ...


@cache
def renderers() -> dict[str, Renderer]:
    """All renderers by name."""
    modules = (
        import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
        if not found.name.startswith("_")
    )
    return {module.RENDERER.name: module.RENDERER for module in modules}


def renderer_for_file(name: str) -> Renderer:
    """The renderer whose suffix a file name ends with, the longest match first.

    Raises:
        PolicyInvalid: no format has this suffix.
    """
    for renderer in sorted(renderers().values(), key=lambda r: -len(r.suffix)):
        if name.lower().endswith(renderer.suffix):
            return renderer
    known = ", ".join(sorted(renderer.suffix for renderer in renderers().values()))
    raise PolicyInvalid(f"-o {name}: no format has this suffix", f"use one of {known}")
