"""How many hardware queues a context has, as the program's environment says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

VARIABLE = "CUDA_DEVICE_MAX_CONNECTIONS"
_USUAL = 8
"""Of CUDA, where the variable says nothing, or nothing that it takes: 1 and more."""


@dataclass(frozen=True)
class Connections:
    """The hardware queues of a context."""

    count: int
    said: bool
    """Whether the program asked for so many."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Connections:
        """As the variables of the program say."""
        said = environment.get(VARIABLE, "")
        asked = int(said) if said.isdecimal() and said.isascii() else 0
        return cls(asked or _USUAL, asked > 0)
