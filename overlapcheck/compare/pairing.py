"""Which devices of two reports belong together, and what speaks against comparing them."""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.comparison import NotComparable
from overlapcheck.device_report import DeviceReport
from overlapcheck.quantities import count_of
from overlapcheck.report import Report

Pair = tuple[DeviceReport, DeviceReport]


def pairs(base: Report, new: Report) -> list[Pair]:
    """Devices by number, and by process where several use one: ranks keep their order.

    Raises:
        NotComparable: a side has no device with kernels, whatever the user insists on.
    """
    for name, report in (("base", base), ("new", new)):
        if not report.devices:
            why = report.capture.problems[0] if report.capture.problems else "no kernels"
            raise NotComparable(
                f"{report.capture.report}: nothing to compare on the {name} side: {why}",
                "record it again: overlapcheck run PROGRAM",
            )
    return list(zip(_in_order(base), _in_order(new), strict=False))


def objections(base: Report, new: Report) -> Iterator[str]:
    """Why a difference between the two would say nothing, a clause each."""
    for report in (base, new):
        if report.capture.problems:
            yield f"the recording {report.capture.report} is incomplete"
    if len(base.devices) != len(new.devices):
        counts = [count_of(len(report.devices), "device") for report in (base, new)]
        yield f"{counts[0]} against {counts[1]}"
    for one, other in pairs(base, new):
        yield from _objections(one, other)


def _objections(base: DeviceReport, new: DeviceReport) -> Iterator[str]:
    if base.name != new.name:
        yield f"another GPU: {base.name or 'unknown'} against {new.name or 'unknown'}"
    if bool(base.opaque_ns) is not bool(new.opaque_ns):
        side = "base" if base.opaque_ns else "new"
        yield f"graph launches of unknown content on the {side} side only"
    if base.steps is None and new.steps is None:
        yield "no steps on either side"
    elif base.steps is None or new.steps is None:
        yield f"no steps on the {'base' if base.steps is None else 'new'} side"
    elif base.window.step_family != new.window.step_family:
        yield f"other steps: {_family(base)} against {_family(new)}"


def _family(device: DeviceReport) -> str:
    family = device.window.step_family
    return f"'{family}'" if family else "repeating kernels"


def _in_order(report: Report) -> list[DeviceReport]:
    return sorted(report.devices, key=lambda device: (device.device, device.host, device.pid))
