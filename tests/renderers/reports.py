"""Reports that every text format is tried on, and golden files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from overlapcheck.finding import SourceLine
from overlapcheck.kinds import DeviceKey
from overlapcheck.report import Report
from tests.renderers.test_terminal import (
    GOLDENS,
    HOSTILE,
    a_device,
    a_finding,
    a_report,
    failing,
    hostile_report,
    inconclusive,
)

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden"
MARKUP = (
    'a<b>&amp;|c|,"d" `e` [f](g) {0} 100% _h_ *i* @jane #12 :smile: $k$ \\'
    " https://l.example ]]> --> ::error::m\nnext line\r\n### n"
)
REPORTS: dict[str, Report] = {**GOLDENS, "hostile": hostile_report(MARKUP)}
EVERY = [
    *REPORTS.values(),
    *map(hostile_report, HOSTILE),
    hostile_report("\udcff\x00\x0b\ufffe\uffff\U0001f600"),
    replace(a_report(()), devices=()),
]


def golden(form: str, name: str, text: str) -> str:
    """The golden text of a report, rewritten first where UPDATE_GOLDEN asks for it."""
    path = GOLDEN / form / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return path.read_bytes().decode("utf-8")


def big_report(devices: int = 64, causes: int = 27) -> Report:
    """As many devices, causes, checks and long names as nobody has."""
    name = "template<typename T, int N> void kernel" * 100
    found = tuple(
        replace(a_finding(f"cause-{n}", 0.03, name), device=DeviceKey(1, device))
        for device in range(devices)
        for n in range(causes)
    )
    checks = tuple(
        replace(check, reason=name, settle_with=name if check.settle_with else "")
        for device in range(devices)
        for check in (*failing(device), *inconclusive(device))
    )
    return a_report(checks, tuple(a_device(n, name) for n in range(devices)), found)


def at_lines(*places: tuple[str, int]) -> Report:
    """A failing report whose first cause has lines of source."""
    report = GOLDENS["with_findings"]
    first, *others = report.findings
    source = tuple(SourceLine(file, line, "main") for file, line in places)
    return replace(report, findings=(replace(first, source=source), *others))
