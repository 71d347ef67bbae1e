"""How long a step takes when nothing records CUDA calls, and how that is known.

Recording slows a program that is bound by its host, and only such a program. A control is the same
program recorded with NVTX alone, which costs next to nothing: the cadence of its steps tells how
long the recorded ones would have been.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from overlapcheck.quantities import count_of, duration
from overlapcheck.trace import Strings
from overlapcheck.trace_tables import Ranges


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

    @property
    def taken_ns(self) -> int:
        """Part of a recorded step that is the recording's."""
        if self.recorded_ns is None or self.own_ns is None:
            return 0
        return self.recorded_ns - self.own_ns

    @property
    def told(self) -> str:
        """In a sentence; "" where nobody asked for the own pace."""
        if self.recorded_ns is None or self.own_ns is None:
            return f"own pace not known: {self.why}" if self.why else ""
        said = (
            f"recorded {duration(self.recorded_ns)} per step, own pace {duration(self.own_ns)}"
            f" ({self._known_by}): {duration(self.taken_ns)} are the recording's"
        )
        return f"{said}; of no use: {self.why}" if self.why else said

    @property
    def _known_by(self) -> str:
        if self.source is PaceSource.OPTION:
            return "step time as given, or what the device needs"
        runs = count_of(self.controls, "control run")
        if self.controls < 2 or self.low_ns is None or self.high_ns is None:
            return runs
        low, high = duration(self.low_ns), duration(self.high_ns)
        number, unit = low.split()
        return f"{runs}, {number if high.endswith(unit) else low} to {high}"


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
