"""What a repair is predicted to win."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """What a step is made of along the longest chain of things that wait for each other."""

    what: str
    """"compute", "h2d", "d2h", "p2p", "collectives", "host" or "input"."""
    ns: int
    """Of a step."""


@dataclass(frozen=True)
class Prediction:
    """The median step with some causes repaired, ns."""

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

    @property
    def win_ns(self) -> int:
        """Time per step that the repair is predicted to save; negative where it costs."""
        return self.before_ns - self.step_ns
