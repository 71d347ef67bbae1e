"""What a repair is predicted to win."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from overlapcheck.quantities import duration, milliseconds
from overlapcheck.whatif_thresholds import WHAT_IF

BoundName = Literal["compute", "h2d", "d2h", "p2p", "collectives", "host", "input"]
_NEXT: dict[BoundName, tuple[str, str]] = {
    "compute": ("compute-bound", "kernels"),
    "h2d": ("copy-bound", "the link to the device"),
    "d2h": ("copy-bound", "the link to the host"),
    "p2p": ("copy-bound", "the link between devices"),
    "collectives": ("bound by collectives", "collectives"),
    "host": ("launch-bound", "the thread that launches"),
    "input": ("starved of input", "waiting for input"),
}


@dataclass(frozen=True)
class Bound:
    """What most of a step is along the longest chain of things that wait for each other."""

    what: BoundName
    ns: int
    """Of a step."""

    @property
    def word(self) -> str:
        """In a word: copy-bound."""
        return _NEXT[self.what][0]

    def told(self, step_ns: int) -> str:
        """In a clause: "copy-bound: 9.7 of 9.8 ms is the link to the device"."""
        step = duration(step_ns)
        mine = milliseconds(self.ns) if step.endswith(" ms") else duration(self.ns)
        return f"{self.word}: {mine} of {step} is {_NEXT[self.what][1]}"


@dataclass(frozen=True)
class Prediction:
    """A step with some causes repaired, ns: the median, or the mean of uneven ones."""

    fix: tuple[str, ...]
    """Ids of the causes, in the order in which they are repaired."""
    what: tuple[str, ...]
    """What is changed in the program, one clause each."""
    before_ns: int
    """Of the same steps, replayed unchanged: the recorded ones, or at the program's own pace."""
    step_ns: int
    low_ns: int
    high_ns: int
    next_bound: Bound
    edges_added: tuple[str, ...] = ()
    """Orders that the repaired program needs."""
    not_there: tuple[str, ...] = ()
    """Ids of the causes that these steps have nothing of."""

    @property
    def win_ns(self) -> int:
        """Time per step that the repair is predicted to save; negative where it costs."""
        return self.before_ns - self.step_ns

    @property
    def is_worth_while(self) -> bool:
        """Whether it wins more than noise."""
        return self.win_ns >= WHAT_IF.worth_while_share * self.before_ns

    @property
    def band_text(self) -> str:
        """As a span: 17.4 to 20.1 ms."""
        return span(self.low_ns, self.high_ns)


@dataclass(frozen=True)
class Win:
    """What repairing one cause is predicted to save of each step, ns."""

    win_ns: int
    low_ns: int
    high_ns: int
    next_bound: Bound
    share: float
    """Of the step."""
    with_causes: tuple[str, ...] = ()
    """Causes that must be repaired as well: alone it wins nothing, and the time is that of all."""

    @property
    def is_worth_while(self) -> bool:
        """Whether it wins more than noise."""
        return self.share >= WHAT_IF.worth_while_share

    @property
    def text(self) -> str:
        """In a clause: wins about 2.9 ms per step (2.4 to 3.4), then launch-bound."""
        if not self.is_worth_while:
            return f"repairing it alone wins nothing: the step stays {self.next_bound.word}"
        band = span(self.low_ns, self.high_ns)
        number, unit = duration(self.win_ns).split()
        if band.count(" ") == 3:  # "2.4 to 3.4 ms": one unit for both ends
            band = band.removesuffix(f" {unit}")
        others = f" together with {' and '.join(self.with_causes)}" if self.with_causes else ""
        then = f"then {self.next_bound.word}"
        return f"wins about {number} {unit} per step{others} ({band}), {then}"


def span(low_ns: int, high_ns: int) -> str:
    """A band in one unit where it can be: 17.4 to 20.1 ms."""
    low, high = duration(low_ns), duration(high_ns)
    unit = high.split()[1]
    return f"{low.removesuffix(f' {unit}')} to {high}"
