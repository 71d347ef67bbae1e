"""Words for the window without steps, and for the pace at which it is judged."""

from __future__ import annotations

from overlapcheck.report import Report
from overlapcheck.verdict import Basis

_PARTS = {
    "option": "the part asked for",
    "whole-run": "the whole run, from the first kernel or copy to the last",
    "nothing": "none to judge; shown is first kernel to last",
}


def part_without_steps(source: str) -> str:
    """The part of the trace that a source of windows takes."""
    return _PARTS.get(source, "first kernel to last")


def at_pace(report: Report) -> str:
    """The pace that the verdict is on, where that is the program's own; "" as recorded."""
    return " at own pace" if report.verdict.basis is Basis.OWN_PACE else ""
