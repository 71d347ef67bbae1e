"""What repairs would win on the device of a recording, and whether they did."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.forecast import Forecast
from overlapcheck.kinds import DeviceKey
from overlapcheck.prediction import Prediction
from overlapcheck.step_picture import StepPicture

SCHEMA = 1
"""Version of the JSON form."""


@dataclass(frozen=True)
class Checked:
    """A prediction beside a recording of the repaired program."""

    report: str
    predicted: Prediction
    real_ns: int
    """Step of that recording."""

    @property
    def error(self) -> float:
        """(predicted - real) / real."""
        return self.predicted.step_ns / max(self.real_ns, 1) - 1

    @property
    def in_band(self) -> bool:
        """Whether the real step lies in the predicted band."""
        return self.predicted.low_ns <= self.real_ns <= self.predicted.high_ns


@dataclass(frozen=True)
class WhatIf:
    """One device of one recording, with its causes repaired."""

    tool_version: str
    report: str
    program: str
    gpu: str
    forecast: Forecast
    repairs: tuple[Prediction, ...]
    """What was asked for; else every repair that wins something, and the best chain of them."""
    asked: bool = False
    """Whether the user named the repairs."""
    checked: Checked | None = None
    others: tuple[DeviceKey, ...] = ()
    """Further devices of the recording."""
    recorded: StepPicture | None = None
    """A typical step as it is."""
    repaired: StepPicture | None = None
    """One without what `told` repairs."""

    @property
    def told(self) -> Prediction | None:
        """What was asked for; else the best chain."""
        return self.repairs[0] if self.asked else self.forecast.best
