"""The report as JUnit XML, the form in which CI servers show tests.

One suite for each device of each process, one case for each check. A check that fails is a failure;
one that could not be judged is an error, for nothing is known about what it asks.
"""

from __future__ import annotations

from overlapcheck.device_report import DeviceReport
from overlapcheck.finding import Finding
from overlapcheck.renderers._junit_document import Case, Suite, junit_text, lines_of
from overlapcheck.renderers._plain_text import (
    MAX_EVIDENCE,
    MAX_SOURCE,
    check_text,
    cost_text,
    device_text,
    findings_of,
    judged_devices,
    key_of,
    limit_text,
    measured_text,
    origin_text,
    pace_text,
    place_text,
    plain,
    window_text,
)
from overlapcheck.report import Report
from overlapcheck.verdict import Check, Outcome

_ELEMENTS = {Outcome.FAIL: "failure", Outcome.INCONCLUSIVE: "error"}
_NOTHING = Check("verdict", None, Outcome.INCONCLUSIVE, None, None, "nothing was judged")


class JunitRenderer:
    """See `Renderer`."""

    name = "junit"
    suffix = ".xml"
    draws_timeline = False

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        judged = judged_devices(report) if report.verdict.checks else [(None, (_NOTHING,))]
        return junit_text("overlapcheck", [_suite(report, *one) for one in judged])


def _suite(report: Report, device: DeviceReport | None, checks: tuple[Check, ...]) -> Suite:
    findings = findings_of(report, key_of(device) if device else None)
    return Suite(
        device_text(device) if device else "recording",
        _properties(report, device),
        [_case(check, _class_name(report, device), findings) for check in checks],
    )


def _properties(report: Report, device: DeviceReport | None) -> dict[str, str]:
    capture = report.capture
    return {
        "report": capture.report,
        "program": capture.program,
        capture.recorder or "recorder": capture.nsys_version,
        "window": window_text(device) if device else "",
        "moved thresholds": report.moved,
        "pace": pace_text(device) if device else "",
        "basis": report.verdict.basis.value,
    }


def _class_name(report: Report, device: DeviceReport | None) -> str:
    if device is None:
        return "overlapcheck.recording"
    processes = sorted({other.key.process for other in report.devices})
    process = f"process{processes.index(device.key.process)}." if len(processes) > 1 else ""
    return f"overlapcheck.{process}device{device.device}"


def _case(check: Check, class_name: str, findings: list[Finding]) -> Case:
    if check.outcome is Outcome.PASS:
        return Case(check.name, class_name, check_text(check))
    return Case(
        check.name,
        class_name,
        check_text(check),
        _ELEMENTS[check.outcome],
        check.outcome.value.lower(),
        _body(check, findings),
    )


def _body(check: Check, findings: list[Finding]) -> str:
    facts = [
        ("measured", measured_text(check)),
        ("limit", limit_text(check) + origin_text(check)),
        ("reason", check.reason),
        ("to do", check.settle_with),
    ]
    if check.outcome is Outcome.FAIL and findings:
        first, *others = findings
        facts += [("", ""), *_cause(first)]
        facts.append(("also", ", ".join(plain(found.cause, 40) for found in others)))
    return lines_of(facts)


def _cause(found: Finding) -> list[tuple[str, str]]:
    return [
        ("cause", f"{found.cause} ({found.confidence.value}): {found.title}"),
        ("costs", cost_text(found)),
        *(("evidence", fact) for fact in found.evidence[:MAX_EVIDENCE]),
        *(("at", place_text(place)) for place in found.source[:MAX_SOURCE]),
        ("do", found.advice),
        ("unless", found.caveat),
    ]


RENDERER = JunitRenderer()
