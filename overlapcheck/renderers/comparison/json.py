"""A comparison as JSON, schema number first."""

from __future__ import annotations

import json

from overlapcheck.comparison import Comparison


class ComparisonJson:
    """See `ComparisonRenderer`."""

    name = "json"
    suffix = ".json"

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        from overlapcheck.saved import comparison_document

        return json.dumps(comparison_document(comparison), indent=2, allow_nan=False) + "\n"


RENDERER = ComparisonJson()
