"""Parts of a trace that may give the answer of the whole, the smallest first.

    steps        0 1 2 3 4 5 6 7 8 9      3 to 9 are steady
    first part           5 6 7            the middle ones, and 4 before them, which is a step that
                       4 5 6 7            may be skipped as warm-up in its turn
    next part        3 4 5 6 7 8 9 ...

Where the middle is not like the whole, as many steps are tried at the end and at the begin. A trace
without steps is one piece; only where that is too large a part of it is tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from overlapcheck.columns import ABSENT_TIME, Ints, Mask
from overlapcheck.measurements import DeviceMeasurements, Measurements, WindowSource
from overlapcheck.quantities import duration
from overlapcheck.trace import Missing, Trace, rows_or_none
from overlapcheck.trace_tables import ApiCalls, Kernels, Ranges

FEWEST_STEPS = 3
"""So many are judged as steps; one before them is kept as well."""
SMALLEST_SHARE = 16
"""Of a trace without steps, at least a part in so many is tried."""


SHORT_OS_CALLS_NS = (10_000, 1_000_000)
"""Left out where all rows are too many: a pause of the program lasts longer."""


@dataclass(frozen=True)
class Span:
    """A part of a trace, by what the host did."""

    time_ns: tuple[int, int] | None
    """[start, end); None for all of it."""
    what: str
    """In words."""
    shortest_os_call_ns: int = 0
    """What of the operating system's calls is left out, see `Part`."""


class _Place(Enum):
    """Where in a trace a part lies; the middle is what is usual, an end may be what is not."""

    MIDDLE = "from the middle"
    LAST = "from the end"
    FIRST = "from the begin"

    def first_of(self, taken: int, total: int) -> int:
        """Where so many of a number begin."""
        rest = total - taken
        return {_Place.MIDDLE: rest // 2, _Place.LAST: rest, _Place.FIRST: 0}[self]


def spans(trace: Trace, measured: Measurements) -> Iterator[Span]:
    """Parts made of the steps, growing."""
    starts = [(one, _step_starts(trace, one)) for one in measured.devices]
    starts = [(one, found) for one, found in starts if found.size > FEWEST_STEPS + 1]
    most = max((found.size - one.window.skipped - 1 for one, found in starts), default=0)
    count = FEWEST_STEPS
    while count < most:
        for place in _Place:
            yield _of_steps(starts, count, place)
        count *= 2


def whole_spans() -> Iterator[Span]:
    """All of it, of the operating system's calls less and less."""
    yield Span(None, "the whole run")
    for shortest in SHORT_OS_CALLS_NS:
        what = f"the whole run, without OS calls shorter than {duration(shortest)}"
        yield Span(None, what, shortest)


def smaller_spans(trace: Trace) -> Iterator[Span]:
    """Parts of a trace without steps, shrinking."""
    tables = (trace.api_calls, trace.kernels, trace.ranges)
    table = next((t for t in tables if not isinstance(t, Missing) and len(t)), None)
    if table is None:
        return
    start, end = int(table.start_ns.min()), int(table.end_ns.max())
    share = 2
    while share <= SMALLEST_SHARE:
        length = (end - start) // share
        for place in _Place:
            begin = start + place.first_of(length, end - start)
            yield Span((begin, begin + length), f"1/{share} of the run, {place.value}")
        share *= 2


def _of_steps(starts: list[tuple[DeviceMeasurements, Ints]], count: int, place: _Place) -> Span:
    """So many steady steps of each device, and the one before."""
    begins, ends = [], []
    for device, found in starts:
        skipped = device.window.skipped
        # The last one ends where the next begins: what comes after the last step is no step's.
        steady = found.size - skipped - 1
        taken = min(count, steady)
        first = skipped + place.first_of(taken, steady)
        begins.append(int(found[max(first - 1, 0)]))
        ends.append(int(found[first + taken]))
    family = starts[0][0].window.step_family
    which = f"'{family}' steps" if family else "repeats of the kernels"
    what = f"{count} steady {which}, {place.value}, and the one before"
    return Span((min(begins), max(ends)), what)


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
        if (inside := mine & _within(kernels.start_ns, start, end) & (launch != ABSENT_TIME)).any()
    ]
    # Nothing is known of the skipped ones but that they come before.
    return np.array([found[0]] * device.window.skipped + found if found else [], dtype=np.int64)


def _within(times: Ints, start: int, end: int) -> Mask:
    mask: Mask = (times >= start) & (times < end)
    return mask


def _launch_ns(kernels: Kernels, calls: ApiCalls, process: int) -> Ints:
    """Start of the call that launched each kernel; ABSENT_TIME where it is not known."""
    own = np.flatnonzero(calls.process == process)
    own = own[np.argsort(calls.correlation_id[own], kind="stable")]
    ids = calls.correlation_id[own]
    if not ids.size:
        return np.full(len(kernels), ABSENT_TIME, dtype=np.int64)
    at = np.minimum(np.searchsorted(ids, kernels.correlation_id), ids.size - 1)
    found: Ints = np.where(ids[at] == kernels.correlation_id, calls.start_ns[own[at]], ABSENT_TIME)
    return found
