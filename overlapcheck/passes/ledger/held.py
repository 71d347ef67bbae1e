"""What held a thread while the device ran dry: calls, each with the reason that it stands for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Codes, Columns, Ints, Rows


@dataclass(frozen=True)
class HeldCalls(Columns):
    """Calls with a reason, sorted by (tid, start), disjoint within a thread."""

    tid: Ints
    start_ns: Ints
    end_ns: Ints
    reason: Codes
    """Reason."""
    call: Rows
    """Row of the CUDA call; ABSENT for a wait in MPI."""

    def of_thread(self, tid: int) -> HeldCalls:
        """The calls of one thread."""
        return self.rows(slice(self.from_row_of(tid), self.from_row_of(tid + 1)))

    def from_row_of(self, tid: int) -> int:
        """Row of the first call of a thread, or where it would be."""
        return int(np.searchsorted(self.tid, tid))
