"""What of a job, and of its ranks, is worse than `--fail-if-worse` allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from overlapcheck.compare.limit import limited
from overlapcheck.comparison import Quantity
from overlapcheck.fleet import named
from overlapcheck.fleet_comparison import FleetComparison, JobQuantity

MAX_LABELS = 8


def judged(found: FleetComparison, limit: float) -> FleetComparison:
    """The comparison with a clause on everything that is too bad.

    The job is judged as one report is, by its worst rank. A rank that got worse beyond its noise
    fails, too, whatever the others do; that noise hides the numbers of a single rank does not make
    the job unsure, for none of them is slower than the slowest.

    Args:
        found: not judged yet.
        limit: share of one: of the step time, or in points of a share.
    """
    step, shares = limited(
        found.step_time.quantity if found.step_time else None,
        tuple(one.quantity for one in found.shares),
        limit,
    )
    of_job = {one.name for one in (step, *shares) if one and one.too_bad}
    return replace(
        found,
        step_time=_told(found.step_time, step) if found.step_time and step else None,
        shares=tuple(map(_told, found.shares, shares)),
        rank_clauses=tuple(_of_ranks(found, limit, of_job)),
    )


def _told(one: JobQuantity, quantity: Quantity) -> JobQuantity:
    """The same number with its clauses naming the rank."""
    where = f"rank {one.new_rank}"
    if one.base_rank != one.new_rank:
        where += f", was rank {one.base_rank}"
    bad = f"{quantity.too_bad} ({where})" if quantity.too_bad else ""
    return replace(one, quantity=replace(quantity, too_bad=bad))


def _of_ranks(found: FleetComparison, limit: float, told: set[str]) -> Iterator[str]:
    """A clause for each quantity that is too bad on ranks and fine for the job."""
    where: dict[str, list[tuple[str, Quantity]]] = {}
    for one in found.ranks:
        step, shares = limited(one.device.step_time, one.device.shares, limit)
        for quantity in (step, *shares):
            if quantity is not None and quantity.too_bad and quantity.name not in told:
                where.setdefault(quantity.name, []).append((one.rank, quantity))
    for ranks in where.values():
        ranks.sort(key=lambda one: -abs(one[1].difference or 0.0))
        labels = [rank for rank, _ in ranks]
        yield f"on {named(labels, MAX_LABELS)}: {ranks[0][1].too_bad}"
