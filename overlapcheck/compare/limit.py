"""Which changes are worse than `--fail-if-worse` allows."""

from __future__ import annotations

from dataclasses import replace

from overlapcheck.comparison import Change, DeviceComparison, Quantity
from overlapcheck.quantities import duration, percent


def judged(device: DeviceComparison, limit: float, *, several: bool) -> DeviceComparison:
    """The device with a clause on every quantity that is too bad.

    Args:
        device: not judged yet.
        limit: share of one: of the step time, or in points of a share.
        several: whether the clauses must name the device.
    """
    where = f" on device {device.device}" if several else ""
    step = device.step_time
    if step is not None:
        step = replace(step, too_bad=_longer(step, limit, where))
    # A share does not count where the steps got faster: that is what it was given up for.
    faster = step is not None and step.change is Change.BETTER
    shares = device.shares if faster else tuple(_share(s, limit, where) for s in device.shares)
    return replace(device, step_time=step, shares=shares)


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


def _share(share: Quantity, limit: float, where: str) -> Quantity:
    if share.change is not Change.WORSE or abs(share.difference or 0.0) <= limit:
        return share
    clause = f"{share.name} is worse{where}: {percent(share.base)} -> {percent(share.new)}"
    return replace(share, too_bad=clause)
