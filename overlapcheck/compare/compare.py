"""The comparison of two reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from overlapcheck._version import __version__
from overlapcheck.compare import noise
from overlapcheck.compare.ledger import alone, divided, ledger_changes
from overlapcheck.compare.limit import judged
from overlapcheck.compare.metric import Metric
from overlapcheck.compare.pace import OWN_STEP, at_one_pace, own_paces
from overlapcheck.compare.pairing import Pair, objections, pairs
from overlapcheck.comparison import (
    Change,
    Comparison,
    DeviceComparison,
    NotComparable,
    Quantity,
    Side,
    Unit,
)
from overlapcheck.copies import JUDGED_DIRECTIONS, Direction
from overlapcheck.device_report import DeviceReport
from overlapcheck.report import Report
from overlapcheck.thresholds import Thresholds


def compare(
    base: Report, new: Report, *, limit: float | None = None, force: bool = False
) -> Comparison:
    """What changed from one report to another.

    Args:
        base: what it was.
        new: what it is.
        limit: share of one by which it may be worse: the step time by that share of itself, a
            share by that many points. A share does not count where the steps got faster.
        force: compare what is not comparable, too.

    Raises:
        NotComparable: the two are of different things, and not `force`.
    """
    against = tuple(dict.fromkeys(objections(base, new)))
    if against and not force:
        raise NotComparable(
            f"not comparable: {'; '.join(against)}", "to compare all the same: --force"
        )
    paired = pairs(base, new)
    devices = tuple(_device(pair, base, new) for pair in paired)
    if limit is not None:
        devices = tuple(judged(device, limit, several=len(paired) > 1) for device in devices)
    with_steps = all(device.step_time for device in devices)
    return Comparison(
        tool_version=__version__,
        devices=devices,
        objections=against,
        noise_rule=noise.NOISE_RULE if with_steps else noise.NO_STEPS_RULE,
        limit=limit,
    )


def _device(pair: Pair, base: Report, new: Report) -> DeviceComparison:
    one, other = pair = at_one_pace(pair)
    found = numbers((_side(one, base), _side(other, new)), pair)
    ledger = found.ledger
    return replace(
        found,
        gone=alone(pair, base.findings, ledger, Change.BETTER),
        new_causes=alone((other, one), new.findings, ledger, Change.WORSE),
    )


def numbers(sides: tuple[Side, Side], pair: Pair) -> DeviceComparison:
    """All that is compared of two devices at one pace, but the causes that came or went.

    Args:
        sides: what to tell of each.
        pair: the devices.
    """
    compute, whole = divided(pair)
    return DeviceComparison(
        device=pair[1].device,
        base=sides[0],
        new=sides[1],
        step_time=step_time(pair),
        shares=(recoverable(pair), *_overlaps(pair)),
        ledger=ledger_changes(pair),
        gone=(),
        new_causes=(),
        compute=compute,
        whole=whole,
        excerpts=(pair[0].excerpt, pair[1].excerpt),
    )


def side(device: DeviceReport, report: str, program: str) -> Side:
    """What to tell of one side.

    Args:
        device: with its numbers.
        report: name of its report.
        program: command line of the program.
    """
    return Side(
        report,
        program,
        device.name,
        device.window.steps,
        device.window.step_family,
        device.window_ns,
        device.compute_ns,
        device.ledger,
    )


def _side(device: DeviceReport, report: Report) -> Side:
    return side(device, report.capture.report, report.capture.program)


def step_time(pair: Pair) -> Quantity | None:
    """The median step, or the own paces where both sides have one; None without steps."""
    base, new = (device.steps for device in pair)
    if base is None or new is None:
        return None
    uncertain = noise.noise_ns(base, new, "step")
    paces = own_paces(pair)
    if paces is not None:
        base_ns, new_ns = (pace.own_ns for pace in paces)
        uncertain = max(uncertain, noise.noise_of_paces(paces))
        return Metric(OWN_STEP, Unit.NS).compared(base_ns, new_ns, uncertain)
    medians = base.step.median_ns, new.step.median_ns
    return Metric("step time", Unit.NS).compared(*medians, uncertain)


def recoverable(pair: Pair) -> Quantity:
    """What perfect overlap could win back."""
    # Recoverable time is idle time, so it is as uncertain as that.
    base, new = pair
    uncertain = noise.noise_of_share(
        pair, "idle", lambda device: device.steps.step.median_ns if device.steps else 0.0
    )
    return Metric("recoverable", Unit.SHARE).compared(base.recoverable, new.recoverable, uncertain)


def _overlaps(pair: Pair) -> Iterator[Quantity]:
    for direction in JUDGED_DIRECTIONS:
        if any(direction.value in device.copies for device in pair):
            yield overlap(pair, direction)


def overlap(pair: Pair, direction: Direction) -> Quantity:
    """The share of a direction's copies that is hidden."""
    base, new = (device.copies.get(direction.value) for device in pair)
    # The part of the copies that lies outside compute varies as the exposed time does.
    uncertain = noise.noise_of_share(pair, "exposed_copy", partial(_copied_ns, direction))
    metric = Metric(f"overlap {direction}", Unit.SHARE, more_is_better=True)
    if all(_copies_little(device, direction) for device in pair):
        metric = replace(metric, judged=False)
    return metric.compared(base.overlap if base else None, new.overlap if new else None, uncertain)


def _copies_little(device: DeviceReport, direction: Direction) -> bool:
    """Whether hiding all copies would win less than what a check of one recording asks for."""
    copies = device.copies.get(direction.value)
    least_ns = Thresholds.least_win_share * device.window_ns
    # Results that do not say how long copies took have 0 there.
    return copies is not None and 0 < copies.copy_ns < least_ns


def _copied_ns(direction: Direction, device: DeviceReport) -> float:
    """Copy time of a direction per step."""
    copies, steps = device.copies.get(direction.value), device.window.steps
    return copies.copy_ns / steps if copies and steps else 0.0
