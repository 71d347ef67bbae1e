"""Comparisons that every format is tried on."""

from __future__ import annotations

from dataclasses import replace

from overlapcheck.compare.compare import compare
from overlapcheck.comparison import Comparison
from overlapcheck.device_report import DeviceReport, LedgerEntry
from overlapcheck.finding import SourceLine
from overlapcheck.report import Report
from tests.compare.reports import device, report
from tests.renderers.reports import MARKUP
from tests.renderers.test_terminal import HOSTILE


def advised(one: Report, text: str = "", source: tuple[SourceLine, ...] = ()) -> Report:
    """The report with findings that say what to do, and where."""
    findings = tuple(
        replace(
            found,
            title=f"what {found.cause} is {text}".strip(),
            advice=f"do this {text}".strip(),
            caveat=f"that is meant {text}".strip(),
            source=source,
        )
        for found in one.findings
    )
    return replace(one, findings=findings)


def compared(base: Report, new: Report, limit: float | None = 0.05) -> Comparison:
    """The comparison, whatever speaks against it, with the same version for ever."""
    return replace(compare(base, new, limit=limit, force=True), tool_version="0.1.0")


def fast(**more: object) -> DeviceReport:
    return device(step_ms=8, overlap={"h2d": 0.95}, ledger={"device-copy": 0.1}, **more)  # type: ignore[arg-type]


def slow(**more: object) -> DeviceReport:
    ledger = {"pageable-copy": 3.0, "device-copy": 0.1}
    return device(recoverable=0.2, overlap={"h2d": 0.4}, ledger=ledger, **more)  # type: ignore[arg-type]


PLACES = (SourceLine("/repo/train.py", 104, "prefetch"), SourceLine("/usr/lib/x.py", 0, "wait"))


def hostile_comparison(text: str) -> Comparison:
    """Every name that comes from a trace is this text."""

    def renamed(one: DeviceReport) -> DeviceReport:
        ledger = tuple(LedgerEntry(text or entry.cause, entry.ns) for entry in one.ledger[:1])
        return replace(one, ledger=ledger, name=text, window=replace(one.window, step_family=text))

    def named(one: Report) -> Report:
        capture = replace(one.capture, report=text, program=text)
        findings = report(*one.devices).findings
        return advised(
            replace(one, capture=capture, findings=findings), text, (SourceLine(text, 7, text),)
        )

    return compared(named(report(renamed(fast()))), named(report(renamed(slow()))))


def not_judged() -> Comparison:
    """A side without steps, and a direction that the other side lacks."""
    new = device(step_ms=None, gpu="NVIDIA L4", overlap={"d2h": 0.4}, ledger={"host-sync": 4.0})
    return compared(report(device(overlap={"h2d": 0.9})), report(new, name="b"), limit=0.3)


COMPARISONS: dict[str, Comparison] = {
    "better": compared(advised(report(slow())), report(fast(), name="b")),
    "worse": compared(report(fast()), advised(report(slow(), name="b"), source=PLACES)),
    "worse_but_allowed": compared(report(fast()), report(slow(), name="b"), limit=None),
    "no_change": compared(report(slow()), report(slow())),
    "not_judged": not_judged(),
    "too_noisy": compared(
        report(device(beyond_ms=5.0, ledger={"host-sync": 1.0})),
        report(device(step_ms=10.4, beyond_ms=5.0, ledger={"host-sync": 1.4}), name="b"),
    ),
    "two_devices": compared(
        report(fast(number=0), fast(number=1)),
        report(fast(number=0), slow(number=1), name="b"),
    ),
    "hostile": hostile_comparison(MARKUP),
}
EVERY = [
    *COMPARISONS.values(),
    *map(hostile_comparison, HOSTILE),
    hostile_comparison("\udcff\x00\x0b\ufffe\uffff\U0001f600"),
    compared(report(fast(), fast(pid=8)), report(slow(), slow(pid=8))),
    compared(report(device(step_ms=10)), report(device(step_ms=10))),
]
