"""One cause that fired on one device: what it cost, how it is known, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.prediction import Win
from overlapcheck.quantities import count_of, duration
from overlapcheck.thresholds import Thresholds

MATERIAL_SHARE = Thresholds.material_share
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
    """blamed / window, in [0, 1]; at the program's own pace where that is known."""
    per_step_ns: float | None
    """Mean over the steps; None without steps."""
    saves_at_most_ns: float
    """The most that removing it, and it alone, can save, over as many steps as the window has: the
    gap before the first step, which lies outside the window, is counted in."""
    confidence: Confidence
    evidence: tuple[str, ...]
    """Facts with their numbers, most telling first."""
    advice: str
    caveat: str
    """When the advice would be wrong."""
    source: tuple[SourceLine, ...] = ()
    steps: int | None = None
    """Steps in the window; None without steps."""
    steps_hit: int | None = None
    """How many of them it occurs in; None without steps."""
    median_step_ns: float | None = None
    """Median of its cost in the steps that it occurs in; None without steps."""
    recurs: bool = True
    """Whether it occurs in at least a quarter of the steps, beyond a spike; without steps always.
    What does not recur ranks behind what does."""
    predicted: Win | None = None
    """What repairing it is predicted to win of each step; None where that is not known."""

    @property
    def cost_text(self) -> str:
        """Its cost: "median 3.3 ms in 10 of 11 steps"; a spike, or without steps, the whole."""
        if self.per_step_ns is None:
            return duration(self.blamed.total_ns)
        if self.median_step_ns is None:
            return f"{duration(self.per_step_ns)} per step"
        if not self.recurs:
            total = duration(self.blamed.total_ns)
            return f"{total} in {self.steps_hit} of {count_of(self.steps or 0, 'step')}"
        median = f"median {duration(self.median_step_ns)}"
        if self.steps_hit == self.steps:
            return f"{median} per step"
        return f"{median} in {self.steps_hit} of {count_of(self.steps or 0, 'step')}"

    @property
    def saving_text(self) -> str:
        """The most that removing it can save: "3.3 ms per step", or the whole without steps."""
        if self.steps:
            return f"{duration(self.saves_at_most_ns / self.steps)} per step"
        return duration(self.saves_at_most_ns)
