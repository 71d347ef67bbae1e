"""The report as JSON, schema number first; the README documents the fields."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from overlapcheck.finding import Finding
from overlapcheck.report import SCHEMA, DeviceReport, Report
from overlapcheck.verdict import Check, Verdict


class JsonRenderer:
    """See `Renderer`."""

    name = "json"
    suffix = ".json"

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        document = {
            "schema": SCHEMA,
            "tool": {"name": "overlapcheck", "version": report.tool_version},
            "verdict": _verdict(report.verdict),
            "devices": [_device(device) for device in report.devices],
            "findings": [_finding(finding) for finding in report.findings],
            "capture": asdict(report.capture),
        }
        return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "outcome": verdict.outcome.value,
        "exit_code": int(verdict.exit_code),
        "checks": [_check(check) for check in verdict.checks],
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "pid": check.device.pid if check.device else None,
        "device": check.device.device_id if check.device else None,
        "outcome": check.outcome.value,
        "measured": check.measured,
        "limit": check.limit,
        "at_least": check.at_least,
        "reason": check.reason,
        "settle_with": check.settle_with,
    }


def _device(device: DeviceReport) -> dict[str, Any]:
    fields = asdict(device)
    del fields["picture"]  # drawn from the rest, and only good for a terminal
    return fields


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "cause": finding.cause,
        "title": finding.title,
        "pid": finding.device.pid,
        "device": finding.device.device_id,
        "blamed_ns": finding.blamed.total_ns,
        "share": finding.share,
        "per_step_ns": finding.per_step_ns,
        "saves_at_most_ns": finding.saves_at_most_ns,
        "confidence": finding.confidence.value,
        "evidence": list(finding.evidence),
        "advice": finding.advice,
        "caveat": finding.caveat,
        "source": [asdict(line) for line in finding.source],
    }


RENDERER = JsonRenderer()
