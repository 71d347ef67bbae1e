"""The upper part of a report: verdict line, what was looked at, and the checks."""

from __future__ import annotations

from rich.text import Text

from overlapcheck.device_report import DeviceReport, WindowSummary
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.quantities import count_of, duration, percent, percent_beside
from overlapcheck.renderers._terminal_text import (
    BOLD,
    DIM,
    INDENT,
    Cell,
    clip,
    clip_middle,
    paragraph,
    styled,
    text_of,
    width_of,
    wrap,
)
from overlapcheck.renderers._window_words import at_pace, part_without_steps
from overlapcheck.renderers.formats.page import columns, most, tells_a_line
from overlapcheck.report import Report
from overlapcheck.verdict import DEFAULT, Check, Outcome

OUTCOME_STYLES = {
    Outcome.PASS: "bold green",
    Outcome.FAIL: "bold red",
    Outcome.INCONCLUSIVE: "bold yellow",
}
MAX_PROBLEMS = 3
_BESIDE_NAME = 47
"""Columns of a check's numbers, its mark, and a reason of two words."""
MAX_NAME = 30
"""Columns of a check's name; that of a range may be long."""

_LABEL = 9
"""Columns of "program  ", "device   " ..."""
_MARKS = {Outcome.PASS: "ok", Outcome.FAIL: "FAIL", Outcome.INCONCLUSIVE: "?"}
_MEANINGS = (
    ("overlap", "copy time that ran under kernels (ceiling: the most that could)"),
    ("recoverable", "time that perfect overlap could win back at most"),
    ("idle", "time in which no kernel computed"),
    ("exposed comm", "time in which collectives ran and no kernel computed"),
    ("copies", "whether there were copies to judge at all"),
    ("sanitizer", "what PyTorch's own sanitizer says, in a run of its own"),
    ("streams", "whether streams wait for each other as was agreed on"),
)


def verdict_lines(report: Report) -> list[Text]:
    """The answer: outcome, and which checks stand behind it, in one line.

    A failure that may be the recording's says so first, and what settles it.
    """
    if not report.verdict.settle_with or tells_a_line():
        return [verdict_line(report)]
    mark = _mark_of(report)
    how = report.verdict.settle_with.split(" (")[0]
    said = clip(f"as recorded; to settle it: {how}", columns() - width_of(mark) - 2)
    return [text_of(mark, "  ", said), verdict_line(report)]


def _mark_of(report: Report) -> Text:
    outcome = report.verdict.outcome
    return styled(outcome.value, OUTCOME_STYLES[outcome])


def verdict_line(report: Report) -> Text:
    """Outcome, and which checks stand behind it."""
    outcome = report.verdict.outcome
    checks = report.verdict.checks
    behind = [check for check in checks if check.outcome is outcome]
    pace, cause = at_pace(report), ""
    if outcome is Outcome.PASS:
        said = f"all {len(checks)} checks passed" if len(checks) > 1 else "the one check passed"
        said += pace
    elif outcome is Outcome.INCONCLUSIVE:
        said = behind[0].reason.split(" (")[0] if behind else "nothing was recorded"
    else:
        of = f"{len(behind)} of {count_of(len(checks), 'check')}"
        cause = "" if all(map(is_of_order, behind)) else _first_cause(report)
        said = f"{of} failed{pace}: {_names(behind, report)}"
    mark = _mark_of(report)
    # Where room is short, the cause is worth more than the last of the checks.
    room = columns() - width_of(mark) - 2 - len(cause)
    return text_of(mark, "  ", clip(said, room), cause)


def _names(checks: list[Check], report: Report) -> str:
    several = len(report.devices) > 1
    where = {check.device for check in checks}
    one = where.pop() if several and len(where) == 1 else None
    if one is not None:
        names = ", ".join(dict.fromkeys(check.name for check in checks))
        return f"{names} on device {one.device_id}"
    said = []
    for name in dict.fromkeys(check.name for check in checks):
        devices = [
            check.device.device_id for check in checks if check.name == name and check.device
        ]
        if not several or not devices:
            said.append(name)
        elif len(devices) == 1:
            said.append(f"{name} on device {devices[0]}")
        else:
            said.append(f"{name} on {len(devices)} devices")
    return ", ".join(said)


def is_of_order(check: Check) -> bool:
    """Whether a check is of what waits for what: that costs no time, which causes are about."""
    return check.name in ("streams", "sanitizer")


def _first_cause(report: Report) -> str:
    if report.verdict.outcome is not Outcome.FAIL or not report.findings:
        return ""
    first = report.findings[0]
    return f"; first cause: {first.cause}" if first.share >= MATERIAL_SHARE else ""


def looked_at(report: Report) -> list[Text]:
    """The recording: program, file and versions; identical for all devices."""
    capture = report.capture
    versions = [capture.recorded_by]
    if capture.driver_version:
        versions.append(f"driver {capture.driver_version}")
    lines = []
    if capture.program:
        lines.append(_fact("program", capture.program))
    versions_text = f"  ({', '.join(versions)})"
    room = max(columns() - INDENT - _LABEL - width_of(versions_text), 12)
    lines.append(_fact("report", clip_middle(capture.report, room) + versions_text))
    if capture.environment and report.verdict.outcome is not Outcome.PASS:
        said = " ".join(f"{name}={value}" for name, value in capture.environment.items())
        lines.append(_fact("set", said))
    if report.moved:
        lines.append(_fact("moved", f"thresholds {report.moved}"))
    return lines


