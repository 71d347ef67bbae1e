"""How long a step takes when nothing records CUDA calls, and how that is known.

Recording slows a program that is bound by its host, and only such a program. A control is the same
program recorded with NVTX alone, which costs next to nothing: the cadence of its steps tells how
long the recorded ones would have been.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from overlapcheck.trace import Ranges, Strings


class PaceSource(StrEnum):
    """How the own pace is known."""

    CONTROL = "control"
    OPTION = "option"


@dataclass(frozen=True)
class Pace:
    """The steps of one device, as recorded and at the program's own pace; ns per step."""

    recorded_ns: int | None
    """None without steps."""
    own_ns: int | None = None
    """None where it is not known."""
    low_ns: int | None = None
    """Own pace by the control with the shortest steps."""
    high_ns: int | None = None
    source: PaceSource | None = None
    controls: int = 0
    """Control recordings that it was measured in."""
    why: str = ""
    """Why it is not known though it was asked for, or which control was of no use: a clause."""


@dataclass(frozen=True)
class Control:
    """One control recording."""

    name: str
    """Its file's."""
    ranges: Ranges
    """Closed NVTX ranges of all its processes."""
    strings: Strings
    records_cuda: bool = False
    """Whether CUDA calls were recorded, too: then it is as slow as what it is to correct."""
