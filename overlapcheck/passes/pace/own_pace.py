"""The own pace of a program: how long its steps take when nothing records CUDA calls.

    recorded   the steps of the window, as recorded
    host       the cadence of the same steps in a control, or what the user says
    device     what the device would need if the host were never late: recorded, less the idle time
               that the host's lateness explains, and never less than its busiest resource

    own pace = the shorter of recorded, and the longer of host and device

Devices that meet in collectives, and those of one process, go at one pace: the slowest's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overlapcheck.intervals import Intervals
from overlapcheck.measurements import DeviceMeasurements, Measurements, WindowSource
from overlapcheck.pace import Control, Pace, PaceSource
from overlapcheck.passes.pace.cadence import Cadence, RecordedSteps, host_cadence, step_starts
from overlapcheck.passes.pace.late_host import LateHost, late_host, waiting_for_others
from overlapcheck.quantities import duration
from overlapcheck.recurring import does_recur, lasting_ns, usual_ns
from overlapcheck.thresholds import Thresholds


@dataclass(frozen=True)
class Paced:
    """A device, and what its own pace follows from."""

    device: DeviceMeasurements
    late: LateHost
    group: int
    """Devices of one group go at one pace."""

    @property
    def recorded_ns(self) -> float:
        """Mean length of a recorded step; the device has steps."""
        return self.device.recorded_ns / (self.device.window.steps or 1)

    def device_ns(self, late: Intervals) -> float:
        """What the device would need for a step without some time in which the host was late."""
        device, steps = self.device, self.device.window.steps or 1
        cost = late.overlap_with(device.steps.start_ns, device.steps.end_ns)
        lasting = lasting_ns(cost, usual_ns(cost, steps))
        # A late launch in a few of the steps says nothing of the others: the host ran ahead.
        recurs = does_recur(lasting, late.total_ns, device.recorded_ns)
        saved = late.total_ns if recurs else lasting
        return max(device.recorded_ns - saved, replace(device, taken=late).bound_ns) / steps


def paced_devices(measured: Measurements) -> tuple[Paced, ...]:
    """All devices with the idle time that a late host explains, and who goes along with whom."""
    groups = _groups(measured)
    return tuple(
        Paced(device, late_host(device, waiting_for_others(measured, number)), groups[number])
        for number, device in enumerate(measured.devices)
    )


def _groups(measured: Measurements) -> list[int]:
    """A number for each device, the same for those that go at one pace."""
    group = list(range(len(measured.devices)))
    processes = [device.process for device in measured.devices]
    alike = [set(meeting.members) for meeting in measured.meetings]
    alike += [
        {number for number, one in enumerate(processes) if one == process} for process in processes
    ]
    for members in alike:
        joined = {group[number] for number in members}
        group = [min(joined) if one in joined else one for one in group]
    return group


def own_paces(
    measured: Measurements, controls: Sequence[Control], step_time_ns: float | None = None
) -> tuple[Pace | None, ...]:
    """The own pace of each device; None where nobody asked for it.

    Args:
        measured: as recorded.
        controls: recordings of the same program without CUDA.
        step_time_ns: what the user says a step takes; a control that can be used is believed first.
    """
    if not controls and step_time_ns is None:
        return tuple(None for _ in measured.devices)
    devices, limits = paced_devices(measured), measured.thresholds
    cadences = [[_cadence(one, measured, control) for one in devices] for control in controls]
    found: list[Pace | None] = []
    for number, one in enumerate(devices):
        if not one.device.window.steps:
            found.append(Pace(None, why="the recording has no steps that a pace could be of"))
            continue
        alike = [i for i, other in enumerate(devices) if other.group == one.group]
        together = [devices[i] for i in alike if devices[i].device.window.steps]
        host = _host([[of_control[i] for i in alike] for of_control in cadences])
        host = replace(host, why=next((c[number].why for c in cadences if c[number].why), ""))
        if not host.steps_ns and step_time_ns is not None:
            host = _said(step_time_ns, one, limits)
        found.append(_pace(one, together, host, limits))
    return tuple(found)


def _cadence(one: Paced, measured: Measurements, control: Control) -> Cadence:
    device, window = one.device, one.device.window
    if window.source is not WindowSource.NVTX_STEPS or window.step_family is None:
        return Cadence(None, "the recording is not judged by NVTX steps that a control could time")
    found = step_starts(measured.ranges, measured.names.strings, window.step_family)
    threads = found[device.process]
    if len(threads) > 1:
        return Cadence(
            None, f"{len(threads)} threads of the recording have '{window.step_family}' ranges"
        )
    (starts,) = threads.values()
    steps = RecordedSteps(
        window.step_family,
        int(starts.size),
        window.skipped,
        sorted(found).index(device.process),
        len(found),
    )
    return host_cadence(control, steps, measured.thresholds)


@dataclass(frozen=True)
class _Host:
    """How long a step takes on the host."""

    steps_ns: tuple[float, ...]
    """By each control that can be used, or as the user says; empty where nobody knows."""
    source: PaceSource
    why: str = ""
    """Why a control is of no use."""


def _host(cadences: Sequence[Sequence[Cadence]]) -> _Host:
    """The slowest host of those that go at one pace, by each control."""
    known = [[one.ns for one in of_control if one.ns is not None] for of_control in cadences]
    return _Host(tuple(max(ns) for ns in known if ns), PaceSource.CONTROL)


def _said(step_time_ns: float, one: Paced, limits: Thresholds) -> _Host:
    """What the user says, unless the steps may be several of that."""
    guessed = one.device.window.source is WindowSource.KERNEL_PERIOD
    if guessed and step_time_ns < limits.guessed_step_share * one.recorded_ns:
        why = (
            f"steps were found from kernel names and take {duration(one.recorded_ns)}, which may be"
            f" several of {duration(step_time_ns)}"
        )
        return _Host((), PaceSource.OPTION, why)
    return _Host((step_time_ns,), PaceSource.OPTION)


def _pace(one: Paced, together: Sequence[Paced], host: _Host, limits: Thresholds) -> Pace:
    recorded = Pace(round(one.recorded_ns), why=host.why)
    if not host.steps_ns:
        return recorded
    own, *each = (
        round(min(one.recorded_ns, _slowest(together, ns, limits)))
        for ns in (float(np.median(host.steps_ns)), *host.steps_ns)
    )
    return replace(
        recorded,
        own_ns=own,
        low_ns=min(each),
        high_ns=max(each),
        source=host.source,
        controls=len(each) if host.source is PaceSource.CONTROL else 0,
    )


def _slowest(devices: Sequence[Paced], host_ns: float, limits: Thresholds) -> float:
    """Length of a step that neither the host nor any of the devices keeps from being shorter."""
    alone = max(one.device_ns(one.late.alone) for one in devices)
    if alone <= (1 + limits.same_pace_share) * host_ns:
        return max(host_ns, alone)
    # The host was faster than that: what followed from its lateness was the recording's, too.
    return max(host_ns, *(one.device_ns(one.late.time) for one in devices))
