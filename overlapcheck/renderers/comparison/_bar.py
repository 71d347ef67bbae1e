"""A median step of one side as a bar: compute, and the causes of the time without it.

A saved result holds no events, so this is no recording: the parts are laid end to end, and share
the median step as they share the window, so that the bar is as long as the step. Without steps it
is the window.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.comparison import DeviceComparison, Side
from overlapcheck.renderers._end_to_end import laid_out

COMPUTE = "compute"
_REST = "no compute"
"""What a ledger leaves over; a whole one leaves nothing."""


@dataclass(frozen=True)
class Part:
    """One piece of a bar."""

    name: str
    """"compute", or the id of a cause."""
    start_ns: int
    end_ns: int
    share: float
    """Of the window."""


@dataclass(frozen=True)
class Bar:
    """One side of a device."""

    name: str
    """"base" or "new"."""
    side: Side
    is_step: bool
    """Whether it is a median step, not the window."""
    parts: tuple[Part, ...]
    """End to end."""

    @property
    def length_ns(self) -> int:
        """Of the whole."""
        return self.parts[-1].end_ns if self.parts else 0


def bars(device: DeviceComparison) -> tuple[Bar, Bar]:
    """Base and new: steps where both have them, else windows."""
    step = device.step_time
    return (
        _bar("base", device.base, step.base if step else None),
        _bar("new", device.new, step.new if step else None),
    )


def _bar(name: str, side: Side, step_ns: float | None) -> Bar:
    window_ns = max(side.window_ns, 1)
    length_ns = side.window_ns if step_ns is None else step_ns
    rest_ns = side.window_ns - side.compute_ns - sum(entry.ns for entry in side.idle)
    divided = [
        (COMPUTE, side.compute_ns),
        *((entry.cause, entry.ns) for entry in side.idle),
        (_REST, rest_ns),
    ]
    parts = tuple(
        Part(cause, start, end, ns / window_ns)
        for cause, start, end, ns in laid_out(divided, window_ns, length_ns)
    )
    return Bar(name, side, step_ns is not None, parts)
