"""A number that decides, with its page: unit, reason, and what a wrong one would do."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from typing import Any

ABOUT = "threshold"
"""Key of a field's metadata."""


class Unit(StrEnum):
    """What a threshold counts."""

    NS = "ns"
    BYTES = "bytes"
    COUNT = "count"
    SHARE = "share"
    RATIO = "ratio"
    BYTES_PER_NS = "bytes per nanosecond"

    @property
    def words(self) -> str:
        """What its numbers are of."""
        return {Unit.NS: "nanoseconds", Unit.COUNT: "things"}.get(self, self.value)

    @property
    def least(self) -> int:
        """The smallest value that means anything."""
        return 1 if self in (Unit.COUNT, Unit.RATIO, Unit.BYTES_PER_NS) else 0

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self not in (Unit.SHARE, Unit.RATIO)


@dataclass(frozen=True)
class Threshold:
    """One number that decides."""

    name: str
    """As in the policy file: "start-latency-ns"."""
    value: float
    unit: Unit
    reason: str
    """Why it is this value."""
    if_wrong: str
    """What a smaller and a larger value would do."""
    causes: tuple[str, ...]
    """Causes that it decides about; none where it decides about a check or a table."""
    fixed: bool = False
    """Whether the definitions say it in words, so that it cannot be moved."""


@dataclass(frozen=True)
class About:
    """What a field knows of itself beside name and value."""

    unit: Unit
    reason: str
    if_wrong: str
    causes: tuple[str, ...]


def decides(
    value: float, unit: Unit, *causes: str, reason: str, if_wrong: str, fixed: bool = False
) -> Any:
    """A field with its page.

    Args:
        value: what it usually is.
        unit: of the value.
        causes: that it decides about.
        reason: why it is this value.
        if_wrong: what a smaller and a larger one would do.
        fixed: whether it cannot be moved: it is then an attribute of the class alone.
    """
    about = About(unit, reason, if_wrong, causes)
    return field(default=value, init=not fixed, repr=not fixed, metadata={ABOUT: about})


def described(numbers: Any) -> tuple[Threshold, ...]:
    """All thresholds of a frozen struct of them, in the order of its sections."""
    return tuple(
        Threshold(
            key_of(one),
            getattr(numbers, one.name),
            about.unit,
            about.reason,
            about.if_wrong,
            about.causes,
            fixed=not one.init,
        )
        for one in fields(numbers)
        for about in (one.metadata[ABOUT],)
    )


def key_of(one: Field[Any]) -> str:
    """Name of a threshold in the policy file and in reports."""
    return one.name.replace("_", "-")
