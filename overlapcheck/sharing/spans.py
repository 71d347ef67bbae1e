"""Parts of a trace that may give the answer of the whole, the smallest first.

    steps        0 1 2 3 4 5 6 7 8 9      3 to 9 are steady
    first part           5 6 7            the middle ones, and 4 before them, which is a step that
                       4 5 6 7            may be skipped as warm-up in its turn
    next part        3 4 5 6 7 8 9 ...

A trace without steps is one piece; only where it is too large its middle is tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import Ints, Mask
from overlapcheck.measurements import DeviceMeasurements, Measurements, WindowSource
from overlapcheck.trace import Trace, rows_or_none
from overlapcheck.trace_tables import ApiCalls, Kernels, Ranges

FEWEST_STEPS = 3
"""So many are judged as steps; one before them is kept as well."""
SMALLEST_SHARE = 16
"""Of a trace without steps, at least a part in so many is tried."""


@dataclass(frozen=True)
class Span:
    """A part of a trace, by what the host did."""

    time_ns: tuple[int, int] | None
    """[start, end); None for all of it."""
    what: str
    """In words."""


WHOLE = Span(None, "the whole run")


def spans(trace: Trace, measured: Measurements) -> Iterator[Span]:
    """Parts of the steps, growing; the whole at last."""
    starts = [(one, _step_starts(trace, one)) for one in measured.devices]
    starts = [(one, found) for one, found in starts if found.size > FEWEST_STEPS + 1]
    most = max((found.size - one.window.skipped - 1 for one, found in starts), default=0)
    count = FEWEST_STEPS
    while count < most:
        yield _middle_steps(starts, count)
        count *= 2
    yield WHOLE


def smaller_spans(measured: Measurements) -> Iterator[Span]:
    """Parts of a trace without steps, shrinking."""
    if not measured.devices:
        return
    start = min(one.window.start_ns for one in measured.devices)
    end = max(one.window.end_ns for one in measured.devices)
    share = 2
    while share <= SMALLEST_SHARE:
        half = (end - start) // (2 * share)
        middle = (start + end) // 2
        yield Span((middle - half, middle + half), f"the middle 1/{share} of the run")
        share *= 2


def _middle_steps(starts: list[tuple[DeviceMeasurements, Ints]], count: int) -> Span:
    """So many steps of each device, from the middle of its steady ones, and the one before."""
    begins, ends = [], []
    for device, found in starts:
        skipped = device.window.skipped
        # The last one ends where the next begins: what comes after the last step is no step's.
        steady = found.size - skipped - 1
        taken = min(count, steady)
        first = skipped + (steady - taken) // 2
        begins.append(int(found[max(first - 1, 0)]))
        ends.append(int(found[first + taken]))
    family = starts[0][0].window.step_family
    which = f"'{family}' steps" if family else "repeats of the kernels"
    return Span((min(begins), max(ends)), f"{count} steady {which}, and the one before")


def _step_starts(trace: Trace, device: DeviceMeasurements) -> Ints:
    """When each step began on the host, skipped ones included, shape (steps,)."""
    source = device.window.source
    if source is WindowSource.NVTX_STEPS:
        ranges = rows_or_none(trace.ranges, Ranges)
        family = device.window.step_family
        named = trace.strings.matching(
            ranges.name_id, lambda name: re.sub(r"\d+", "#", name) == family
        )
        return np.unique(ranges.start_ns[named & (ranges.process == device.process)])
    if source is WindowSource.KERNEL_PERIOD:
        return _launches_of_steps(trace, device)
    return np.empty(0, dtype=np.int64)


def _launches_of_steps(trace: Trace, device: DeviceMeasurements) -> Ints:
    """First launch of each steady step, behind as many times as there are skipped steps."""
    kernels, calls = rows_or_none(trace.kernels, Kernels), rows_or_none(trace.api_calls, ApiCalls)
    mine = (kernels.process == device.process) & (kernels.device_id == device.key.device_id)
    launch = _launch_ns(kernels, calls, device.process)
    found = [
        int(launch[inside].min())
        for start, end in zip(
            device.steps.start_ns.tolist(), device.steps.end_ns.tolist(), strict=True
        )
        if (inside := mine & _within(kernels.start_ns, start, end) & (launch >= 0)).any()
    ]
    # Nothing is known of the skipped ones but that they come before.
    return np.array([found[0]] * device.window.skipped + found if found else [], dtype=np.int64)


def _within(times: Ints, start: int, end: int) -> Mask:
    mask: Mask = (times >= start) & (times < end)
    return mask


def _launch_ns(kernels: Kernels, calls: ApiCalls, process: int) -> Ints:
    """Start of the call that launched each kernel; -1 where it is not known."""
    own = np.flatnonzero(calls.process == process)
    own = own[np.argsort(calls.correlation_id[own], kind="stable")]
    ids = calls.correlation_id[own]
    if not ids.size:
        return np.full(len(kernels), -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(ids, kernels.correlation_id), ids.size - 1)
    found: Ints = np.where(ids[at] == kernels.correlation_id, calls.start_ns[own[at]], -1)
    return found
