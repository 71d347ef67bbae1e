"""The report for people: plain text of 80 columns, the verdict first and last.

What passes is told in a few lines; what fails comes with the evidence; what could not be judged
comes with what to do about it.
"""

from __future__ import annotations

from rich.text import Text

from overlapcheck.device_report import DeviceReport
from overlapcheck.kinds import DeviceKey
from overlapcheck.quantities import count_of, percent
from overlapcheck.renderers import _terminal_head as head
from overlapcheck.renderers import _terminal_tables as tables
from overlapcheck.renderers._terminal_causes import finding_lines, ledger_lines
from overlapcheck.renderers._terminal_picture import picture_lines
from overlapcheck.renderers._terminal_proved import proved_lines
from overlapcheck.renderers._terminal_text import (
    INDENT,
    clip,
    clip_middle,
    styled,
    text_of,
    width_of,
)
from overlapcheck.renderers.formats.page import columns, most, tells_all
from overlapcheck.renderers.formats.terminal import TerminalFormat
from overlapcheck.report import Report
from overlapcheck.verdict import Check, Outcome, Verdict

MAX_DEVICES = 8
"""Devices told in full; the others get a line each."""

_ORDER = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS)


class TerminalRenderer(TerminalFormat):
    """See `Renderer`."""

    draws_timeline = False

    def render(self, report: Report, /) -> str:
        """See `Renderer.render`."""
        return self.printed(lambda: _lines(report))


def _lines(report: Report) -> list[Text]:
    devices = sorted(report.devices, key=lambda device: _ORDER.index(_outcome(report, device)))
    blocks = [head.verdict_lines(report), proved_lines(report.proved)]
    if len(devices) == 1:
        blocks.append([*head.looked_at(report), *_subject(devices[0])])
    else:
        blocks.append(head.looked_at(report))
    blocks.append(head.check_lines(_checks_of_none(report)))
    for device in devices[: most(MAX_DEVICES)]:
        if len(devices) > 1:
            outcome = _outcome(report, device)
            blocks.append([head.device_rule(device, outcome), *_window_and_time(device)])
        blocks += _device(report, device, explain=device is devices[0])
    blocks.append([_in_a_line(report, device) for device in devices[most(MAX_DEVICES) :]])
    blocks.append(head.problem_lines(report))
    blocks.append(head.verdict_lines(report))
    lines: list[Text] = []
    for block in filter(None, blocks):
        lines += [text_of(), *block] if lines else block
    return lines


def _key(device: DeviceReport) -> DeviceKey:
    return device.key


def _judged(report: Report, device: DeviceReport) -> Verdict:
    return report.verdict.of_device(_key(device))


def _outcome(report: Report, device: DeviceReport) -> Outcome:
    return _judged(report, device).outcome


def _checks_of_none(report: Report) -> tuple[Check, ...]:
    """Checks that no device's table will show."""
    known = {_key(device) for device in report.devices}
    return tuple(check for check in report.verdict.checks if check.device not in known)


def _subject(device: DeviceReport) -> list[Text]:
    return [head.device_line(device), *_window_and_time(device)]


def _window_and_time(device: DeviceReport) -> list[Text]:
    return [
        *head.window_lines(device),
        *head.pace_lines(device),
        *tables.time_lines(device),
        *head.note_lines(device),
    ]


def _device(report: Report, device: DeviceReport, *, explain: bool) -> list[list[Text]]:
    """The blocks of one device, as many as its outcome deserves.

    Args:
        report: the whole.
        device: one of its devices.
        explain: whether to say what the checks mean; once in a report is enough.
    """
    verdict = _judged(report, device)
    findings = [found for found in report.findings if found.device == _key(device)]
    checks = head.check_lines(verdict.checks)
    if verdict.outcome is Outcome.FAIL or tells_all():
        return [
            checks,
            head.meaning_lines(verdict.checks) if explain else [],
            picture_lines(device.picture),
            ledger_lines(device),
            finding_lines(findings, in_full=True),
            *_evidence(device),
        ]
    told = verdict.outcome is Outcome.INCONCLUSIVE
    measured = any(check.measured is not None for check in verdict.checks)
    copies = tables.copy_line(device) + tables.migration_lines(device)
    return [
        checks,
        copies if measured else [],
        ledger_lines(device),
        finding_lines(findings, in_full=told),
    ]


def _evidence(device: DeviceReport) -> list[list[Text]]:
    return [
        tables.copy_table(device) + tables.migration_lines(device),
        tables.step_table(device.steps) if device.steps else [],
        tables.gap_table(device),
        tables.blocking_table(device),
        tables.stream_table(device),
    ]


def _in_a_line(report: Report, device: DeviceReport) -> Text:
    verdict = _judged(report, device)
    measured = [c for c in verdict.checks if c.measured is not None]
    numbers = ", ".join(f"{check.name} {percent(check.measured)}" for check in measured)
    said = numbers or count_of(len(verdict.checks), "check")
    lead = text_of(
        " " * INDENT,
        styled(f"{verdict.outcome.value:<12}", head.OUTCOME_STYLES[verdict.outcome]),
        f"  device {device.device}, {clip_middle(device.process, 20)}: ",
    )
    return text_of(lead, clip(said, max(columns() - width_of(lead), 0)))


RENDERER = TerminalRenderer()
