"""Candidate predecessors of device operations, and what finding them shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Index, Ints, groups
from overlapcheck.passes.operations import Operations

NO_OPERATION = -1
# Device timestamps of neighbours may cross by this much.
CLOCK_SLACK_NS = 2_000
# An operation released by another one starts within this time.
ADJACENT_NS = 20_000


@dataclass(frozen=True)
class Edges:
    """Candidate predecessors: row `after` cannot start before row `before` ends."""

    after: Index
    before: Index


def keyed(stream: Ints, time_ns: Ints, origin: int) -> Ints:
    """Stream and time in one sortable number: 48 bits of time hold three days."""
    limited = np.clip(time_ns - origin, -1, (1 << 48) - 2) + 1
    return (stream << 48) | limited


def dense_streams(ops: Operations) -> dict[tuple[int, int], int]:
    """Dense stream number of each (context, stream) id pair of the device."""
    rows, _ = groups(ops.stream)
    keys = zip(ops.context_id[rows].tolist(), ops.stream_id[rows].tolist(), strict=True)
    return dict(zip(keys, ops.stream[rows].tolist(), strict=True))
