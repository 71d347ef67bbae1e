"""The report as GitHub-flavoured Markdown: a comment on a pull request, or a job's summary."""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.device_report import CopySummary, DeviceReport
from overlapcheck.finding import Finding
from overlapcheck.quantities import bandwidth, count_of, duration, percent, size
from overlapcheck.renderers._markdown_text import (
    MARKER,
    OUTCOME_MARKS,
    bounded,
    details,
    inline,
    table,
)
from overlapcheck.renderers._plain_text import (
    MAX_EVIDENCE,
    MAX_FINDINGS,
    MAX_SOURCE,
    cost_text,
    device_text,
    findings_of,
    headline,
    judged_devices,
    key_of,
    limit_text,
    measured_text,
    origin_text,
    pace_text,
    place_text,
    window_text,
)
from overlapcheck.report import Report
from overlapcheck.verdict import Check, Outcome

MAX_CHECKS = 60
MAX_REASON = 240
_WITHIN_DEVICE = "d2d"


class MarkdownRenderer:
    """See `Renderer`."""

    name = "markdown"
    suffix = ".md"
    draws_timeline = False

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        return bounded(_blocks(report), _foot(report))


def _blocks(report: Report) -> Iterator[str]:
    outcome = report.verdict.outcome
    yield (
        f"{MARKER}\n### {OUTCOME_MARKS[outcome]} overlapcheck: {outcome.value}\n\n"
        f"{inline(headline(report))}\n"
    )
    yield _checks(report)
    yield from _to_do(report)
    for device in _worst_first(report):
        yield from _device(report, device)
    yield from _problems(report)


def _worst_first(report: Report) -> list[DeviceReport]:
    order = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS)
    return sorted(report.devices, key=lambda device: order.index(_outcome(report, device)))


def _outcome(report: Report, device: DeviceReport) -> Outcome:
    return report.verdict.of_device(key_of(device)).outcome


def _checks(report: Report) -> str:
    judged = [(device, check) for device, checks in judged_devices(report) for check in checks]
    if not judged:
        return ""
    several = len(report.devices) > 1
    judged.sort(key=lambda pair: pair[1].outcome is Outcome.PASS)
    rows = [
        [
            *([str(device.device) if device else ""] if several else []),
            inline(check.name, 80),
            measured_text(check),
            _limit(check),
            f"{OUTCOME_MARKS[check.outcome]} {check.outcome.value}",
            inline(check.reason, MAX_REASON),
        ]
        for device, check in judged[:MAX_CHECKS]
    ]
    head = [*(["device"] if several else []), "check", "measured", "limit", "result", "why"]
    text = table(head, rows, right={"measured", "limit"})
    rest = len(judged) - MAX_CHECKS
    return f"{text}\nand {count_of(rest, 'more check')}\n" if rest > 0 else text


def _limit(check: Check) -> str:
    sign = "≥" if check.at_least else "≤"
    return inline(f"{sign}{limit_text(check)[2:]}{origin_text(check)}") if limit_text(check) else ""


def _to_do(report: Report) -> Iterator[str]:
    said = [check.settle_with for check in report.verdict.checks if check.settle_with]
    if report.moved:
        yield f"- **moved thresholds** {inline(report.moved)}\n"
    if said:
        yield "".join(f"- **to do** {inline(text)}\n" for text in dict.fromkeys(said))


def _device(report: Report, device: DeviceReport) -> Iterator[str]:
    findings = findings_of(report, key_of(device))
    failed = _outcome(report, device) is not Outcome.PASS
    if len(report.devices) > 1:
        yield f"#### {OUTCOME_MARKS[_outcome(report, device)]} {inline(device_text(device))}\n"
    told = "\n".join(_cause(rank, found) for rank, found in enumerate(findings[:MAX_FINDINGS], 1))
    if told and failed:
        yield told
    elif told:
        yield details("What still costs time", told)
    yield details("Copies, idle time and window", "\n".join(_numbers(device)))


def _cause(rank: int, found: Finding) -> str:
    lines = [
        f"**{rank}. {inline(found.cause, 80)}** ({found.confidence.value}): {inline(found.title)}",
        "",
        f"- {inline(cost_text(found))}",
        *(f"- {inline(fact)}" for fact in found.evidence[:MAX_EVIDENCE]),
    ]
    if found.source:
        places = ", ".join(inline(place_text(place)) for place in found.source[:MAX_SOURCE])
        lines.append(f"- **at** {places}")
    if found.advice:
        lines.append(f"- **do** {inline(found.advice)}")
    if found.caveat:
        lines.append(f"- **unless** {inline(found.caveat)}")
    return "\n".join(lines) + "\n"


def _numbers(device: DeviceReport) -> Iterator[str]:
    yield f"Window: {inline(window_text(device))}\n"
    if pace_text(device):
        yield f"Pace: {inline(pace_text(device))}\n"
    if device.stalled_ns:
        yield f"Kernels wait for pages in {duration(device.stalled_ns)} of it.\n"
    if device.notes:
        yield "".join(f"- note: {inline(note)}\n" for note in device.notes)
    if device.copies:
        head = ["copies", "count", "size", "time", "hidden", "overlap", "ceiling", "speed"]
        rows = [_copies(name, copies) for name, copies in device.copies.items()]
        yield table([*head, "pageable"], rows, right={*head[1:], "pageable"})
    else:
        yield "No copies in the window.\n"
    if device.ledger:
        idle = f"{duration(device.idle_ns)} of {duration(device.window_ns)}"
        yield f"{idle} without compute, by cause:\n"
        window_ns = max(device.window_ns, 1)
        parts = [
            [inline(part.cause, 80), duration(part.ns), percent(part.ns / window_ns)]
            for part in device.ledger
            if part.ns > 0
        ]
        yield table(["cause", "time", "of the window"], parts, right={"time", "of the window"})
    if device.conclusion:
        yield f"{inline(device.conclusion)}\n"


def _copies(name: str, copies: CopySummary) -> list[str]:
    judged = name != _WITHIN_DEVICE
    return [
        inline(name, 20),
        str(copies.count),
        size(copies.bytes),
        duration(copies.copy_ns),
        duration(copies.hidden_ns) if judged else "-",
        percent(copies.overlap) if judged else "-",
        percent(copies.ceiling) if judged else "-",
        bandwidth(copies.bytes, copies.copy_ns) if judged else "-",
        str(copies.pageable_count),
    ]


def _problems(report: Report) -> Iterator[str]:
    said = " ".join(check.reason for check in report.verdict.checks)
    rest = [what for what in dict.fromkeys(report.capture.problems) if what not in said]
    if rest:
        yield "".join(f"- also: {inline(what)}\n" for what in rest[:MAX_FINDINGS])


def _foot(report: Report) -> str:
    capture = report.capture
    facts = [
        inline(capture.program, 200),
        inline(capture.report, 200),
        f"{inline(capture.recorder, 40)} {inline(capture.nsys_version, 40)}"
        if capture.nsys_version
        else "",
        f"overlapcheck {inline(report.tool_version, 40)}",
    ]
    return f"<sub>{' · '.join(fact for fact in facts if fact)}</sub>\n"


RENDERER = MarkdownRenderer()
