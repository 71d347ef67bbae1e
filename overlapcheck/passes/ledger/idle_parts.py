"""Parts of idle pieces: what the walk cuts them into, and what rules give reasons to."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.codes import Code
from overlapcheck.columns import Codes, Columns, Ints, Rows


class Part(Code):
    """What a part of an idle piece is."""

    HOST = 0
    """The operation that follows had not been submitted yet."""
    LATENCY = 1
    """It had, and its predecessor was done, but it had not started."""
    FILL = 2
    """An operation that compute waited for was running."""
    OPEN = 3
    """Nothing follows: the end of the trace."""
    ELSEWHERE = 4
    """The operation that follows waited for another device of the process."""


@dataclass(frozen=True)
class Parts(Columns):
    """Parts of idle pieces, sorted by start, disjoint; together exactly the idle time."""

    start_ns: Ints
    end_ns: Ints
    piece: Rows
    """Number of the idle piece."""
    part: Codes
    """Part."""
    operation: Rows
    """FILL: the operation that ran; else the one that follows. ABSENT for none."""
    kernel: Rows
    """The compute operation that ends the piece; ABSENT for none."""
