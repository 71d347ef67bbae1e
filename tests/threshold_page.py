"""The table of docs/thresholds.md, made from the package."""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.pace_thresholds import PaceThresholds
from overlapcheck.rank_thresholds import RankThresholds
from overlapcheck.recording_thresholds import RecordingThresholds
from overlapcheck.replay_thresholds import REPLAY, ReplayThresholds
from overlapcheck.threshold import Threshold, Unit, described
from overlapcheck.thresholds import USUAL, Thresholds
from overlapcheck.whatif_thresholds import WHAT_IF, WhatIfThresholds

SECTIONS = (
    ("Reasons, causes and checks", Thresholds),
    ("Recordings, clocks and windows", RecordingThresholds),
    ("Collectives, ranks and comparisons", RankThresholds),
    ("The program's own pace", PaceThresholds),
    ("Replays of steps", ReplayThresholds),
    ("Predictions", WhatIfThresholds),
)
TAKEN_FOR_GRANTED = (*described(REPLAY), *described(WHAT_IF))
"""Numbers that make predictions, and decide nothing."""


def tables() -> str:
    """A table for each section, a row for each number."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    numbers = (*USUAL.described(), *TAKEN_FOR_GRANTED)
    for title, section in SECTIONS:
        own = {name.replace("_", "-") for name in section.__annotations__}
        yield f"\n## {title}\n"
        yield "| number | value | why | if wrong | decides about |"
        yield "|---|---|---|---|---|"
        yield from (_row(one) for one in numbers if one.name in own)


def _row(one: Threshold) -> str:
    about = ", ".join(one.causes) or "no single cause"
    name = f"`{one.name}`" + (" (fixed)" if one.fixed else "")
    return f"| {name} | {_value(one)} | {one.reason} | {one.if_wrong} | {about} |"


def _value(one: Threshold) -> str:
    unit = {Unit.NS: " ns", Unit.BYTES: " B", Unit.BYTES_PER_NS: " B/ns"}.get(one.unit, "")
    return f"{round(one.value, 4):,}".replace(",", " ") + unit
