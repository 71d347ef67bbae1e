"""A repair that was made from outside, and what it won."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Proved:
    """A program run again with causes repaired: its step, ns, as predicted and measured."""

    fix: tuple[str, ...]
    """Ids of the causes."""
    what: str
    """What was changed for that run, as a clause."""
    report: str
    """File name of the recording of that run."""
    before_ns: int
    """Step of the first recording: the median, or the mean of uneven ones."""
    measured_ns: int
    """Step of that recording."""
    predicted_ns: int | None = None
    """Step predicted from the first recording; null where no replay knows the repair."""
    low_ns: int | None = None
    high_ns: int | None = None
    own_before_ns: int | None = None
    """Step at the program's own pace, before; null without controls."""
    own_measured_ns: int | None = None
    """The same of the repaired program."""

    @property
    def in_band(self) -> bool | None:
        """Whether the measured step lies in the predicted band; None without a prediction."""
        if self.low_ns is None or self.high_ns is None:
            return None
        return self.low_ns <= self.measured_ns <= self.high_ns
