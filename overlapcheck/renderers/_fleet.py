"""`FleetReport` → text, in the formats that many ranks can be told in."""

from __future__ import annotations

from collections.abc import Callable

from overlapcheck.errors import PolicyInvalid
from overlapcheck.fleet import FleetReport
from overlapcheck.renderers._fleet_html import fleet_html
from overlapcheck.renderers._fleet_json import fleet_json
from overlapcheck.renderers._fleet_terminal import fleet_text

FleetRenderer = Callable[[FleetReport], str]
_BY_NAME: dict[str, FleetRenderer] = {
    "terminal": fleet_text,
    "json": fleet_json,
    "html": fleet_html,
}
_BY_SUFFIX: dict[str, FleetRenderer] = {
    ".txt": fleet_text,
    ".json": fleet_json,
    ".html": fleet_html,
}


def fleet_renderer(name: str) -> FleetRenderer:
    """The renderer of a format.

    Raises:
        PolicyInvalid: many ranks are not told in this format.
    """
    if name not in _BY_NAME:
        raise PolicyInvalid(
            f"--format {name}: not for several reports", f"use one of {', '.join(_BY_NAME)}"
        )
    return _BY_NAME[name]


def fleet_renderer_for_file(name: str) -> FleetRenderer:
    """The renderer that a file's suffix chooses.

    Raises:
        PolicyInvalid: many ranks are not told in this format.
    """
    suffix = next((s for s in _BY_SUFFIX if name.lower().endswith(s)), None)
    if suffix is None or name.lower().endswith((".perfetto.json", ".github.txt")):
        raise PolicyInvalid(
            f"-o {name}: not for several reports", f"use one of {', '.join(_BY_SUFFIX)}"
        )
    return _BY_SUFFIX[suffix]