def _fact(label: str, text: str) -> Text:
    return text_of(
        " " * INDENT,
        styled(label.ljust(_LABEL), DIM),
        clip_middle(text, columns() - INDENT - _LABEL),
    )


def device_line(device: DeviceReport) -> Text:
    """Which device of which process."""
    return _fact("device", device_title(device))


def device_title(device: DeviceReport) -> str:
    """Number, product and process of a device."""
    name = f", {clip_middle(device.name, 36)}" if device.name else ""
    process = clip_middle(device.process.removeprefix("process "), 24)
    return f"{device.device}{name}, process {process}"


def device_rule(device: DeviceReport, outcome: Outcome) -> Text:
    """Heading of one device among several."""
    line = text_of("── ", styled(outcome.value, OUTCOME_STYLES[outcome]), "  ")
    title = clip_middle(f"device {device_title(device)}", columns() - width_of(line) - 3)
    line.append_text(text_of(styled(title, BOLD), " "))
    return text_of(line, "─" * (columns() - width_of(line)))


def window_lines(device: DeviceReport) -> list[Text]:
    """Which part of the trace was judged, and why this part."""
    window = device.window
    text = f"{_window_part(window)}, {duration(device.window_ns)}; {window.why}"
    return paragraph(styled("window", DIM), text, hang=_LABEL)


def _window_part(window: WindowSummary) -> str:
    if window.steps:
        family = f" of '{clip_middle(window.step_family, 30)}'" if window.step_family else ""
        return f"{window.steps_text}{family}"
    return part_without_steps(window.source)


def pace_lines(device: DeviceReport) -> list[Text]:
    """How long a step took, and how long it takes when nothing records."""
    if device.pace is None or not device.pace.told:
        return []
    return paragraph(styled("pace", DIM), device.pace.told, hang=_LABEL)


def note_lines(device: DeviceReport) -> list[Text]:
    """What else to know of a device, a paragraph each."""
    return [
        line for note in device.notes for line in paragraph(styled("note", DIM), note, hang=_LABEL)
    ]


def check_lines(checks: tuple[Check, ...]) -> list[Text]:
    """The checks as a table, with what to do under those that could not be judged."""
    if not checks:
        return []
    most_name = min(MAX_NAME, columns() - _BESIDE_NAME)
    name_width = max(len("check"), *(width_of(clip(check.name, most_name)) for check in checks))
    head = f"{'check':<{name_width}}  {'measured':>9}  {'limit':>10}"
    lines = [text_of(" " * INDENT, styled(head, BOLD))]
    for check in checks:
        lines += _check(check, name_width)
    return lines


def _check(check: Check, name_width: int) -> list[Text]:
    name = clip(check.name, name_width)
    measured, limit = _numbers(check)
    row: list[Cell] = [
        " " * INDENT + name + " " * (name_width - width_of(name)),
        f"  {measured:>9}  {limit:>10}  ",
        styled(f"{_mark(check):<4}", OUTCOME_STYLES[check.outcome]),
        "  ",
    ]
    column = sum(map(width_of, row))
    reason = check.reason + _origin(check)
    beside = wrap(reason, columns() - column)
    if len(beside) > 2:
        # A long reason reads better below, in the full width, than in a narrow column.
        lines = [text_of(*row), *_below("", reason)]
    else:
        lines = [text_of(*row, beside[0]), *(text_of(" " * column, more) for more in beside[1:])]
    if check.settle_with:
        lines += _below("what to do: ", check.settle_with)
    return lines


def _origin(check: Check) -> str:
    """Where the limit was set, unless by nobody."""
    judged = check.measured is not None or check.outcome is not Outcome.INCONCLUSIVE
    return f" ({check.limit_from})" if judged and check.limit_from != DEFAULT else ""


def _numbers(check: Check) -> tuple[str, str]:
    if check.limit is None or check.measured is None:
        measured = percent(check.measured) if check.measured is not None else ""
        return measured, _limit(check, percent(check.limit)) if check.limit is not None else ""
    missed = check.limit if check.outcome is Outcome.FAIL else None
    return percent_beside(check.measured, missed), _limit(check, percent(check.limit))


def _limit(check: Check, limit: str) -> str:
    return f"{'>=' if check.at_least else '<='} {limit:>7}"


def _mark(check: Check) -> str:
    return "n/a" if check.too_small else _MARKS[check.outcome]


def _below(label: str, text: str) -> list[Text]:
    indent = INDENT + 4
    lines = wrap(label + text, columns() - indent)
    return [text_of(" " * indent, line) for line in lines]


def meaning_lines(checks: tuple[Check, ...]) -> list[Text]:
    """What the names of the checks mean, for those who see them for the first time."""
    lines: list[Text] = []
    used = [
        (word, meaning)
        for word, meaning in _MEANINGS
        if any(check.name.startswith(word) for check in checks)
    ]
    hang = max((len(word) for word, _ in used), default=0) + 2
    for word, meaning in used:
        lines += paragraph(word, meaning, hang=hang)
    for line in lines:
        line.stylize(DIM)
    return lines


def problem_lines(report: Report) -> list[Text]:
    """Faults of the recording that no check's reason has named yet."""
    said = " ".join(check.reason for check in report.verdict.checks)
    rest = [what for what in dict.fromkeys(report.capture.problems) if what not in said]
    lines: list[Text] = []
    for what in rest[: most(MAX_PROBLEMS)]:
        lines += paragraph("also", what, hang=_LABEL)
    if len(rest) > most(MAX_PROBLEMS):
        lines += paragraph(
            "also", f"{len(rest) - most(MAX_PROBLEMS)} more faults (see --format json)"
        )
    return lines
