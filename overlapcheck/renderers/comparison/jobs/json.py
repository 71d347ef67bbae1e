"""A comparison of jobs as JSON, schema number first; a line per rank."""

from __future__ import annotations

import json
from typing import Any

from overlapcheck.fleet_comparison import FleetComparison


class FleetComparisonJson:
    """See `FleetComparisonRenderer`."""

    name = "json"
    suffix = ".json"

    def render(self, found: FleetComparison, /) -> str:
        """See `FleetComparisonRenderer.render`."""
        from overlapcheck.saved import fleet_comparison_document

        document = fleet_comparison_document(found)
        members = (f"  {_text(key)}: {_lines(value)}" for key, value in document.items())
        return "{\n" + ",\n".join(members) + "\n}\n"


def _lines(value: Any) -> str:
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return _text(value)
    return "[\n" + ",\n".join(f"    {_text(item)}" for item in value) + "\n  ]"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


RENDERER = FleetComparisonJson()
