"""The measurements as they are at some pace: what the recording took is taken out.

It comes out of the idle time that the host's lateness explains, in proportion, and goes to
`profiler-overhead`: the ledger still adds up.

    recorded   ####········####····####     · the host is late
    own pace   ####·····pppp####··pp####     p profiler-overhead, and no part of the window any more
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from overlapcheck.columns import ABSENT
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.pace import Pace
from overlapcheck.passes.ledger.splitting import split
from overlapcheck.passes.pace.own_pace import Paced, paced_devices


def with_paces(measured: Measurements, paces: tuple[Pace | None, ...]) -> Measurements:
    """The measurements, each device with its pace, at the own pace where it is known."""
    if not any(paces):
        return measured
    own = at(measured, tuple(pace.own_ns if pace else None for pace in paces))
    devices = (replace(one, pace=pace) for one, pace in zip(own.devices, paces, strict=True))
    return replace(own, devices=tuple(devices))


def at(measured: Measurements, step_ns: tuple[int | None, ...]) -> Measurements:
    """The measurements where the steps of each device take so long; None: as recorded.

    Args:
        measured: as recorded.
        step_ns: for each device.
    """
    given = zip(paced_devices(measured), step_ns, strict=True)
    devices = (one.device if ns is None else _at(one, ns) for one, ns in given)
    return replace(measured, devices=tuple(devices))


def without_lateness(measured: Measurements, *, ledgers: bool) -> Measurements:
    """The measurements as if the host were never late: the most that recording can have taken.

    Args:
        measured: as recorded.
        ledgers: whether ledgers are cut, too; that takes long, and most checks do not ask them.
    """
    devices = (_without(one.device, one.late.time, cut=ledgers) for one in paced_devices(measured))
    return replace(measured, devices=tuple(devices))


def _at(one: Paced, step_ns: int) -> DeviceMeasurements:
    device, late = one.device, one.late
    too_long = device.recorded_ns - step_ns * (device.window.steps or 0)
    return _without(device, late.share_of(max(0, too_long)), cut=True)


def _without(device: DeviceMeasurements, taken: Intervals, *, cut: bool) -> DeviceMeasurements:
    if not taken:
        return device
    return replace(
        device,
        taken=taken,
        ledger=_cut(device.ledger, taken) if cut else device.ledger,
        ranges=tuple(replace(part, taken=taken & part.time) for part in device.ranges),
    )


def _cut(ledger: IdleLedger, taken: Intervals) -> IdleLedger:
    """The ledger, its pieces cut where what the recording took begins and ends."""
    pieces = split(ledger.start_ns, ledger.end_ns, taken.start_ns, taken.end_ns)
    reason = ledger.reason[pieces.span]
    return replace(
        ledger.rows(pieces.span),
        start_ns=pieces.start_ns,
        end_ns=pieces.end_ns,
        reason=np.where(pieces.cut == ABSENT, reason, reason.dtype.type(Reason.PROFILER_OVERHEAD)),
    )
