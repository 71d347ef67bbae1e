"""Slices on tracks, as the Chrome trace format knows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Slice:
    """One bar."""

    name: str
    start_ns: int
    end_ns: int
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Track:
    """A row of bars that do not overlap."""

    pid: int
    tid: int
    name: str
    category: str
    slices: list[Slice]


def in_lanes(slices: list[Slice], most: int) -> list[list[Slice]]:
    """Bars spread over as few rows as keep them apart; those of a row beyond `most` are dropped.

    Args:
        slices: sorted by start.
        most: rows.
    """
    lanes: list[list[Slice]] = []
    for one in slices:
        for lane in lanes:
            if lane[-1].end_ns <= one.start_ns:
                lane.append(one)
                break
        else:
            if len(lanes) < most:
                lanes.append([one])
    return lanes


def nanoseconds(ns: int) -> str:
    """A time in microseconds, exact to the nanosecond."""
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 1000}.{abs(ns) % 1000:03d}"
