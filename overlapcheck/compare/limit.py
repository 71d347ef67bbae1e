"""Which changes are worse than `--fail-if-worse` allows."""

from __future__ import annotations

from dataclasses import replace

from overlapcheck.comparison import Change, DeviceComparison, Quantity, Unit
from overlapcheck.quantities import duration, percent
from overlapcheck.thresholds import Thresholds

_ROUNDING = 1e-9
_TENTH = 0.1


def judged(device: DeviceComparison, limit: float, *, several: bool) -> DeviceComparison:
    """The device with a clause on every quantity that is too bad.

    Args:
        device: not judged yet.
        limit: share of one: of the step time, or in points of a share.
        several: whether the clauses must name the device.
    """
    where = f" on device {device.device}" if several else ""
    step, shares = limited(device.step_time, device.shares, limit, where)
    return replace(device, step_time=step, shares=shares)


def limited(
    step: Quantity | None, shares: tuple[Quantity, ...], limit: float, where: str = ""
) -> tuple[Quantity | None, tuple[Quantity, ...]]:
    """A step time and the shares beside it, with a clause on each that is too bad.

    Args:
        step: None where a side has no steps.
        shares: of the same window.
        limit: see `judged`.
        where: names in the clauses what they are of.
    """
    if step is not None:
        step = replace(
            step,
            too_bad=_longer(step, limit, where),
            too_noisy=_hidden(step, step.base or 0.0, limit, where),
        )
    # A share does not count where the steps got faster: that is what it was given up for.
    faster = step is not None and step.change is Change.BETTER
    return step, shares if faster else tuple(_share(one, limit, where) for one in shares)


def _longer(step: Quantity, limit: float, where: str) -> str:
    if step.change is not Change.WORSE or not step.base or not step.new:
        return ""
    longer = step.new / step.base - 1
    if longer <= limit:
        return ""
    return (
        f"{step.name} is {percent(longer)} longer{where}:"
        f" {duration(step.base)} -> {duration(step.new)}"
    )


def _hidden(quantity: Quantity, whole: float, limit: float, where: str) -> str:
    """What cannot be told: whether it is worse by so much.

    Args:
        quantity: not better by more than its noise, and not known to be too bad.
        whole: what the limit is a share of; 0 for nothing.
        limit: share of it; what is less than the least noise was never asked for.
        where: names the device.
    """
    noise = quantity.noise / whole if whole else 0.0
    # 0 asks for whatever can be seen.
    seen = limit == 0 or quantity.change in (Change.BETTER, Change.UNKNOWN)
    if seen or noise <= max(limit, Thresholds.noise_share) * (1 + _ROUNDING):
        return ""
    unit = "%" if quantity.unit is Unit.NS else "points"
    digits = 0 if noise >= _TENTH else 1
    said = f"cannot see {limit * 100:g} {unit}: noise is {noise * 100:.{digits}f} {unit}"
    return f"{quantity.name}{where}: {said}"


def _share(share: Quantity, limit: float, where: str) -> Quantity:
    share = replace(share, too_noisy=_hidden(share, 1.0, limit, where))
    if share.change is not Change.WORSE or abs(share.difference or 0.0) <= limit:
        return share
    clause = f"{share.name} is worse{where}: {percent(share.base)} -> {percent(share.new)}"
    return replace(share, too_bad=clause)
