"""The report as JUnit XML, the form in which CI servers show tests.

One suite for each device of each process, one case for each check. A check that fails is a failure;
one that could not be judged is an error, for nothing is known about what it asks.
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from overlapcheck.finding import Finding
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
    place_text,
    plain,
    window_text,
)
from overlapcheck.report import DeviceReport, Report
from overlapcheck.verdict import Check, Outcome

_ELEMENTS = {Outcome.FAIL: "failure", Outcome.INCONCLUSIVE: "error"}
_NOTHING = Check("verdict", None, Outcome.INCONCLUSIVE, None, None, "nothing was judged")


class JunitRenderer:
    """See `Renderer`."""

    name = "junit"
    suffix = ".xml"

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        checks = report.verdict.checks
        root = Xml.Element("testsuites", {"name": "overlapcheck", **_counts(checks or (_NOTHING,))})
        for device, judged in judged_devices(report) if checks else [(None, (_NOTHING,))]:
            _suite(root, report, device, judged)
        Xml.indent(root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, "unicode") + "\n"


def _counts(checks: tuple[Check, ...]) -> dict[str, str]:
    outcomes = [check.outcome for check in checks]
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count(Outcome.FAIL)),
        "errors": str(outcomes.count(Outcome.INCONCLUSIVE)),
    }


def _suite(
    root: Xml.Element, report: Report, device: DeviceReport | None, checks: tuple[Check, ...]
) -> None:
    name = device_text(device) if device else "recording"
    suite = Xml.SubElement(root, "testsuite", {"name": name, **_counts(checks)})
    properties = Xml.SubElement(suite, "properties")
    for key, value in _properties(report, device).items():
        if value:
            Xml.SubElement(properties, "property", {"name": key, "value": plain(value)})
    findings = findings_of(report, key_of(device) if device else None)
    for check in checks:
        _case(suite, check, _class_name(report, device), findings)


def _properties(report: Report, device: DeviceReport | None) -> dict[str, str]:
    capture = report.capture
    return {
        "report": capture.report,
        "program": capture.program,
        "nsys": capture.nsys_version,
        "window": window_text(device) if device else "",
    }


def _class_name(report: Report, device: DeviceReport | None) -> str:
    """Groups the cases; the same from run to run, so that a server can keep their history."""
    if device is None:
        return "overlapcheck.recording"
    pids = sorted({other.pid for other in report.devices})
    process = f"process{pids.index(device.pid)}." if len(pids) > 1 else ""
    return f"overlapcheck.{process}device{device.device}"


def _case(suite: Xml.Element, check: Check, class_name: str, findings: list[Finding]) -> None:
    case = Xml.SubElement(suite, "testcase", {"name": plain(check.name), "classname": class_name})
    if check.outcome is Outcome.PASS:
        Xml.SubElement(case, "system-out").text = check_text(check)
        return
    attributes = {"type": check.outcome.value.lower(), "message": check_text(check)}
    Xml.SubElement(case, _ELEMENTS[check.outcome], attributes).text = _body(check, findings)


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
    lines = [f"{label:<9} {plain(text)}".rstrip() for label, text in facts if text or label == ""]
    return "\n" + "\n".join(lines) + "\n"


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
