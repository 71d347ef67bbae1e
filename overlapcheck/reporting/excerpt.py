"""The typical step of a device and those after it, as events that a result can keep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from overlapcheck.columns import Index
from overlapcheck.excerpt import MOST_COUNTED, Excerpt, ExcerptBounds, excerpt_rows
from overlapcheck.ledger import IdleLedger
from overlapcheck.measurements import DeviceMeasurements, StepTimes
from overlapcheck.quantities import percent
from overlapcheck.redaction import names_no_one
from overlapcheck.reporting.level_of_detail import detail, reduced
from overlapcheck.reporting.timeline import named, sampled_launches, step_name
from overlapcheck.reporting.timeline_rows import OwnNames, draw_rows, host_calls
from overlapcheck.timeline import EventKind
from overlapcheck.trace import Trace

STEPS = 3
MAX_NAMES = 200
MAX_NAME = 80
_ALIKE = 0.003
"""Steps whose lengths differ by less of the median are equally typical."""


def draw_excerpt(
    trace: Trace, device: DeviceMeasurements, blocking_call_ns: int, bounds: ExcerptBounds
) -> Excerpt | None:
    """The excerpt of one device; None where its window has no length, or none that can be.

    Args:
        trace: tables and names.
        device: what was measured of it.
        blocking_call_ns: from which length on a call held its thread.
        bounds: what may be in it.
    """
    window = device.window
    if max(-window.start_ns, window.end_ns) > MOST_COUNTED or not window.length_ns:
        return None
    shown, typical = _shown(device.steps)
    steps = device.steps.rows(shown)
    start, end = window.start_ns, window.end_ns
    if len(steps):
        start, end = int(steps.start_ns[0]), int(steps.end_ns[-1])
    part, names = _part(device, start, end), OwnNames(trace)
    if not bounds.threads:
        part = replace(part, blocking=part.blocking.rows(slice(0, 0)))
    launches = sampled_launches(part) if bounds.threads else np.empty(0, dtype=np.intp)
    host = host_calls(trace, part, launches, blocking_call_ns)
    drawing = draw_rows(trace, part, host, names)
    # There may be ranges for every operator; those of the steps are told otherwise.
    parts = [one for one in drawing.parts if one.kind != EventKind.RANGE]
    middle = (int(steps.start_ns[typical]), int(steps.end_ns[typical])) if len(steps) else (0, 0)
    kept = detail(parts, [(*middle, sum(middle) // 2)], bounds.events)
    events, resolution = reduced(parts, kept, bounds.events)
    events, texts = named(events, names, MAX_NAMES, MAX_NAME)
    idle = f"{percent(part.recorded_idle_ns / part.recorded_ns)} of these steps"
    rows = [replace(row, label=names_no_one(row.label)) for row in drawing.rows]
    if len(steps):
        rows[0] = replace(rows[0], note=idle)
    shown_rows = np.unique(np.append(events.row, 0))
    events = replace(events, row=np.searchsorted(shown_rows, events.row))
    kinds, kept_rows = excerpt_rows([rows[n] for n in shown_rows], events, start)
    return Excerpt(
        start_ns=start,
        length_ns=end - start,
        step_name=names_no_one(step_name(device)),
        step_number=tuple(steps.number.tolist()),
        step_start_ns=tuple((steps.start_ns - start).tolist()),
        step_end_ns=tuple((steps.end_ns - start).tolist()),
        typical=typical,
        kinds=kinds,
        names=tuple(map(names_no_one, texts)),
        rows=kept_rows,
        recorded=sum(map(len, parts)),
        resolution_ns=resolution,
    )


def _shown(steps: StepTimes) -> tuple[slice, int]:
    """The typical step with those after it, and where it is among these.

    Of steps that are as near to the median it is the one nearest to the middle, so that ranks that
    keep step with each other show the same one.
    """
    count = len(steps)
    if not count:
        return slice(0, 0), 0
    median = float(np.median(steps.step_ns))
    off: Index = (np.abs(steps.step_ns - median) // max(median * _ALIKE, 1.0)).astype(np.intp)
    apart = np.abs(np.arange(count) - count // 2)
    typical = int(np.lexsort((apart, off))[0])
    first = min(typical, max(count - STEPS, 0))
    return slice(first, first + STEPS), typical - first


def _part(device: DeviceMeasurements, start_ns: int, end_ns: int) -> DeviceMeasurements:
    """The device as if its window were but this part of it."""
    streams = (
        replace(
            stream,
            busy=stream.busy.clip(start_ns, end_ns),
            compute=stream.compute.clip(start_ns, end_ns),
            communication=stream.communication.clip(start_ns, end_ns),
        )
        for stream in device.streams
    )
    migrations = device.migrations
    return replace(
        device,
        window=replace(device.window, start_ns=start_ns, end_ns=end_ns),
        compute=device.compute.clip(start_ns, end_ns),
        # What does nothing meanwhile needs no row.
        streams=tuple(stream for stream in streams if stream.busy),
        migrations=replace(migrations, busy=migrations.busy.clip(start_ns, end_ns)),
        ledger=_touching(device.ledger, start_ns, end_ns),
    )


def _touching(ledger: IdleLedger, start_ns: int, end_ns: int) -> IdleLedger:
    first = int(np.searchsorted(ledger.end_ns, start_ns, side="right"))
    last = int(np.searchsorted(ledger.start_ns, end_ns, side="left"))
    mine = ledger.rows(slice(first, max(first, last)))
    return replace(
        mine,
        start_ns=np.maximum(mine.start_ns, start_ns),
        end_ns=np.minimum(mine.end_ns, end_ns),
    )
