"""Idle time by cause on both sides, and the causes that came or went."""

from __future__ import annotations

from overlapcheck.compare import noise
from overlapcheck.compare.metric import Metric
from overlapcheck.compare.pairing import Pair
from overlapcheck.comparison import Appeared, Change, Quantity, Unit
from overlapcheck.finding import MATERIAL_SHARE, Finding
from overlapcheck.thresholds import Thresholds

COMPUTE = "compute"
WHOLE = "together"


def divided(pair: Pair) -> tuple[Quantity, Quantity]:
    """Compute and the whole that it makes with the ledger, in the ledger's unit: they add up."""
    sides = [(device.compute_ns, device.window_ns) for device in pair]
    steps = [device.steps for device in pair]
    if steps[0] is not None and steps[1] is not None:
        unit, over = Unit.NS, [device.window.steps or 1 for device in pair]
        noises = [noise.noise_ns(steps[0], steps[1], which) for which in ("compute", "step")]
    else:
        unit, over = Unit.SHARE, [max(device.window_ns, 1) for device in pair]
        noises = [Thresholds.noise_share] * 2
    compute, whole = (
        Metric(name, unit).compared(sides[0][n] / over[0], sides[1][n] / over[1], noises[n])
        for n, name in enumerate((COMPUTE, WHOLE))
    )
    return compute, whole


def ledger_changes(pair: Pair) -> tuple[Quantity, ...]:
    """Idle time of every cause per step; as shares of the window where a side has no steps.

    Largest change first. A cause varies at most as much as all idle time does, so that is its
    noise.
    """
    sides = [{entry.cause: entry.ns for entry in device.ledger} for device in pair]
    steps = [device.steps for device in pair]
    if steps[0] is not None and steps[1] is not None:
        unit, uncertain = Unit.NS, noise.noise_ns(steps[0], steps[1], "idle")
        over = [device.window.steps or 1 for device in pair]
    else:
        unit, uncertain = Unit.SHARE, Thresholds.noise_share
        over = [max(device.window_ns, 1) for device in pair]
    changes = [
        Metric(cause, unit).compared(
            sides[0].get(cause, 0) / over[0], sides[1].get(cause, 0) / over[1], uncertain
        )
        for cause in sorted({*sides[0], *sides[1]})
    ]
    return tuple(sorted(changes, key=lambda change: -abs(change.difference or 0.0)))


def alone(
    pair: Pair, findings: tuple[Finding, ...], ledger: tuple[Quantity, ...], change: Change
) -> tuple[Appeared, ...]:
    """Causes that are material on one side alone, by more than noise; costliest first.

    Args:
        pair: the device of that side, then the other.
        findings: of that side.
        ledger: the changes of all causes.
        change: BETTER for causes of the base that are gone, WORSE for new ones.
    """
    device, other = pair
    left = {entry.cause: entry.ns / max(other.window_ns, 1) for entry in other.ledger}
    changed = {quantity.name for quantity in ledger if quantity.change is change}
    return tuple(
        Appeared(
            found.cause,
            found.per_step_ns,
            found.share,
            found.title,
            found.advice,
            found.caveat,
            found.source,
            found.predicted.win_ns if found.predicted and change is Change.BETTER else None,
        )
        for found in findings
        if found.device == device.key
        and found.cause in changed
        and found.share >= MATERIAL_SHARE > left.get(found.cause, 0.0)
    )
