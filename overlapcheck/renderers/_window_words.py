"""What a window without steps is, in words."""

from __future__ import annotations

_PARTS = {
    "option": "the part asked for",
    "whole-run": "the whole run, from the first kernel or copy to the last",
    "nothing": "none to judge; shown is first kernel to last",
}


def part_without_steps(source: str) -> str:
    """The part of the trace that a source of windows takes."""
    return _PARTS.get(source, "first kernel to last")
