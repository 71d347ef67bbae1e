"""One number of both sides, judged."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.comparison import Change, Quantity, Unit


@dataclass(frozen=True)
class Metric:
    """What is measured on both sides."""

    name: str
    unit: Unit
    more_is_better: bool = False
    judged: bool = True
    """Whether a difference counts at all."""

    def compared(self, base: float | None, new: float | None, noise: float) -> Quantity:
        """The quantity, and what became of it.

        Args:
            base: what it was; None for unknown.
            new: what it is.
            noise: a difference of no more than this is no change.
        """
        if base is None or new is None or not self.judged:
            change = Change.UNKNOWN
        elif abs(new - base) <= noise:
            change = Change.NONE
        else:
            change = Change.BETTER if (new > base) is self.more_is_better else Change.WORSE
        return Quantity(self.name, self.unit, base, new, noise, change)
