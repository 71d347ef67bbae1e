"""The fleet report as JSON: one line per rank, lists of what matters beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from overlapcheck.clean import clean
from overlapcheck.fleet import FLEET_SCHEMA, FleetReport, RankRow


class FleetJson:
    """See `FleetRenderer`; the text is the same for the same reports, wherever they ran."""

    name = "json"
    suffix = ".json"

    def render(self, report: FleetReport, /) -> str:
        """See `FleetRenderer.render`."""
        return _document(report)


def _document(report: FleetReport) -> str:
    head = {
        "fleet_schema": FLEET_SCHEMA,
        "tool": {"name": "overlapcheck", "version": report.tool_version},
        "verdict": {"outcome": report.outcome.value, "exit_code": int(report.exit_code)},
        "reports": report.reports,
        "hosts": report.hosts,
        "settings": _plain(report.settings),
        "notes": _plain(report.notes),
        "missing": _plain(report.missing),
    }
    lists: dict[str, Iterable[Any]] = {
        "checks": report.checks,
        "stragglers": report.stragglers,
        "outliers": report.outliers,
        "causes": report.causes,
        "meetings": report.meetings,
        "lost": report.lost,
        "pages": report.pages,
    }
    totals = {
        "stragglers_total": report.stragglers_total,
        "outliers_total": report.outliers_total,
        "meetings_total": report.meetings_total,
    }
    parts = [f"  {_text(key)}: {_text(value)}" for key, value in (head | totals).items()]
    parts += [_lines(key, map(_plain, items)) for key, items in lists.items()]
    parts.append(_lines("ranks", map(_row, report.rows)))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _row(row: RankRow) -> dict[str, Any]:
    spelt_out = {
        "rank": clean(row.label),
        "outcome": row.outcome.value,
        "checks": {
            clean(check.name): [check.outcome.value, check.measured] for check in row.checks
        },
        "causes": {clean(cause.cause): _rounded(cause.share) for cause in row.causes},
    }
    rest = {
        f.name: _plain(getattr(row, f.name))
        for f in fields(row)
        if f.name not in (*spelt_out, "label")
    }
    return spelt_out | rest


def _rounded(share: float) -> float:
    return round(share, 6)


def _lines(key: str, items: Iterable[Any]) -> str:
    """A list of one line per item."""
    lines = [f"    {_text(item)}" for item in items]
    return f"  {_text(key)}: [\n" + ",\n".join(lines) + "\n  ]" if lines else f"  {_text(key)}: []"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return clean(value)
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {clean(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


RENDERER = FleetJson()
