"""The report as SARIF 2.1.0, the form in which code scanners exchange results.

One rule for each check and each cause that occurs. What passes is no result.
"""

from __future__ import annotations

from overlapcheck.device_report import DeviceReport
from overlapcheck.finding import Finding
from overlapcheck.kinds import DeviceKey
from overlapcheck.renderers._plain_text import (
    MAX_EVIDENCE,
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
from overlapcheck.renderers._sarif_document import (
    Result,
    Run,
    advice_text,
    cause_rule,
    locations,
    message,
    sarif_text,
)
from overlapcheck.renderers.formats.rooted import RootedFormat
from overlapcheck.report import Report
from overlapcheck.verdict import Check, Outcome

_LEVELS = {Outcome.FAIL: "error", Outcome.INCONCLUSIVE: "warning", Outcome.PASS: "note"}


class SarifRenderer(RootedFormat):
    """See `Renderer`."""

    name = "sarif"
    suffix = ".sarif"
    draws_timeline = False

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        run = Run(
            tool_version=report.tool_version,
            category="overlapcheck/",
            exit_code=int(report.verdict.exit_code),
            results=[*_of_checks(report), *_of_causes(report, self._root)],
            properties={
                "outcome": report.verdict.outcome.value,
                "headline": headline(report),
                "basis": report.verdict.basis.value,
                "report": plain(report.capture.report),
                **({"thresholds": dict(report.thresholds)} if report.thresholds else {}),
            },
        )
        return sarif_text(run)


def _of_checks(report: Report) -> list[Result]:
    return [
        _of_check(check, device)
        for device, checks in judged_devices(report)
        for check in checks
        if check.outcome is not Outcome.PASS
    ]


def _of_check(check: Check, device: DeviceReport | None) -> Result:
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
        "message": message(said),
        "partialFingerprints": {"overlapcheck/v1": f"check/{name}/{number}"},
        "properties": {"device": number, "measured": check.measured, "limit": check.limit},
    }
    return rule, result


def _of_causes(report: Report, root: str) -> list[Result]:
    devices = {key_of(device): device for device in report.devices}
    return [
        _of_cause(found, devices.get(found.device), _level(report, found), root)
        for found in report.findings
    ]


def _level(report: Report, found: Finding) -> str:
    if not is_material(found):
        return "note"
    return _LEVELS[report.verdict.of_device(DeviceKey(*found.device)).outcome]


def _of_cause(found: Finding, device: DeviceReport | None, level: str, root: str) -> Result:
    name = slug(found.cause)
    advice, caveat = plain(found.advice), plain(found.caveat)
    rule = cause_rule(name, plain(found.title), advice, caveat)
    said = [
        f"{_where(device)}{plain(found.title)} ({found.confidence.value})",
        cost_text(found),
        *map(plain, found.evidence[:MAX_EVIDENCE]),
        *([f"Do: {advice_text(advice, caveat)}"] if advice else []),
    ]
    result = {
        "level": level,
        "message": message(said),
        "locations": locations(found.source, root),
        "partialFingerprints": {"overlapcheck/v1": f"cause/{name}/{found.device.device_id}"},
        "properties": {
            "device": found.device.device_id,
            "blamed_ns": found.blamed.total_ns,
            "share": found.share,
            "confidence": found.confidence.value,
        },
    }
    return rule, result


def _where(device: DeviceReport | None) -> str:
    return f"{device_text(device)}: " if device else ""


RENDERER = SarifRenderer()
