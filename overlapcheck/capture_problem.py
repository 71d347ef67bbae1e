"""What a recording lacks: reasons that it cannot carry a verdict, and what it cannot explain."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CaptureFault(StrEnum):
    """Why a recording cannot carry a verdict."""

    NO_KERNELS = "no-kernels"
    LAUNCHES_WITHOUT_ROWS = "launches-without-rows"
    COPIES_WITHOUT_ROWS = "copies-without-rows"
    MEMSETS_WITHOUT_ROWS = "memsets-without-rows"
    ROWS_WITHOUT_LAUNCHES = "rows-without-launches"
    STEPS_WITHOUT_WORK = "steps-without-work"
    GRAPH_LAUNCHES_INVISIBLE = "graph-launches-invisible"
    EVENTS_LOST = "events-lost"
    UNTIMED_ROWS = "untimed-rows"
    IMPOSSIBLE_ROWS = "impossible-rows"
    NAMES_LOST = "names-lost"


@dataclass(frozen=True)
class CaptureProblem:
    """One reason to doubt the recording."""

    fault: CaptureFault
    process: int
    """Number of the process; ABSENT where it concerns the whole recording."""
    what: str
    """What was and what was not recorded, with counts."""
    settle_with: str
    """What would settle it, in the words of the recorder."""


@dataclass(frozen=True)
class NotKnown:
    """Something that the numbers do not need and some explanations do, and that is not there."""

    process: int
    """Number of the process."""
    what: str
    """What cannot be told, and for want of what."""
    causes: frozenset[str]
    """Causes that cannot be found without it."""
    settle_with: str
    """What would record it, in the words of the recorder."""
