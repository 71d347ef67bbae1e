"""Mutants of thresholds.py: each number halved and doubled, in the way that its unit allows."""

from __future__ import annotations

from dataclasses import dataclass, fields

from overlapcheck.threshold import Threshold, Unit
from overlapcheck.thresholds import Thresholds

PATH = "thresholds.py"


@dataclass(frozen=True)
class NumberMutant:
    """A threshold with another value."""

    name: str
    usual: float
    value: float
    fixed: bool = False
    """Whether it is an attribute of the class."""

    @property
    def path(self) -> str:
        """Module that holds it."""
        return PATH

    @property
    def key(self) -> str:
        """Name of the mutant."""
        return f"{PATH}:{self.name}: `{self.usual:g}` -> `{self.value:g}`"


def number_mutants() -> list[NumberMutant]:
    """Two of each threshold."""
    described = zip(fields(Thresholds), Thresholds().described(), strict=True)
    return [
        NumberMutant(one.name, about.value, value, about.fixed)
        for one, about in described
        for value in _moved(about)
    ]


def _moved(one: Threshold) -> tuple[float, float]:
    """Half and double; a share half-way to 0 and to 1, a ratio half and double as far from 1."""
    if one.unit is Unit.SHARE:
        return one.value / 2, (1 + one.value) / 2
    if one.unit is Unit.RATIO:
        return 1 + (one.value - 1) / 2, 1 + (one.value - 1) * 2
    return int(one.value) // 2, int(one.value) * 2
