"""Sentences that the formats for machines and web pages share: cleaned, bounded, unwrapped."""

from __future__ import annotations

from overlapcheck.clean import clean
from overlapcheck.device_report import DeviceReport
from overlapcheck.finding import MATERIAL_SHARE, Finding, SourceLine
from overlapcheck.kinds import DeviceKey
from overlapcheck.quantities import count_of, percent, percent_beside
from overlapcheck.renderers._terminal_head import device_title, is_of_order, window_lines
from overlapcheck.renderers._terminal_text import ELLIPSIS
from overlapcheck.renderers._window_words import at_pace
from overlapcheck.report import Report
from overlapcheck.verdict import DEFAULT, Check, Outcome

MAX_TEXT = 600
"""Characters of one text from a trace; names of template kernels can be a page long."""
MAX_EVIDENCE = 4
MAX_FINDINGS = 5
"""Causes of one device that are told; the others cost less."""
MAX_SOURCE = 3
MAX_NAMES = 6
"""Checks that a headline names."""


def plain(text: str, most: int = MAX_TEXT) -> str:
    """A text without line breaks and control characters, cut in the middle where too long."""
    text = " ".join(clean(text).split())
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return text[: most - 1 - tail] + ELLIPSIS + text[-tail:]


def headline(report: Report) -> str:
    """What stands behind the verdict: "2 of 3 checks failed: overlap h2d, recoverable".

    A failure that may be the recording's says so first, and what settles it.
    """
    said, how = _behind(report), report.verdict.settle_with
    return f"as recorded (to settle it: {plain(how)}): {said}" if how else said


def _behind(report: Report) -> str:
    outcome, checks = report.verdict.outcome, report.verdict.checks
    behind = [check for check in checks if check.outcome is outcome]
    if outcome is Outcome.PASS:
        said = f"all {len(checks)} checks passed" if len(checks) > 1 else "the one check passed"
        return said + at_pace(report)
    if outcome is Outcome.INCONCLUSIVE:
        return plain(behind[0].reason) if behind else "nothing was recorded"
    several = len(report.devices) > 1
    names = list(dict.fromkeys(_name(check, several) for check in behind))
    rest = [f"{len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else []
    said = ", ".join([*names[:MAX_NAMES], *rest])
    first = report.findings[0] if report.findings else None
    cause = f"; first cause: {plain(first.cause, 80)}" if first and is_material(first) else ""
    if all(map(is_of_order, behind)):
        cause = f": {plain(behind[0].reason)}"
    return (
        f"{len(behind)} of {count_of(len(checks), 'check')} failed{at_pace(report)}: {said}{cause}"
    )


def _name(check: Check, several: bool) -> str:
    where = f" on device {check.device.device_id}" if several and check.device else ""
    return f"{plain(check.name, 80)}{where}"


def key_of(device: DeviceReport) -> DeviceKey:
    """The key by which checks and findings refer to a device."""
    return device.key


def device_text(device: DeviceReport) -> str:
    """Number, product and process: "device 0, NVIDIA H200, process python3 (1527)"."""
    return plain(f"device {device_title(device)}")


def window_text(device: DeviceReport) -> str:
    """Which part of the trace was judged, and why this part."""
    return plain(" ".join(line.plain for line in window_lines(device)).strip()[len("window") :])


def pace_text(device: DeviceReport) -> str:
    """How long a step took, and how long it takes when nothing records; "" where nobody asked."""
    return plain(device.pace.told) if device.pace else ""


def measured_text(check: Check) -> str:
    """What was measured; "" where nothing was."""
    missed = check.limit if check.outcome is Outcome.FAIL else None
    return "" if check.measured is None else percent_beside(check.measured, missed)


def limit_text(check: Check) -> str:
    """What was asked for: ">= 80.0 %"; "" where there is no number to meet."""
    if check.limit is None:
        return ""
    return f"{'>=' if check.at_least else '<='} {percent(check.limit)}"


def origin_text(check: Check) -> str:
    """Where the limit was set, unless by nobody: " (--min-overlap)"."""
    told = check.limit is not None and check.limit_from not in ("", DEFAULT)
    return f" ({plain(check.limit_from, 160)})" if told else ""


def check_text(check: Check) -> str:
    """One sentence: "overlap h2d is 78.8 %, limit >= 80.0 %: pageable copies get no relief"."""
    measured, limit = measured_text(check), limit_text(check)
    said = f" is {measured}" if measured else ""
    asked = f", limit {limit}" if measured and limit else ""
    return plain(f"{check.name}{said}{asked}: {check.reason}")


def slug(name: str) -> str:
    """A check's name as an identifier: "overlap-h2d"."""
    return "-".join(plain(name, 80).split())


def cost_text(found: Finding) -> str:
    """What a cause costs and what removing it wins."""
    return f"{found.cost_text}, {percent(found.share)} of the window; {removing_text(found)}"


def removing_text(found: Finding) -> str:
    """What repairing it is predicted to win; where that is not known, the most it can save."""
    if found.predicted is not None:
        return found.predicted.text
    return f"removing it saves at most {found.saving_text}"


def place_text(place: SourceLine) -> str:
    """A place in the program: "train.py:104 (prefetch)"."""
    line = f":{place.line}" if place.line > 0 else ""
    function = f" ({plain(place.function, 80)})" if place.function else ""
    return f"{plain(place.file, 160)}{line}{function}"


def findings_of(report: Report, key: DeviceKey | None) -> list[Finding]:
    """The causes of one device that are worth naming, costliest first."""
    return [found for found in report.findings if found.device == key and is_material(found)]


def is_material(found: Finding) -> bool:
    """Whether a cause costs enough to be called one."""
    return found.share >= MATERIAL_SHARE


def judged_devices(report: Report) -> list[tuple[DeviceReport | None, tuple[Check, ...]]]:
    """Each device with its checks; last, with None, the checks that concern no device."""
    known = {key_of(device) for device in report.devices}
    rest = tuple(check for check in report.verdict.checks if check.device not in known)
    judged: list[tuple[DeviceReport | None, tuple[Check, ...]]] = [
        (device, report.verdict.of_device(key_of(device)).checks) for device in report.devices
    ]
    return [*judged, (None, rest)] if rest else judged
