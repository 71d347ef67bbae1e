"""The report as SARIF 2.1.0, the form in which code scanners exchange results.

One rule for each check and each cause that occurs. What passes is no result.
"""

from __future__ import annotations

import json
from typing import Any

from overlapcheck.finding import Finding, SourceLine
from overlapcheck.kinds import DeviceKey
from overlapcheck.renderers._plain_text import (
    MAX_EVIDENCE,
    MAX_SOURCE,
    check_text,
    cost_text,
    device_text,
    headline,
    is_material,
    judged_devices,
    key_of,
    plain,
    slug,
)
from overlapcheck.renderers._source_path import uri
from overlapcheck.report import DeviceReport, Report
from overlapcheck.verdict import Check, Outcome

MOST_RESULTS = 1000
"""Code scanning shows 5000 of an upload; a thousand are more than anybody reads."""

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Outcome.FAIL: "error", Outcome.INCONCLUSIVE: "warning", Outcome.PASS: "note"}


class SarifRenderer:
    """See `Renderer`.

    Args:
        root: folder of the repository; source files below it are named relative to it.
    """

    name = "sarif"
    suffix = ".sarif"

    def __init__(self, *, root: str = "") -> None:
        self._root = root

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        results = [*_of_checks(report), *_of_causes(report, self._root)]
        rules: dict[str, dict[str, Any]] = {}
        for rule, _ in results:
            rules.setdefault(rule["id"], rule)
        order = {name: number for number, name in enumerate(rules)}
        shown = [
            {"ruleId": rule["id"], "ruleIndex": order[rule["id"]], **result}
            for rule, result in results[:MOST_RESULTS]
        ]
        document = {
            "$schema": _SCHEMA,
            "version": "2.1.0",
            "runs": [_run(report, list(rules.values()), shown, len(results))],
        }
        return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _run(
    report: Report, rules: list[dict[str, Any]], results: list[dict[str, Any]], total: int
) -> dict[str, Any]:
    verdict = report.verdict
    driver = {"name": "overlapcheck", "version": report.tool_version, "rules": rules}
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": "overlapcheck/"},
        "invocations": [{"executionSuccessful": True, "exitCode": int(verdict.exit_code)}],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {
            "outcome": verdict.outcome.value,
            "headline": headline(report),
            "report": plain(report.capture.report),
            "resultsTotal": total,
        },
    }


_Result = tuple[dict[str, Any], dict[str, Any]]
"""A rule and a result of it."""


def _of_checks(report: Report) -> list[_Result]:
    return [
        _of_check(check, device)
        for device, checks in judged_devices(report)
        for check in checks
        if check.outcome is not Outcome.PASS
    ]


def _of_check(check: Check, device: DeviceReport | None) -> _Result:
    name = slug(check.name)
    rule = {
        "id": f"check/{name}",
        "name": name,
        "shortDescription": {"text": f"The check '{plain(check.name, 80)}' must pass."},
    }
    said = [_where(device) + check_text(check)]
    if check.settle_with:
        said.append(f"To do: {plain(check.settle_with)}")
    number = device.device if device else None
    result = {
        "level": _LEVELS[check.outcome],
        "message": {"text": _message(said)},
        "partialFingerprints": {"overlapcheck/v1": f"check/{name}/{number}"},
        "properties": {"device": number, "measured": check.measured, "limit": check.limit},
    }
    return rule, result


def _of_causes(report: Report, root: str) -> list[_Result]:
    devices = {key_of(device): device for device in report.devices}
    return [
        _of_cause(found, devices.get(found.device), _level(report, found), root)
        for found in report.findings
    ]


def _level(report: Report, found: Finding) -> str:
    if not is_material(found):
        return "note"
    return _LEVELS[report.verdict.of_device(DeviceKey(*found.device)).outcome]


def _of_cause(found: Finding, device: DeviceReport | None, level: str, root: str) -> _Result:
    name = slug(found.cause)
    advice, caveat = plain(found.advice), plain(found.caveat)
    unless = f"\nUnless {caveat}" if caveat else ""
    rule = {
        "id": f"cause/{name}",
        "name": name,
        "shortDescription": {"text": plain(found.title)},
        "help": {"text": f"{advice or plain(found.title)}{unless}"},
    }
    said = [
        f"{_where(device)}{plain(found.title)} ({found.confidence.value})",
        cost_text(found),
        *map(plain, found.evidence[:MAX_EVIDENCE]),
        *([f"Do: {advice}{unless}"] if advice else []),
    ]
    result = {
        "level": level,
        "message": {"text": _message(said)},
        "locations": [_location(place, root) for place in found.source[:MAX_SOURCE]],
        "partialFingerprints": {"overlapcheck/v1": f"cause/{name}/{found.device.device_id}"},
        "properties": {
            "device": found.device.device_id,
            "blamed_ns": found.blamed.total_ns,
            "share": found.share,
            "confidence": found.confidence.value,
        },
    }
    return rule, result


def _location(place: SourceLine, root: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri(place.file, root)}}
    if place.line > 0:
        physical["region"] = {"startLine": place.line}
    location: dict[str, Any] = {"physicalLocation": physical}
    if place.function:
        location["logicalLocations"] = [{"name": plain(place.function, 160)}]
    return location


def _message(lines: list[str]) -> str:
    """A text in which braces are no placeholder and brackets no link (SARIF 3.11.5, 3.11.6)."""
    text = "\n".join(lines).replace("{", "{{").replace("}", "}}")
    return text.replace("](", "] (")


def _where(device: DeviceReport | None) -> str:
    return f"{device_text(device)}: " if device else ""


RENDERER = SarifRenderer()
