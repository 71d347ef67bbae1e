"""At which pace two devices are compared: their own where both have one, else as recorded."""

from __future__ import annotations

from dataclasses import replace

from overlapcheck.compare.pairing import Pair
from overlapcheck.device_report import DeviceReport, LedgerEntry
from overlapcheck.ledger import Reason
from overlapcheck.pace import Pace

OWN_STEP = "step time at own pace"


def own_paces(pair: Pair) -> tuple[Pace, Pace] | None:
    """The own paces of both sides; None where one of them is not known."""
    base, new = (device.pace for device in pair)
    if base is None or new is None or base.own_ns is None or new.own_ns is None:
        return None
    return base, new


def at_one_pace(pair: Pair) -> Pair:
    """Both devices with their windows, idle time and shares at the pace that both have."""
    base, new = pair
    if own_paces(pair) is not None:
        return _own(base), _own(new)
    return _recorded(base), _recorded(new)


def _own(device: DeviceReport) -> DeviceReport:
    """The device without what the recording took."""
    if device.own_window_ns is None:
        return device
    taken = device.window_ns - device.own_window_ns
    ledger = (
        LedgerEntry(entry.cause, entry.ns - taken * (entry.cause == Reason.PROFILER_OVERHEAD.cause))
        for entry in device.ledger
    )
    return replace(
        device,
        window_ns=device.own_window_ns,
        idle_ns=device.idle_ns - taken,
        ledger=tuple(entry for entry in ledger if entry.ns > 0),
    )


def _recorded(device: DeviceReport) -> DeviceReport:
    return replace(device, recoverable=device.recorded_recoverable)
