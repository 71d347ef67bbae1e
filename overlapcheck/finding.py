"""One cause that fired on one device: what it cost, how it is known, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey

MATERIAL_SHARE = 0.02
"""Below this share of the window nothing is called a cause of failure."""


class Confidence(StrEnum):
    """How sure the attribution is."""

    SURE = "sure"
    LIKELY = "likely"
    SUSPECTED = "suspected"


@dataclass(frozen=True)
class SourceLine:
    """A place in the user's program."""

    file: str
    """Relative to the working directory where it lies inside; module where no line is known."""
    line: int
    """0 where not known."""
    function: str
    text: str = ""
    """The line itself, where the file is readable here."""


@dataclass(frozen=True)
class Finding:
    """Costs are computed from `blamed`, never asserted."""

    cause: str
    """Id of the cause, "pageable-copy"."""
    title: str
    device: DeviceKey
    blamed: Intervals
    """Time given to this cause: idle time, or what a slowed kernel took longer."""
    share: float
    """blamed / window, in [0, 1]."""
    per_step_ns: float | None
    """None without steps."""
    saves_at_most_ns: float
    """The most that removing it can save, over the window."""
    confidence: Confidence
    evidence: tuple[str, ...]
    """Facts with their numbers, most telling first."""
    advice: str
    caveat: str
    """When the advice would be wrong."""
    source: tuple[SourceLine, ...] = ()
