"""The saved form of a comparison of two jobs: see `saved_report.py`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from overlapcheck.comparison import Change
from overlapcheck.fleet_comparison import (
    SCHEMA,
    CauseChange,
    CollectiveChange,
    FleetComparison,
    JobQuantity,
    JobSide,
    RankComparison,
)
from overlapcheck.saved_comparison import SavedQuantity
from overlapcheck.saved_fields import SavedTool, VerdictCode, fields_of, verdict_code
from overlapcheck.verdict import Outcome


class SavedJobQuantity(Struct, frozen=True, kw_only=True):
    """One number of the whole job: that of its worst rank, on either side."""

    quantity: SavedQuantity
    base_rank: str
    new_rank: str

    @classmethod
    def of(cls, one: JobQuantity) -> SavedJobQuantity:
        """The saved form of a number of the job."""
        return cls(
            quantity=SavedQuantity.of(one.quantity), base_rank=one.base_rank, new_rank=one.new_rank
        )


class SavedRankComparison(Struct, frozen=True, kw_only=True):
    """One rank on both sides."""

    rank: str
    change: Change
    base_report: str
    new_report: str
    own_part: SavedQuantity
    """A step less its exposed collectives."""
    quantities: tuple[SavedQuantity, ...]
    """Step time, recoverable, and the overlap of each direction."""
    ledger: tuple[SavedQuantity, ...]
    """Compute and causes that changed by more than noise, the largest change first."""

    @classmethod
    def of(cls, one: RankComparison) -> SavedRankComparison:
        """The saved form of a rank's comparison."""
        device = one.device
        parts = sorted((device.compute, *device.ledger), key=lambda q: -abs(q.difference or 0.0))
        changed = [part for part in parts if part.change in (Change.WORSE, Change.BETTER)]
        return cls(
            rank=one.rank,
            change=one.change,
            base_report=device.base.report,
            new_report=device.new.report,
            own_part=SavedQuantity.of(one.own_part),
            quantities=tuple(map(SavedQuantity.of, device.quantities)),
            ledger=tuple(map(SavedQuantity.of, changed)),
        )


class SavedCauseChange(Struct, frozen=True, kw_only=True):
    """One cause of idle time, or compute, over all ranks."""

    cause: str
    grew: int
    """On how many ranks, by more than noise."""
    shrank: int
    labels: tuple[str, ...]
    """Ranks where it changed most, those where it grew first; bounded."""
    most: SavedQuantity
    """Of the first of them."""
    title: str
    advice: str
    caveat: str

    @classmethod
    def of(cls, one: CauseChange) -> SavedCauseChange:
        """The saved form of a cause's change."""
        return cls(most=SavedQuantity.of(one.most), **fields_of(one, "most"))


class SavedCollectiveChange(Struct, frozen=True, kw_only=True):
    """Collectives of one kind, of the median rank, per step."""

    kind: str
    ranks: int
    base_count: float
    new_count: float
    length: SavedQuantity
    """With the time that ranks wait in them for others."""
    exposed: SavedQuantity
    """Part of that without compute."""

    @classmethod
    def of(cls, one: CollectiveChange) -> SavedCollectiveChange:
        """The saved form of the change of a kind of collectives."""
        return cls(
            length=SavedQuantity.of(one.length),
            exposed=SavedQuantity.of(one.exposed),
            **fields_of(one, "length", "exposed"),
        )


class SavedFleetComparison(Struct, frozen=True, kw_only=True):
    """What `overlapcheck compare --format json` writes for two jobs of many ranks."""

    schema: Annotated[int, Meta(ge=1, le=SCHEMA)]
    """Version of this form."""
    kind: Literal["fleet-comparison"]
    tool: SavedTool
    change: Change
    outcome: Outcome
    """What `limit` makes of it; PASS without one."""
    exit_code: VerdictCode
    """1 where something is worse by more than the limit, 3 where that cannot be told, else 0."""
    limit: float | None
    too_bad: tuple[str, ...]
    """What is worse by more than the limit, one clause each."""
    too_noisy: tuple[str, ...]
    """What the limit asks about and cannot be told, one clause each."""
    objections: tuple[str, ...]
    noise_rule: str
    base: JobSide
    new: JobSide
    quantities: tuple[SavedJobQuantity, ...]
    """Step time, recoverable, and the overlap of each direction, of the worst rank."""
    slower: tuple[str, ...]
    """Ranks that got slower by themselves, or else all that got slower; the worst first."""
    causes: tuple[SavedCauseChange, ...]
    collectives: tuple[SavedCollectiveChange, ...]
    only_base: tuple[str, ...]
    """Ranks without a partner."""
    only_new: tuple[str, ...]
    ranks: tuple[SavedRankComparison, ...]
    """Ranks of both sides: those whose own part of the step grew most first."""

    @classmethod
    def of(cls, found: FleetComparison) -> SavedFleetComparison:
        """The saved form of a comparison of jobs."""
        made = ("tool_version", "step_time", "shares", "ranks", "causes", "collectives")
        return cls(
            schema=SCHEMA,
            kind="fleet-comparison",
            tool=SavedTool.of(found.tool_version),
            change=found.change,
            outcome=found.outcome,
            exit_code=verdict_code(found.exit_code),
            too_bad=found.too_bad,
            too_noisy=found.too_noisy,
            quantities=tuple(map(SavedJobQuantity.of, found.quantities)),
            slower=tuple(one.rank for one in found.slower),
            causes=tuple(map(SavedCauseChange.of, found.causes)),
            collectives=tuple(map(SavedCollectiveChange.of, found.collectives)),
            ranks=tuple(map(SavedRankComparison.of, found.ranks)),
            **fields_of(found, *made, "rank_clauses"),
        )
