"""Goals and guards of budget.toml: limits of what is measured on an input, all of them ratios."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("budget.toml")
TO_SCAN, TENFOLD, PER_ROW, START_UP = "to-scan", "tenfold", "bytes-per-row", "start-up"
MEASURES = (TO_SCAN, TENFOLD, PER_ROW, START_UP)
OTHER = "other"
_KINDS = ("goal", "guard")


@dataclass(frozen=True)
class Limits:
    """The largest values allowed, by measure and input."""

    by_measure: Mapping[str, Mapping[str, float]]

    def limit(self, measure: str, name: str) -> float | None:
        """Of an input by its name, else of all `other` inputs; None: there is none."""
        limits = self.by_measure.get(measure, {})
        return limits.get(name, limits.get(OTHER))

    def broken(self, name: str, measured: Mapping[str, float]) -> list[str]:
        """A line for every measure of an input that is over its limit."""
        return [
            f"{name}: {measure} {value:.4g} > {limit:g}"
            for measure, value in measured.items()
            if (limit := self.limit(measure, name)) is not None and value > limit
        ]


@dataclass(frozen=True)
class Budget:
    """What is wanted of full sizes, and what must not get worse at the size of a check."""

    goals: Limits
    guards: Limits


def parse(text: str, inputs: Iterable[str]) -> Budget:
    """The budget in a text.

    Raises:
        ValueError: a measure or input that does not exist, or a limit that is no positive number.
    """
    known = {*inputs, OTHER}
    data = tomllib.loads(text)
    if unknown := set(data) - set(_KINDS):
        raise ValueError(f"{sorted(unknown)[0]}: neither goal nor guard")
    for kind, measures in data.items():
        for measure, limits in measures.items():
            if measure not in MEASURES:
                raise ValueError(f"{kind}.{measure}: measures are {', '.join(MEASURES)}")
            for name, limit in limits.items():
                if name not in known:
                    raise ValueError(f"{kind}.{measure}.{name}: no such input")
                if not isinstance(limit, float | int) or isinstance(limit, bool) or not limit > 0:
                    raise ValueError(f"{kind}.{measure}.{name}: {limit!r} is no limit")
    return Budget(*(Limits(data.get(kind, {})) for kind in _KINDS))
