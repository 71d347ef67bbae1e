"""The timeline of a device's window: rows of events at the level of detail that a page can hold."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, Index, one_of
from overlapcheck.device_report import Picture
from overlapcheck.finding import Finding
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.order import Work
from overlapcheck.redaction import names_no_one
from overlapcheck.reporting.instances import Shown, instances, launches_of, worst_pieces
from overlapcheck.reporting.level_of_detail import detail, reduced
from overlapcheck.reporting.timeline_rows import (
    SAMPLED_KERNELS,
    OwnNames,
    draw_rows,
    host_calls,
)
from overlapcheck.timeline import EventKind, Timeline, TimelineEvents, TimelineSteps
from overlapcheck.trace import Trace

MAX_EVENTS = 100_000
"""Events and blocks of a whole report."""
MAX_STEPS = 5_000
MAX_NAMES = 3_000
MAX_NAME = 160
"""Characters of a name; a mangled template can have thousands."""
_OTHER = "(a name left out)"


def draw_timeline(
    trace: Trace,
    device: DeviceMeasurements,
    findings: tuple[Finding, ...],
    picture: Picture,
    measured: Measurements,
) -> Timeline:
    """The timeline of one device.

    Args:
        trace: tables and names.
        device: what was measured of it.
        findings: ranked causes, of all devices.
        picture: the typical steps, kept in full.
        measured: all devices, which share the page, and what counts as held.
    """
    most = MAX_EVENTS // max(len(measured.devices), 1)
    own = tuple(found for found in findings if found.device == device.key)
    names = OwnNames(trace)
    worst = worst_pieces(device)
    launches = np.concatenate((launches_of(device, worst), sampled_launches(device)))
    host = host_calls(trace, device, launches, measured.thresholds.blocking_call_ns)
    drawing = draw_rows(trace, device, host, names)
    shown = instances(Shown(trace, device, drawing, host), worst, own)
    steps = (picture.start_ns, picture.end_ns, (picture.start_ns + picture.end_ns) // 2)
    wanted = [(i.view_start_ns, i.view_end_ns, (i.start_ns + i.end_ns) // 2) for i in shown]
    kept = detail(drawing.parts, [*wanted[:1], steps, *wanted[1:]], most)
    events, resolution = reduced(drawing.parts, kept, most)
    events, texts = named(events, names)
    return Timeline(
        start_ns=device.window.start_ns,
        end_ns=device.window.end_ns,
        typical_start_ns=picture.start_ns,
        typical_end_ns=picture.end_ns,
        rows=tuple(drawing.rows),
        rows_left_out=drawing.left_out,
        events=events,
        names=texts,
        steps=_steps(device),
        step_name=step_name(device),
        instances=shown,
        recorded=sum(map(len, drawing.parts)),
        resolution_ns=resolution,
        host_moved_ns=device.clock_skew_ns,
    )


def sampled_launches(device: DeviceMeasurements) -> Index:
    """Rows of the calls that launched some kernels of the device, spread over the window."""
    ops, window = device.order.operations, device.window
    first, last = np.searchsorted(ops.start_ns, (window.start_ns, window.end_ns)).tolist()
    kernels = one_of(ops.work[first:last], (Work.COMPUTE, Work.COMMUNICATION))
    own = np.flatnonzero(kernels & (ops.device_id[first:last] == device.key.device_id))
    call = ops.call[first:last][own[:: max(own.size // SAMPLED_KERNELS, 1)]]
    rows: Index = call[call != ABSENT].astype(np.intp)
    return rows


def _steps(device: DeviceMeasurements) -> TimelineSteps:
    steps = device.steps
    if len(steps) == 0:
        return TimelineSteps.none()
    first = np.arange(0, len(steps), -(-len(steps) // MAX_STEPS))
    last = np.append(first[1:], len(steps)) - 1
    return TimelineSteps(steps.number[first], steps.start_ns[first], steps.end_ns[last])


def step_name(device: DeviceMeasurements) -> str:
    """Name of a step with # for its number."""
    family = device.window.step_family or "step #"
    return family if family.count("#") == 1 else "step #"


def named(
    events: TimelineEvents, names: OwnNames, most: int = MAX_NAMES, longest: int = MAX_NAME
) -> tuple[TimelineEvents, tuple[str, ...]]:
    """Events whose names are indices, the most frequent first, and the names.

    Ranges come last: each step may have a name of its own, and there are many steps.

    Args:
        events: with the names' ids.
        names: their texts.
        most: names at most; the rarest are left out.
        longest: characters of a name at most.
    """
    ids, inverse, count = np.unique(events.name, return_inverse=True, return_counts=True)
    others = np.bincount(inverse, weights=events.kind != EventKind.RANGE, minlength=ids.size)
    order = np.lexsort((-count, others == 0))
    texts = [
        "" if i == ABSENT else _short(names_no_one(text), longest)
        for i, text in zip(ids[order].tolist(), names.texts(ids[order].tolist()), strict=True)
    ]
    rank = np.empty(ids.size, dtype=np.int64)
    rank[order] = np.arange(ids.size)
    if len(texts) > most:
        texts = [*texts[:most], _OTHER]
        rank = np.minimum(rank, most)
    columns = {name: getattr(events, name) for name in TimelineEvents.__dataclass_fields__}
    return TimelineEvents(**columns | {"name": rank[inverse]}), tuple(texts)


def _short(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}…{text[1 - half :]}"
