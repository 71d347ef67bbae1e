"""What recurs and what happens once: how the time of a cause is spread over the steps.

A cost that the costliest quarter of the steps all have recurs. What a step has beyond it happens in
fewer than a quarter of them: a spike, which no repair of every step would win back.

    step       0    1    2    3    4    5    6    7
    cost       2    2    2   92    2    2    2    2
    recurring  2    2    2    2    2    2    2    2       the spike: 90 in step 3

Steps that were found from kernel names may be parts of what the program calls a step: there what
comes again after every so many of them recurs, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.causes._base import Evidence
from overlapcheck.columns import ABSENT, Mask, one_of
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements, Names, WindowSource
from overlapcheck.quantities import duration
from overlapcheck.recurring import does_recur, lasting_ns, usual_ns
from overlapcheck.thresholds import Thresholds

MAX_SPIKES = 2
"""Spikes that are told; the longest are."""


@dataclass(frozen=True)
class Recurrence:
    """One cause over the steps of a window."""

    steps_hit: int | None = None
    """None without steps."""
    median_ns: float | None = None
    """Of its cost in the steps that it hits; None without steps."""
    recurs: bool = True
    lasting_ns: int = 0
    """Its time without the spikes, where those cost enough to be a cause of their own."""
    spikes: tuple[str, ...] = ()
    """A line for each."""


def recurrence(
    cause: str, evidence: Evidence, device: DeviceMeasurements, measured: Measurements
) -> Recurrence:
    """How a cause recurs in the steps of its device; without steps nothing is a spike."""
    steps, total, limits = device.steps, evidence.blamed.total_ns, measured.thresholds
    count = device.window.steps
    if not count or len(steps) == 0 or not evidence.placed:
        return Recurrence(lasting_ns=total)
    cost = evidence.blamed.overlap_with(steps.start_ns, steps.end_ns)
    hit = cost > 0
    if device.window.source is WindowSource.KERNEL_PERIOD and comes_again(hit, limits):
        return Recurrence(int(hit.sum()), float(np.median(cost[hit])), lasting_ns=total)
    usual = usual_ns(cost, count)
    lasting = lasting_ns(cost, usual)
    stands_out = total - lasting >= MATERIAL_SHARE * device.length_ns
    recurs = does_recur(lasting, total, device.length_ns)
    told = stands_out or not recurs
    return Recurrence(
        steps_hit=int(np.count_nonzero(hit)),
        median_ns=float(np.median(cost[hit])) if hit.any() else 0.0,
        recurs=recurs,
        lasting_ns=lasting if stands_out else total,
        spikes=tuple(_spikes(cause, cost, usual, device, measured)) if told else (),
    )


def comes_again(hit: Mask, limits: Thresholds) -> bool:
    """Whether steps are hit at even distances over at least half of the window."""
    rows = np.flatnonzero(hit)
    if rows.size < limits.returns_least or 2 * (rows[-1] - rows[0]) < hit.size:
        return False
    distance = np.diff(rows)
    return bool(distance.max() <= limits.returns_distance_ratio * np.median(distance))


def _spikes(
    cause: str, cost: np.ndarray, usual: int, device: DeviceMeasurements, measured: Measurements
) -> list[str]:
    spikes = np.flatnonzero(cost > measured.thresholds.spike_ratio * usual)
    longest = spikes[np.argsort(-cost[spikes], kind="stable")][:MAX_SPIKES]
    lines = []
    for row in sorted(longest.tolist()):
        what = _call(cause, row, device, measured.names)
        number, lost = int(device.steps.number[row]), duration(int(cost[row]))
        said = f"{what}, {lost} without compute" if what else f"{cause} {lost}"
        lines.append(f"one-off: {said} at step {number}")
    return lines


def _call(cause: str, row: int, device: DeviceMeasurements, names: Names) -> str:
    """The call behind the longest piece of a cause in a step, and its length; "" for none."""
    steps, window = device.steps, device.window
    pieces = _pieces(cause, device.ledger)
    inside = (pieces.start_ns < steps.end_ns[row]) & (pieces.end_ns > steps.start_ns[row])
    known = pieces.rows(inside & ((pieces.call_name_id != ABSENT) | (pieces.os_name_id != ABSENT)))
    if len(known) == 0:
        return ""
    longest = int(np.argmax(known.end_ns - known.start_ns))
    call = int(known.call_name_id[longest])
    if call == ABSENT:
        return names.strings.text(int(known.os_name_id[longest]))
    start = int(known.call_start_ns[longest])
    end = min(start + int(known.call_ns[longest]), window.end_ns)
    return f"{names.strings.text(call)} {duration(end - max(start, window.start_ns))}"


def _pieces(cause: str, ledger: IdleLedger) -> IdleLedger:
    return ledger.rows(one_of(ledger.reason, [one for one in Reason if one.cause == cause]))
