"""What each stream is given in each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from overlapcheck.columns import ABSENT, ABSENT_TIME, Floats, Index, Ints, Mask
from overlapcheck.order import Work
from overlapcheck.stream_contract import Role
from overlapcheck.stream_waits import HandOverSteps, StreamWaits

ROLE_OF = {
    Work.COMPUTE: Role.COMPUTE,
    Work.D2D: Role.COMPUTE,
    Work.MEMSET: Role.COMPUTE,
    Work.COMMUNICATION: Role.COLLECTIVE,
    Work.H2D: Role.H2D,
    Work.D2H: Role.D2H,
    Work.P2P: Role.P2P,
}
"""Migrations are no work that a program hands over."""
ROLES = (Role.COMPUTE, Role.COLLECTIVE, Role.H2D, Role.D2H, Role.P2P)


@dataclass(frozen=True)
class StepWork:
    """Operations by stream and step."""

    waits: StreamWaits
    steps: HandOverSteps

    @cached_property
    def step(self) -> Index:
        """Step of each operation.

        ABSENT before the first and where it is not known; one more than there are after the last.
        """
        launch = self.waits.operations.launch_start_ns
        step = self.steps.of(launch)
        if len(self.steps):
            step[launch >= self.steps.end_ns[-1]] = len(self.steps)
        step[launch == ABSENT_TIME] = ABSENT
        return step

    @cached_property
    def steady(self) -> Mask:
        """Which steps are, with one more for what comes after the last, and for ABSENT."""
        return np.concatenate((self.steps.steady, [False, False]))

    @cached_property
    def role(self) -> Ints:
        """Position in ROLES of the work of each operation; ABSENT for none."""
        of_work = np.full(len(Work) + 1, ABSENT, dtype=np.int64)
        for work, role in ROLE_OF.items():
            of_work[work] = ROLES.index(role)
        return of_work[self.waits.operations.work]

    @cached_property
    def given(self) -> Mask:
        """Operations of steady steps that a program handed over."""
        mask: Mask = self.steady[self.step] & (self.role != ABSENT)
        return mask

    @cached_property
    def work_ns(self) -> Floats:
        """Time of each stream's work in all steady steps, shape (streams, ROLES)."""
        ops, given = self.waits.operations, self.given
        key = ops.stream[given] * len(ROLES) + self.role[given]
        length = (ops.end_ns - ops.start_ns)[given]
        count = len(self.waits.streams) * len(ROLES)
        total = np.bincount(key, weights=length.astype(np.float64), minlength=count)[:count]
        shaped: Floats = total.astype(np.float64).reshape(-1, len(ROLES))
        return shaped

    @cached_property
    def counts(self) -> Ints:
        """Operations of each stream in each step, shape (streams, steps)."""
        ops = self.waits.operations
        count = len(self.steps)
        rows = np.flatnonzero((self.step >= 0) & (self.step < count) & (self.role != ABSENT))
        key = ops.stream[rows] * count + self.step[rows]
        table = np.bincount(key, minlength=len(self.waits.streams) * count)
        return table.reshape(len(self.waits.streams), count)


def usual(values: Ints, share: float = 0.5) -> int | None:
    """The value that most of them have, if more than a share do; None else."""
    if values.size == 0:
        return None
    found, times = np.unique(values, return_counts=True)
    best = int(np.argmax(times))
    return int(found[best]) if times[best] > share * values.size else None


class StepOperations:
    """Finds the operations that streams are given in a step."""

    def __init__(self, work: StepWork) -> None:
        self._work = work
        waits = work.waits
        streams = waits.operations.stream[waits.order]
        self._bounds = np.searchsorted(streams, np.arange(len(waits.streams) + 1))

    def rows(self, numbers: Sequence[int], step: int) -> Index:
        """Rows of the operations, in order of hand-over."""
        work, found = self._work, []
        for number in numbers:
            mine = work.waits.order[self._bounds[number] : self._bounds[number + 1]]
            first, last = np.searchsorted(work.step[mine], [step, step + 1])
            found.append(mine[first:last])
        rows = np.concatenate([np.empty(0, dtype=np.intp), *found])
        return rows[np.argsort(work.waits.operations.launch_start_ns[rows], kind="stable")]
