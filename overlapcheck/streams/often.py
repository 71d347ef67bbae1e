"""In how many of the steps something happens, and how many times in each.

Steps in which a stream was given more or less than usual, the end of an epoch say, are not asked
where most are regular: what is not there to be waited for needs no wait.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Ints, Mask
from overlapcheck.stream_contract import Often

HALF = 0.5


@dataclass(frozen=True)
class Presence:
    """In which of the steps that could have it something stands."""

    steps: int
    of_steps: int
    count: int
    """Usual number per step that has it."""
    missing: Ints
    """Positions of steps that lack it."""

    @property
    def often(self) -> Often | None:
        """None for once."""
        if self.steps and self.steps == self.of_steps:
            return Often.EVERY
        if self.steps < 2:
            return None
        return Often.MOST if self.steps >= HALF * self.of_steps else Often.SOME


def presence(per_step: Ints, possible: Mask, regular: Mask) -> Presence:
    """How often something stands in the steps.

    Args:
        per_step: how many times it stands in each step, shape (steps,).
        possible: which steps could have it.
        regular: which of them are as most are.
    """
    asked = possible & regular
    if asked.sum() < HALF * possible.sum() or not (per_step[asked] > 0).any():
        asked = possible
    there = asked & (per_step > 0)
    values, times = np.unique(per_step[there], return_counts=True)
    # Of equally usual numbers the lower: no more can be counted on.
    count = int(values[np.argmax(times)]) if values.size else 0
    return Presence(
        int(there.sum()), int(asked.sum()), count, np.flatnonzero(asked & (per_step == 0))
    )
