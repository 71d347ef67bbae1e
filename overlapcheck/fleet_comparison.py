"""What changed between two jobs of many ranks: for the job as one, and rank by rank."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.comparison import Change, DeviceComparison, Quantity
from overlapcheck.errors import ExitCode
from overlapcheck.quantities import count_of
from overlapcheck.verdict import EXIT_CODES, Outcome

SCHEMA = 1
"""Version of the JSON form of a comparison of jobs."""
OWN_PART = "own part of the step"
"""A step less its exposed collectives: what a rank that waits for others does not get longer by."""


@dataclass(frozen=True)
class JobSide:
    """One of the two jobs, as far as a reader must know it."""

    name: str
    """File or folder that it came from, without the folders above."""
    program: str
    gpu: str
    reports: int
    ranks: int
    outcome: Outcome
    waited_for: str
    """Rank that the others wait for most; "" for none."""
    waited_share: float
    """Of the time, what the median other rank waits for it."""


@dataclass(frozen=True)
class JobQuantity:
    """One number of the whole job: that of its worst rank, on either side."""

    quantity: Quantity
    base_rank: str
    new_rank: str
    """Rank that has it."""


@dataclass(frozen=True)
class RankComparison:
    """One rank on both sides."""

    rank: str
    own_part: Quantity
    device: DeviceComparison

    @property
    def change(self) -> Change:
        """Of its own part; where that is the same, of its step and its shares."""
        if self.own_part.change in (Change.BETTER, Change.WORSE):
            return self.own_part.change
        return self.device.change

    @property
    def grown(self) -> Quantity | None:
        """What took most of a longer step: compute, or a cause; None where nothing grew."""
        parts = (self.device.compute, *self.device.ledger)
        worse = [part for part in parts if part.change is Change.WORSE]
        return max(worse, key=lambda part: part.difference or 0.0, default=None)


@dataclass(frozen=True)
class CauseChange:
    """One cause of idle time, or compute, over all ranks."""

    cause: str
    grew: int
    """On how many ranks, by more than noise."""
    shrank: int
    labels: tuple[str, ...]
    """Ranks where it changed most, those where it grew first; bounded."""
    most: Quantity
    """Of the first of them."""
    title: str = ""
    advice: str = ""
    caveat: str = ""
    """When the advice would be wrong."""


@dataclass(frozen=True)
class CollectiveChange:
    """Collectives of one kind, of the median rank, per step."""

    kind: str
    ranks: int
    """That have such collectives on both sides."""
    base_count: float
    new_count: float
    length: Quantity
    """With the time that ranks wait in them for others."""
    exposed: Quantity
    """Part of that without compute."""


@dataclass(frozen=True)
class FleetComparison:
    """Everything to show of a comparison of two jobs."""

    tool_version: str
    base: JobSide
    new: JobSide
    step_time: JobQuantity | None
    """Of the slowest rank; None where a side has no steps."""
    shares: tuple[JobQuantity, ...]
    """Recoverable, and the overlap of each direction, of the worst rank."""
    ranks: tuple[RankComparison, ...]
    """Ranks of both sides: those whose own part of the step grew most first."""
    causes: tuple[CauseChange, ...]
    """What changed on any rank, what grew most first; waiting for a rank behind what that rank
    does."""
    collectives: tuple[CollectiveChange, ...]
    only_base: tuple[str, ...]
    """Ranks without a partner."""
    only_new: tuple[str, ...]
    objections: tuple[str, ...]
    """Why the two are not comparable, where the user insisted."""
    noise_rule: str
    """How a difference was told from noise, in a sentence."""
    limit: float | None
    """`--fail-if-worse` as a share of one; None where nothing fails."""
    rank_clauses: tuple[str, ...] = ()
    """What is worse by more than the limit on single ranks and not for the job, a clause each."""

    @property
    def quantities(self) -> tuple[JobQuantity, ...]:
        """All of the job, the step time first."""
        return (*((self.step_time,) if self.step_time else ()), *self.shares)

    @property
    def slower(self) -> tuple[RankComparison, ...]:
        """Ranks whose own part of the step, or else whose step, is longer by more than noise.

        Where some ranks are slower by themselves the others wait for them, and are left out.
        """
        own = tuple(one for one in self.ranks if one.own_part.change is Change.WORSE)
        steps = (one for one in self.ranks if one.device.step_time is not None)
        return own or tuple(
            one
            for one in steps
            if one.device.step_time.change is Change.WORSE  # type: ignore[union-attr]
        )

    @property
    def too_bad(self) -> tuple[str, ...]:
        """What is worse by more than the limit, one clause each."""
        of_job = [one.quantity.too_bad for one in self.quantities if one.quantity.too_bad]
        return (*of_job, *self.rank_clauses)

    @property
    def too_noisy(self) -> tuple[str, ...]:
        """What the limit asks about and cannot be told, one clause each."""
        if self.limit is None:
            return ()
        said = [one.quantity.too_noisy for one in self.quantities if one.quantity.too_noisy]
        alone = len(self.only_base) + len(self.only_new)
        if alone:
            said.append(f"{count_of(alone, 'rank has', 'ranks have')} no partner")
        return tuple(said)

    @property
    def outcome(self) -> Outcome:
        """What the limit makes of it; PASS where there is none."""
        if self.too_bad:
            return Outcome.FAIL
        return Outcome.INCONCLUSIVE if self.too_noisy else Outcome.PASS

    @property
    def clauses(self) -> tuple[str, ...]:
        """Why the outcome is what it is; nothing where it is PASS."""
        return self.too_bad or self.too_noisy

    @property
    def change(self) -> Change:
        """Of the step of the job; where that is the same, WORSE where any rank is, else BETTER."""
        step = self.step_time.quantity.change if self.step_time else Change.UNKNOWN
        if step in (Change.BETTER, Change.WORSE):
            return step
        changes = {one.change for one in self.ranks}
        return next((c for c in (Change.WORSE, Change.BETTER) if c in changes), Change.NONE)

    @property
    def exit_code(self) -> ExitCode:
        """1 where something is worse by more than the limit, 3 where that cannot be told."""
        return EXIT_CODES[self.outcome]
