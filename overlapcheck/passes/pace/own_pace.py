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
from statistics import median

from overlapcheck.intervals import Intervals
from overlapcheck.measurements import DeviceMeasurements, Measurements, WindowSource
from overlapcheck.pace import Control, Pace, PaceSource
from overlapcheck.passes.pace.cadence import Cadence, RecordedSteps, host_cadence, step_starts
from overlapcheck.passes.pace.late_host import LateHost, late_host, waiting_for_others
from overlapcheck.quantities import duration
from overlapcheck.recurring import does_recur, lasting_ns, usual_ns

LEAST_SHARE = 0.5
"""Of the recorded steps, where those were found from kernel names: a step that is said to be
shorter may be one of several that they hold, for recording hardly doubles any."""
SAME_PACE = 0.01
"""By so much two runs of a program that its device bounds differ."""


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
    devices = paced_devices(measured)
    cadences = [[_cadence(one, measured, control) for one in devices] for control in controls]
    return tuple(_pace(number, devices, cadences, step_time_ns) for number in range(len(devices)))


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
    return host_cadence(control, steps)


def _pace(
    number: int,
    devices: tuple[Paced, ...],
    cadences: list[list[Cadence]],
    step_time_ns: float | None,
) -> Pace:
    one = devices[number]
    if not one.device.window.steps:
        return Pace(None, why="the recording has no steps that a pace could be of")
    recorded = Pace(round(one.recorded_ns))
    alike = [i for i, other in enumerate(devices) if other.group == one.group]
    alike = [i for i in alike if devices[i].device.window.steps]
    host = [
        max(known)
        for of_control in cadences
        if (known := [ns for i in alike if (ns := of_control[i].ns) is not None])
    ]
    why = next((of_control[number].why for of_control in cadences if of_control[number].why), "")
    source = PaceSource.CONTROL
    if not host and step_time_ns is not None:
        host, source = [step_time_ns], PaceSource.OPTION
        guessed = one.device.window.source is WindowSource.KERNEL_PERIOD
        if guessed and step_time_ns < LEAST_SHARE * one.recorded_ns:
            why = (
                f"steps were found from kernel names and take {duration(one.recorded_ns)}, which"
                f" may be several of {duration(step_time_ns)}"
            )
            return replace(recorded, why=why)
    if not host:
        return replace(recorded, why=why)
    own = [
        round(min(one.recorded_ns, _slowest([devices[i] for i in alike], ns)))
        for ns in (median(host), *host)
    ]
    return replace(
        recorded,
        own_ns=own[0],
        low_ns=min(own),
        high_ns=max(own),
        source=source,
        controls=len(host) if source is PaceSource.CONTROL else 0,
        why=why,
    )


def _slowest(devices: Sequence[Paced], host_ns: float) -> float:
    """Length of a step that neither the host nor any of the devices keeps from being shorter."""
    alone = max(one.device_ns(one.late.alone) for one in devices)
    if alone <= (1 + SAME_PACE) * host_ns:
        return max(host_ns, alone)
    # The host was faster than that: what followed from its lateness was the recording's, too.
    return max(host_ns, *(one.device_ns(one.late.time) for one in devices))
