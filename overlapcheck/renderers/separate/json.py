"""Reports judged each alone as JSON, schema number first; a line per report."""

from __future__ import annotations

import json

from overlapcheck.separate import SeparateReports


class SeparateJson:
    """See `SeparateRenderer`."""

    name = "json"
    suffix = ".json"

    def render(self, found: SeparateReports, /) -> str:
        """See `SeparateRenderer.render`."""
        from overlapcheck.saved import separate_document

        document = separate_document(found)
        reports = ",\n".join(f"    {_text(one)}" for one in document.pop("reports"))
        members = [f"  {_text(key)}: {_text(value)}" for key, value in document.items()]
        return "{\n" + ",\n".join([*members, f'  "reports": [\n{reports}\n  ]']) + "\n}\n"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


RENDERER = SeparateJson()
