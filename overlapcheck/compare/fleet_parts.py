"""What took the time that ranks lost or won: causes over all ranks, and collectives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from overlapcheck.compare import noise
from overlapcheck.compare.metric import Metric
from overlapcheck.compare.rank_rows import as_device
from overlapcheck.comparison import Change, Quantity, Unit
from overlapcheck.fleet import FleetCause
from overlapcheck.fleet_comparison import CauseChange, CollectiveChange, RankComparison
from overlapcheck.ledger import Reason
from overlapcheck.report_result import RankRow
from overlapcheck.thresholds import Thresholds

MAX_LABELS = 16


@dataclass(frozen=True)
class RankPair:
    """A rank's row on both sides."""

    rank: str
    rows: tuple[RankRow, RankRow]


def cause_changes(
    ranks: Sequence[RankComparison], told: Sequence[FleetCause]
) -> tuple[CauseChange, ...]:
    """Compute and causes that changed on any rank by more than noise, what grew most first.

    Where ranks got slower by themselves, the wait of the others for them comes behind.

    Args:
        ranks: compared.
        told: what is known of the causes.
    """
    changed: dict[str, list[tuple[str, Quantity]]] = {}
    for one in ranks:
        for quantity in (one.device.compute, *one.device.ledger):
            if quantity.change in (Change.WORSE, Change.BETTER):
                changed.setdefault(quantity.name, []).append((one.rank, quantity))
    own = any(one.own_part.change is Change.WORSE for one in ranks)
    about = {cause.cause: cause for cause in reversed(told)}
    found = [_cause(name, where, about.get(name)) for name, where in changed.items()]

    def weight(one: CauseChange) -> tuple[bool, bool, float]:
        waits = own and one.cause == Reason.EXPOSED_COLLECTIVE.cause
        return (not one.grew, waits, -abs(one.most.difference or 0.0))

    return tuple(sorted(found, key=weight))


def _cause(name: str, where: list[tuple[str, Quantity]], about: FleetCause | None) -> CauseChange:
    grew = sorted((one for one in where if one[1].change is Change.WORSE), key=_most_first)
    shrank = sorted((one for one in where if one[1].change is Change.BETTER), key=_most_first)
    shown = grew or shrank
    return CauseChange(
        cause=name,
        grew=len(grew),
        shrank=len(shrank),
        labels=tuple(rank for rank, _ in shown[:MAX_LABELS]),
        most=shown[0][1],
        title=about.title if about else "",
        advice=about.advice if about else "",
        caveat=about.caveat if about else "",
    )


def _most_first(one: tuple[str, Quantity]) -> float:
    return -abs(one[1].difference or 0.0)


def collective_changes(pairs: Sequence[RankPair]) -> tuple[CollectiveChange, ...]:
    """Collectives of each kind that ranks have on both sides, per step; the longest first."""
    per_step = [pair for pair in pairs if all(row.steps for row in pair.rows)]
    kinds = dict.fromkeys(one.kind for pair in per_step for one in pair.rows[1].collectives)
    found = [change for kind in kinds for change in _of_kind(kind, per_step)]
    return tuple(sorted(found, key=lambda one: -(one.length.new or 0.0)))


def _of_kind(kind: str, pairs: Sequence[RankPair]) -> Iterator[CollectiveChange]:
    having = [pair for pair in pairs if all(_total(kind, "count", row) for row in pair.rows)]
    if not having:
        return
    uncertain = _uncertain_ns(having)

    def medians(what: str) -> tuple[float, float]:
        base, new = ([_total(kind, what, pair.rows[side]) for pair in having] for side in (0, 1))
        return median(base), median(new)

    counts, lengths, exposed = (medians(what) for what in ("count", "total_ns", "exposed_ns"))
    yield CollectiveChange(
        kind=kind,
        ranks=len(having),
        base_count=counts[0],
        new_count=counts[1],
        length=Metric(kind, Unit.NS).compared(lengths[0], lengths[1], uncertain),
        exposed=Metric(f"{kind} exposed", Unit.NS).compared(exposed[0], exposed[1], uncertain),
    )


def _total(kind: str, what: str, row: RankRow) -> float:
    """A sum over the collectives of a kind, per step."""
    total = sum(getattr(one, what) for one in row.collectives if one.kind == kind)
    return float(total / (row.steps or 1))


def _uncertain_ns(pairs: Sequence[RankPair]) -> float:
    """As uncertain as the idle time of the median rank, of which exposed collectives are a part."""
    found = []
    for pair in pairs:
        base, new = (as_device(row).steps for row in pair.rows)
        if base is not None and new is not None:
            found.append(noise.noise_ns(base, new, "idle"))
    return median(found) if found else Thresholds.noise_share
