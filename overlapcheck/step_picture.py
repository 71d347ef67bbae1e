"""A step as it can be drawn: what each stream and each launching thread does in it."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.timeline import EventKind

Piece = tuple[int, int, EventKind]
"""Start and end from the step's begin, ns, and what it is."""


@dataclass(frozen=True)
class StepRow:
    """One line of the picture."""

    label: str
    """"stream 1", "thread 1"."""
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class StepPicture:
    """A typical step, from the end of the step before to its own."""

    length_ns: int
    rows: tuple[StepRow, ...]
