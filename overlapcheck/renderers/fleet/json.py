"""The fleet report as JSON: one line per rank, lists of what matters beside them."""

from __future__ import annotations

import json
from typing import Any

from overlapcheck.fleet import FleetReport


class FleetJson:
    """See `FleetRenderer`; the text is the same for the same reports, wherever they ran."""

    name = "json"
    suffix = ".json"

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        from overlapcheck.saved import fleet_document

        members = (
            f"  {_text(key)}: {_lines(value)}" for key, value in fleet_document(report).items()
        )
        return "{\n" + ",\n".join(members) + "\n}\n"


def _lines(value: Any) -> str:
    """JSON text; a list of objects has one line per object."""
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return _text(value)
    return "[\n" + ",\n".join(f"    {_text(item)}" for item in value) + "\n  ]"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


RENDERER = FleetJson()
