"""Do the copies of each direction run under compute?"""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.copies import JUDGED_DIRECTIONS, CopyOverlap, Direction
from overlapcheck.quantities import percent
from overlapcheck.thresholds import Thresholds
from overlapcheck.time_use import TimeUse
from overlapcheck.verdict import Check, Limits, Outcome


def check_overlap(part: TimeUse, limits: Limits, granted: Thresholds) -> list[Check]:
    """One check per judged direction that has copies in the stretch, and a limit."""
    checks = []
    for direction in JUDGED_DIRECTIONS:
        least = limits.overlap_of.get(direction.value, limits.min_overlap)
        copies = part.copies.get(direction)
        if least is not None and copies is not None and copies.copy_ns:
            checks.append(_check(part, copies, _Asked(least, limits, granted)))
    return checks


@dataclass(frozen=True)
class _Asked:
    least: float
    limits: Limits
    granted: Thresholds


def _check(part: TimeUse, copies: CopyOverlap, asked: _Asked) -> Check:
    limit, limits, granted = asked.least, asked.limits, asked.granted
    overlap, ceiling = copies.overlap or 0.0, copies.ceiling or 0.0
    name = check_name(copies.direction)
    own = copies.direction.value in limits.overlap_of
    limit_from = limits.origin(name if own else "min_overlap", "relief_from_ceiling")
    reason = f"ceiling {percent(ceiling)}"
    relieved = granted.ceiling_share * ceiling
    if copies.pageable_share >= granted.pageable_relief_share:
        reason = f"pageable copies get no relief (ceiling {percent(ceiling)})"
    elif limits.relief_from_ceiling and relieved < limit:
        limit, reason = relieved, f"{granted.ceiling_share:g} of the ceiling {percent(ceiling)}"
    could_win = copies.could_win_ns / max(part.length_ns, 1)
    outcome = Outcome.PASS if overlap >= limit else Outcome.FAIL
    if outcome is Outcome.FAIL and could_win < granted.least_win_share:
        outcome = Outcome.PASS
        reason = f"not judged: hiding more wins at most {percent(could_win)}"
    return Check(
        name,
        part.key,
        outcome,
        overlap,
        limit,
        reason,
        at_least=True,
        limit_from=limit_from,
    )


def check_name(direction: Direction) -> str:
    """Name of the check of one direction."""
    return f"overlap {direction}"
