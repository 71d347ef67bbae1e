"""What the repairs of one device's causes are predicted to win."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.kinds import DeviceKey
from overlapcheck.prediction import Prediction, Win

ASSUMED = (
    "kernels keep their lengths; a device that is never idle lowers its clock, and the same"
    " matrix kernel took up to 10 % longer: the band's upper end",
    "pinned copies run at the rate of those recorded here, else at the link's",
    "where the host is the bound, its calls take as long as recorded, to 10 % or half the spread",
)
"""What a prediction takes for granted, and what its band is made of."""


@dataclass(frozen=True)
class Forecast:
    """The steady steps of one device, and what its repairs win."""

    device: DeviceKey
    before_ns: int
    """The step that wins are of: the median, or the mean."""
    steps: int
    """Steps that were replayed."""
    recorded_steps: int
    """Steps of the window, of which they are the last."""
    singles: tuple[Prediction, ...] = ()
    """One for each cause that can be repaired and has cost anything, most is won first."""
    best: Prediction | None = None
    """Those that together win most, as few as it takes; None where nothing wins."""
    pairs: tuple[Prediction, ...] = ()
    """Two causes that win together what neither does alone."""
    by_mean: bool = False
    """Whether few steps are so long that their mean is told, not their median."""
    at_own_pace: bool = False
    """Whether the steps are those of the program when nothing records it."""

    @property
    def worth_while(self) -> tuple[Prediction, ...]:
        """Causes whose repair wins something by itself."""
        return tuple(one for one in self.singles if one.is_worth_while)

    @property
    def wins_nothing(self) -> tuple[str, ...]:
        """Ids of the others."""
        return tuple(one.fix[0] for one in self.singles if not one.is_worth_while)

    def win(self, cause: str) -> Win | None:
        """What repairing a cause wins; None where that is not known."""
        alone = next((one for one in self.singles if one.fix == (cause,)), None)
        if alone is None or alone.is_worth_while:
            return self._win(alone, ()) if alone else None
        both = next((pair for pair in self.pairs if cause in pair.fix), None)
        if both is None:
            return self._win(alone, ())
        return self._win(both, tuple(fix for fix in both.fix if fix != cause))

    def _win(self, found: Prediction, others: tuple[str, ...]) -> Win:
        before = self.before_ns
        return Win(
            win_ns=found.win_ns,
            low_ns=max(0, before - found.high_ns),
            high_ns=max(0, before - found.low_ns),
            next_bound=found.next_bound,
            share=found.win_ns / max(before, 1),
            with_causes=others,
        )
