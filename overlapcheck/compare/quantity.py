"""One number of both sides, judged."""

from __future__ import annotations

from overlapcheck.comparison import Change, Quantity, Unit


def quantity(
    name: str,
    unit: Unit,
    base: float | None,
    new: float | None,
    noise: float,
    *,
    more_is_better: bool = False,
) -> Quantity:
    """A quantity and what became of it.

    Args:
        name: what it is called.
        unit: of the numbers.
        base: what it was; None for unknown.
        new: what it is.
        noise: a difference of no more than this is no change.
        more_is_better: whether a larger number is good news.
    """
    if base is None or new is None:
        change = Change.UNKNOWN
    elif abs(new - base) <= noise:
        change = Change.NONE
    else:
        change = Change.BETTER if (new > base) is more_is_better else Change.WORSE
    return Quantity(name, unit, base, new, noise, change)
