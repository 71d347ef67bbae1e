"""`FleetReport` → text: one format, one file, found by walking this folder.

They are formats of a report, with the same names and suffixes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Protocol

from overlapcheck.errors import PolicyInvalid
from overlapcheck.fleet import FleetReport
from overlapcheck.renderers import renderer_for_file
from overlapcheck.renderers._registry import formats_in


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
        PolicyInvalid: many ranks are not told in this format.
    """
    known = fleet_renderers()
    if name not in known:
        raise PolicyInvalid(
            f"--format {name}: not for several reports", f"use one of {', '.join(sorted(known))}"
        )
    return known[name]


def fleet_renderer_for_file(name: str) -> FleetRenderer:
    """The format that a file's suffix chooses, as it would for one report.

    Raises:
        PolicyInvalid: many ranks are not told in this format.
    """
    known = fleet_renderers()
    chosen = known.get(renderer_for_file(name).name)
    if chosen is None:
        suffixes = ", ".join(sorted(one.suffix for one in known.values()))
        raise PolicyInvalid(f"-o {name}: not for several reports", f"use one of {suffixes}")
    return chosen
