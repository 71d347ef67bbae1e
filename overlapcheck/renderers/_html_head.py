"""The upper part of the page: the answer, what was looked at, the checks with limit and reason."""

from __future__ import annotations

from collections.abc import Sequence

from overlapcheck.device_report import DeviceReport, WindowSummary
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.kinds import DeviceKey
from overlapcheck.quantities import count_of, duration, percent, percent_beside
from overlapcheck.renderers._html_markup import Child, Html, el, html, table
from overlapcheck.renderers._html_page import verdict
from overlapcheck.renderers._terminal_head import is_of_order
from overlapcheck.renderers._window_words import at_pace, part_without_steps
from overlapcheck.report import Report
from overlapcheck.verdict import DEFAULT, Check, Outcome

_MARKS = {Outcome.PASS: "ok", Outcome.FAIL: "FAIL", Outcome.INCONCLUSIVE: "?"}
_MEANINGS = (
    ("overlap", "copy time that ran under kernels; the ceiling is the most that could have"),
    ("recoverable", "share of the window that perfect overlap could win back at most"),
    ("idle", "share of the window in which no kernel computed"),
    ("exposed comm", "share of the window in which collectives ran and no kernel computed"),
)


def key_of(device: DeviceReport) -> DeviceKey:
    """Identity of a device in checks and findings."""
    return device.key


def badge(outcome: Outcome, *, large: bool = False) -> Html:
    """PASS, FAIL or INCONCLUSIVE in its colour and its own border."""
    size = " badge-large" if large else ""
    return el("span", outcome.value, cls=f"badge {outcome.value.lower()}{size}")


def verdict_block(report: Report) -> Html:
    """The answer: outcome, what is behind it, exit code."""
    outcome = report.verdict.outcome
    code = f"exit code {int(report.verdict.exit_code)}"
    return verdict(badge(outcome, large=True), _behind(report), code)


def _behind(report: Report) -> str:
    said, how = _checks_behind(report), report.verdict.settle_with
    return f"as recorded (to settle it: {how}): {said}" if how else said


def _checks_behind(report: Report) -> str:
    checks = report.verdict.checks
    outcome = report.verdict.outcome
    behind = [check for check in checks if check.outcome is outcome]
    if outcome is Outcome.PASS:
        said = f"all {len(checks)} checks passed" if len(checks) > 1 else "the one check passed"
        return said + at_pace(report)
    if outcome is Outcome.INCONCLUSIVE:
        return behind[0].reason if behind else "nothing was recorded"
    names = ", ".join(dict.fromkeys(check.name for check in behind))
    said = f"{len(behind)} of {count_of(len(checks), 'check')} failed{at_pace(report)}: {names}"
    if all(is_of_order(check) for check in behind):
        return f"{said}: {behind[0].reason}"
    first = report.findings[0] if report.findings else None
    if first is None or first.share < MATERIAL_SHARE:
        return said
    return f"{said}; first cause: {first.cause}"


def facts_block(report: Report) -> Html:
    """Program, file and versions; the variables that change how a program runs."""
    capture = report.capture
    pairs = [
        ("program", capture.program),
        ("report", capture.report),
        (capture.recorder or "recorder", capture.nsys_version or "unknown version"),
        ("driver", capture.driver_version),
        ("set", " ".join(f"{name}={value}" for name, value in capture.environment.items())),
        ("moved thresholds", report.moved),
    ]
    return definitions([(label, text) for label, text in pairs if text], cls="facts")


def definitions(pairs: list[tuple[str, Child]], cls: str) -> Html:
    """Labels with their values."""
    return el(
        "dl",
        *(el("div", el("dt", label), el("dd", value)) for label, value in pairs),
        cls=cls,
    )


def problems_block(report: Report) -> Html | None:
    """What spoils the recording, and what the recorder itself had to say."""
    named = " ".join(check.reason for check in report.verdict.checks)
    said = [what for what in report.capture.problems if what not in named]
    said += report.capture.messages
    if not said:
        return None
    shown = [el("li", text) for text in said[:12]]
    if len(said) > len(shown):
        shown.append(el("li", f"and {len(said) - len(shown)} more"))
    return el(
        "section", el("h3", "What the recording itself says"), el("ul", *shown), cls="problems"
    )


def window_text(window: WindowSummary, length_ns: int) -> str:
    """Which part of the trace was judged, and why this part."""
    if window.steps:
        which = window.steps_text
        which += f" of '{window.step_family}'" if window.step_family else ""
    else:
        which = part_without_steps(window.source)
    return f"{which}, {duration(length_ns)}; {window.why}"


def figures(device: DeviceReport) -> Html:
    """How the window divides."""
    window = max(device.window_ns, 1)
    pairs: list[tuple[str, Child]] = [
        ("window", duration(device.window_ns)),
        ("compute", _share(device.compute_ns, window)),
        ("no compute", _share(device.idle_ns, window)),
        ("recoverable", percent(device.recoverable)),
    ]
    if device.own_window_ns is not None:
        pairs.insert(1, ("at own pace", duration(device.own_window_ns)))
    if device.stalled_ns:
        pairs.append(("kernels waiting for pages", _share(device.stalled_ns, window)))
    if device.opaque_ns:
        pairs.append(("opaque graphs", _share(device.opaque_ns, window)))
    if device.communication_ns:
        hidden = device.communication_hidden_ns
        pairs.append(("collectives", _share(device.communication_ns, window)))
        exposed = device.communication_ns - hidden
        pairs.append(("exposed collectives", _share(exposed, window)))
    return definitions(pairs, cls="figures")


def _share(ns: int, window_ns: int) -> Html:
    return html(percent(ns / window_ns), " ", el("span", duration(ns), cls="dim"))


def checks_table(checks: tuple[Check, ...]) -> Html | None:
    """Measured, limit, result and reason of each check; what to do about the undecided."""
    if not checks:
        return None
    rows = [_row(check) for check in checks]
    head = ("check", "measured", "limit", "result", "reason")
    return html(table(head, rows, "lrrln"), meanings([check.name for check in checks]))


def meanings(names: Sequence[str]) -> Html | None:
    """What the checks of these names measure."""
    used = [
        html(el("dfn", word), f" {meaning}")
        for word, meaning in _MEANINGS
        if any(name.startswith(word) for name in names)
    ]
    notes: list[Child] = []
    for note in used:
        notes += [note, "; "]
    return el("p", *notes[:-1], cls="dim note") if notes else None


def _row(check: Check) -> tuple[Child, ...]:
    missed = check.limit if check.outcome is Outcome.FAIL else None
    sign = "\u2265" if check.at_least else "\u2264"
    limit = f"{sign} {percent(check.limit)}" if check.limit is not None else "\u2013"
    reason = html(
        check.reason,
        _origin(check),
        el("p", el("b", "what to do "), check.settle_with, cls="settle")
        if check.settle_with
        else None,
    )
    return (
        el("b", check.name),
        percent_beside(check.measured, missed) if check.measured is not None else "\u2013",
        limit,
        el("span", _mark(check), cls=f"mark {check.outcome.value.lower()}"),
        reason,
    )


def _origin(check: Check) -> Html | None:
    if check.limit is None or check.limit_from == DEFAULT:
        return None
    return el("span", f" \u00b7 limit from {check.limit_from}", cls="dim")


def _mark(check: Check) -> str:
    return "n/a" if check.too_small else _MARKS[check.outcome]
