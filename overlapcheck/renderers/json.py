"""The report as JSON, schema number first; `saved.py` says what is in it, this its layout."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from overlapcheck.report import Report

_INDENT = "  "


class JsonRenderer:
    """See `Renderer`."""

    name = "json"
    suffix = ".json"
    draws_timeline = False

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        # The codec takes longer to load than a report to show: not for other formats.
        from overlapcheck.saved import report_document

        return "".join(_written(report_document(report), "\n")) + "\n"


def _written(node: Any, newline: str) -> Iterator[str]:
    """JSON text, indented; a list of numbers stays on one line."""
    inner = newline + _INDENT
    if isinstance(node, dict) and node:
        yield "{"
        for number, (key, value) in enumerate(node.items()):
            yield f"{',' if number else ''}{inner}{_scalar(str(key))}: "
            yield from _written(value, inner)
        yield newline + "}"
    elif isinstance(node, list) and _spans_lines(node):
        yield "["
        for number, item in enumerate(node):
            yield f"{',' if number else ''}{inner}"
            yield from _written(item, inner)
        yield newline + "]"
    else:
        yield _scalar(node)


def _spans_lines(items: list[Any]) -> bool:
    if any(isinstance(item, dict | list) for item in items):
        return True
    return len(items) > 1 and all(isinstance(item, str) for item in items)


def _scalar(node: Any) -> str:
    return json.dumps(node, ensure_ascii=False, allow_nan=False)


RENDERER = JsonRenderer()
