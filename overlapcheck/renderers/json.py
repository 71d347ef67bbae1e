"""The report as JSON, schema number first; `reporting/schema/` holds its JSON Schema.

Everything that a renderer may read is in it, so a saved result renders again without the trace.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from overlapcheck.clean import clean
from overlapcheck.finding import Finding
from overlapcheck.report import SCHEMA, Report
from overlapcheck.verdict import Check, Verdict

_INDENT = "  "


class JsonRenderer:
    """See `Renderer`."""

    name = "json"
    suffix = ".json"
    draws_timeline = False

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        return "".join(_written(document(report), "\n")) + "\n"


def document(report: Report) -> dict[str, Any]:
    """The report as plain dictionaries, lists, texts and numbers."""
    spelt_out = {
        "schema": SCHEMA,
        "tool": {"name": "overlapcheck", "version": report.tool_version},
        "verdict": _verdict(report.verdict),
        "devices": [_saved(device) for device in report.devices],
        "findings": [_finding(finding) for finding in report.findings],
        "capture": _saved(report.capture),
    }
    spelt_out.update(_saved(report, without={*spelt_out, "tool_version"}))
    return spelt_out


def _saved(noun: Any, without: Collection[str] = ()) -> dict[str, Any]:
    """Fields of a struct, but those for memory only, which take no part in comparing."""
    return {
        field.name: plain_value(getattr(noun, field.name))
        for field in fields(noun)
        if field.compare and field.name not in without
    }


def plain_value(value: Any) -> Any:
    """A value as dictionaries, lists, cleaned texts and numbers."""
    if isinstance(value, str):
        return clean(value)
    if is_dataclass(value):
        return _saved(value)
    if isinstance(value, Mapping):
        return {clean(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted(plain_value(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    return value


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "outcome": verdict.outcome.value,
        "exit_code": int(verdict.exit_code),
        "checks": [_check(check) for check in verdict.checks],
    }


def _check(check: Check) -> dict[str, Any]:
    pid, device, host = check.device or (None, None, None)
    key = {"pid": pid, "host": host, "device": device}
    return {"name": clean(check.name), **key, **_saved(check, without=("name", "device"))}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "cause": clean(finding.cause),
        "title": clean(finding.title),
        "pid": finding.device.pid,
        "host": finding.device.host,
        "device": finding.device.device_id,
        "blamed_ns": finding.blamed.total_ns,
        "share": finding.share,
        "per_step_ns": finding.per_step_ns,
        "saves_at_most_ns": finding.saves_at_most_ns,
        "confidence": finding.confidence.value,
        "evidence": plain_value(finding.evidence),
        "advice": clean(finding.advice),
        "caveat": clean(finding.caveat),
        "source": [_saved(line) for line in finding.source],
    }


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
