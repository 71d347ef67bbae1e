"""Where the idle time went, and the causes with what to do about them."""

from __future__ import annotations

from rich.text import Text

from overlapcheck.device_report import DeviceReport
from overlapcheck.finding import MATERIAL_SHARE, Finding, SourceLine
from overlapcheck.quantities import duration, percent
from overlapcheck.renderers._cause_looks import look_of
from overlapcheck.renderers._terminal_text import (
    BOLD,
    INDENT,
    clip_middle,
    paragraph,
    styled,
    text_of,
    width_of,
    wrap,
)
from overlapcheck.renderers.formats.page import columns, most, tells_all

MAX_FINDINGS = 5
MAX_EVIDENCE = 4
MAX_PLACES = 2

_FILLS = "█▓▒░"
_REST = "·"
_BESIDE_BAR = 20
"""Columns that the bar leaves free."""
_HANG = 7
"""Columns of "do     ", "unless "."""


def ledger_lines(device: DeviceReport) -> list[Text]:
    """The idle time as a bar, and its parts by size."""
    parts = [(entry.cause, entry.ns) for entry in device.ledger if entry.ns > 0]
    if not parts:
        return _conclusion(device)
    parts.sort(key=lambda part: -part[1])
    marks = [*_FILLS[: len(parts)], *_REST * (len(parts) - len(_FILLS))]
    # NO-BREAK SPACE keeps a mark with its name and number when the line is wrapped.
    named = [
        f"{mark}\u00a0{cause}\u00a0{duration(ns)}".replace(" ", "\u00a0")
        for mark, (cause, ns) in zip(marks, parts, strict=True)
    ]
    total = duration(device.idle_ns)
    bar = text_of(" " * INDENT, "│", *_bar(parts, marks), "│")
    head = text_of(
        " " * INDENT,
        styled(f"{total} of {duration(device.window_ns)} without compute, by cause", BOLD),
    )
    lines = wrap(" + ".join(named), columns() - INDENT)
    return [head, bar, *(text_of(" " * INDENT, line) for line in lines), *_conclusion(device)]


def _place(place: SourceLine) -> str:
    """file:line (function): text; a module without line where that is all there is."""
    line = f":{place.line}" if place.line else ""
    said = f"{clip_middle(place.file, 36)}{line} ({clip_middle(place.function, 24)})"
    return f"{said}: {place.text}" if place.text else said


def _conclusion(device: DeviceReport) -> list[Text]:
    if not device.conclusion:
        return []
    return [text_of(" " * INDENT, line) for line in wrap(device.conclusion, columns() - INDENT)]


def _bar(parts: list[tuple[str, int]], marks: list[str]) -> list[Text]:
    """Cells by rounding each part's end, so that the bar is always full."""
    total = sum(ns for _, ns in parts)
    bar, drawn, done, cells = [], 0, 0, columns() - _BESIDE_BAR
    for (cause, ns), mark in zip(parts, marks, strict=True):
        done += ns
        end = round(done * cells / total)
        bar.append(styled(mark * (end - drawn), look_of(cause).hue.terminal))
        drawn = end
    return bar


def finding_lines(findings: list[Finding], *, in_full: bool) -> list[Text]:
    """The causes of one device, costliest first; the small ones only by name.

    Args:
        findings: in rank order.
        in_full: with evidence and advice, not the headlines alone.
    """
    material = [f for f in findings if f.share >= MATERIAL_SHARE or tells_all()]
    lines: list[Text] = []
    for rank, found in enumerate(material[: most(MAX_FINDINGS)], 1):
        if rank > 1 and in_full:
            lines.append(text_of())
        lines += _headline(rank, found)
        if in_full:
            lines += _body(found)
    rest = [*material[most(MAX_FINDINGS) :], *(f for f in findings if f not in material)]
    if rest and in_full:
        lines += [text_of()] if material else []
        lines += paragraph("smaller", _smaller(rest), hang=9)
    return lines


def _smaller(rest: list[Finding]) -> str:
    told = [found for found in rest if percent(found.share) != percent(0)]
    names = [f"{found.cause} {percent(found.share)}" for found in told]
    if len(told) < len(rest):
        names.append(f"{len(rest) - len(told)} below {percent(0.0005)}")
    return ", ".join(names)


def _headline(rank: int, found: Finding) -> list[Text]:
    worth = found.predicted.text if found.predicted else f"saves at most {found.saving_text}"
    said = f"{found.cost_text}, {percent(found.share)}; {worth}"
    style = f"bold {look_of(found.cause).hue.terminal}"
    lead = text_of(" " * INDENT, styled(f"{rank} {clip_middle(found.cause, 24)}", style), "  ")
    sure = found.confidence.value
    room = columns() - width_of(lead) - len(sure) - 2
    first, *more = wrap(said, room)
    gap = " " * (columns() - width_of(lead) - width_of(first) - len(sure))
    head = text_of(lead, first, gap, styled(sure, BOLD))
    return [head, *(text_of(" " * width_of(lead), line) for line in more)]


def _body(found: Finding) -> list[Text]:
    indent = INDENT + 2
    lines = [text_of(" " * indent, line) for line in wrap(found.title, columns() - indent)]
    for fact in found.evidence[: most(MAX_EVIDENCE)]:
        lines += paragraph("-", fact, indent=indent)
    for place in found.source[: most(MAX_PLACES)]:
        lines += paragraph(styled("at", BOLD), _place(place), indent=indent, hang=_HANG)
    if found.advice:
        lines += paragraph(styled("do", BOLD), found.advice, indent=indent, hang=_HANG)
    if found.caveat:
        lines += paragraph(styled("unless", BOLD), found.caveat, indent=indent, hang=_HANG)
    return lines
