"""Do the copies of each direction run under compute?"""

from __future__ import annotations

from overlapcheck.copies import JUDGED_DIRECTIONS, CopyOverlap, Direction
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.quantities import percent
from overlapcheck.verdict import Check, Outcome, Policy

CEILING_SHARE = 0.9
"""Share of the ceiling that is as good as reaching it."""
MAX_PAGEABLE_SHARE = 0.10
"""From this share of pageable copy time on, the ceiling gives no relief."""
MIN_WIN_SHARE = 0.05
"""A direction that could win less of the window is not judged."""


def check_overlap(device: DeviceMeasurements, policy: Policy) -> list[Check]:
    """One check per judged direction that has copies in the window."""
    return [
        _check(device, device.copies[direction], policy)
        for direction in JUDGED_DIRECTIONS
        if direction in device.copies and device.copies[direction].copy_ns
    ]


def _check(device: DeviceMeasurements, copies: CopyOverlap, policy: Policy) -> Check:
    overlap, ceiling = copies.overlap or 0.0, copies.ceiling or 0.0
    name = check_name(copies.direction)
    own = copies.direction.value in policy.overlap_of
    limit = policy.overlap_of.get(copies.direction.value, policy.min_overlap)
    limit_from = policy.origin(name if own else "min_overlap", "relief_from_ceiling")
    reason = f"ceiling {percent(ceiling)}"
    relieved = CEILING_SHARE * ceiling
    if copies.pageable_share >= MAX_PAGEABLE_SHARE:
        reason = f"pageable copies get no relief (ceiling {percent(ceiling)})"
    elif policy.relief_from_ceiling and relieved < limit:
        limit, reason = relieved, f"0.9 of the ceiling {percent(ceiling)}"
    could_win = copies.could_win_ns / max(device.window.length_ns, 1)
    outcome = Outcome.PASS if overlap >= limit else Outcome.FAIL
    if outcome is Outcome.FAIL and could_win < MIN_WIN_SHARE:
        outcome = Outcome.PASS
        reason = f"not judged: hiding more wins at most {percent(could_win)}"
    return Check(
        name,
        device.key,
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
