"""All passes, in order: `Trace` → `Measurements`."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import Mask
from overlapcheck.errors import PolicyInvalid
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import DeviceMeasurements, Measurements, Window
from overlapcheck.passes.blocking_calls import blocking_calls
from overlapcheck.passes.completeness import capture_problems, nothing_recorded
from overlapcheck.passes.compute_gaps import compute_gaps
from overlapcheck.passes.copy_overlap import copy_overlaps, unified_migrations
from overlapcheck.passes.process import (
    CallIndex,
    ProcessTables,
    copies_on_device,
    launch_start_ns,
    on_device,
    process_tables,
)
from overlapcheck.passes.step_times import step_times
from overlapcheck.passes.steps import step_ranges
from overlapcheck.passes.streams import stream_timelines
from overlapcheck.passes.window import choose_window
from overlapcheck.selection import Selection
from overlapcheck.trace import DeviceKey, Kernels, Trace, pids_of


def measure(trace: Trace, selection: Selection) -> Measurements:
    """Measure every (process, device) that ran kernels.

    Raises:
        PolicyInvalid: the selection names steps or a device that the report does not have.
    """
    devices, problems = [], []
    tables = (trace.kernels, trace.copies, trace.memsets, trace.api_calls, trace.ranges)
    processes = [process_tables(trace, pid) for pid in pids_of(tables)]
    _check_steps(processes, trace, selection)
    with_kernels = [process for process in processes if len(process.kernels)]
    for process in with_kernels:
        for device_id in np.unique(process.kernels.device_id).tolist():
            if selection.device in (None, device_id):
                devices.append(_measure_device(trace, process, device_id, selection))
    judged = {device.key.pid for device in devices}
    for process in processes:
        # A launcher or loader process without kernels is no fault while others have them.
        if process.pid in judged or not with_kernels:
            problems += capture_problems(trace, process, selection.steps)
    if selection.device is not None and with_kernels and not devices:
        raise PolicyInvalid(
            f"--device {selection.device}: no kernels on it",
            f"devices with kernels: {', '.join(map(str, _device_ids(with_kernels)))}",
        )
    if not processes:
        problems.append(nothing_recorded(trace))
    return Measurements(tuple(devices), tuple(problems))


def _device_ids(processes: list[ProcessTables]) -> list[int]:
    return sorted({d for p in processes for d in np.unique(p.kernels.device_id).tolist()})


def _check_steps(processes: list[ProcessTables], trace: Trace, selection: Selection) -> None:
    if selection.steps is None:
        return
    if all(step_ranges(p.ranges, trace.strings, selection.steps) is None for p in processes):
        raise PolicyInvalid(
            f"--steps {selection.steps!r}: no NVTX range family of 3 or more matches it",
            "list the names: nsys stats --report nvtx_sum REPORT",
        )


def _measure_device(
    trace: Trace, process: ProcessTables, device_id: int, selection: Selection
) -> DeviceMeasurements:
    kernels = process.kernels.rows(on_device(process.kernels, device_id))
    copies = copies_on_device(process.copies, device_id)
    memsets = process.memsets.rows(on_device(process.memsets, device_id))
    launch_ns = launch_start_ns(kernels, process.calls, CallIndex(process.calls))
    steps = choose_window(process, kernels, launch_ns, trace.strings, selection)
    window = steps.window

    communication = trace.strings.matching(kernels.name_id, selection.is_communication)
    compute = _union(kernels, ~communication, window)
    idle = compute.complement(window.start_ns, window.end_ns)
    overlaps = copy_overlaps(copies, compute, window)
    streams = stream_timelines(process, kernels, communication, copies, memsets, window)
    copy_busy = Intervals.empty()
    for overlap in overlaps.values():
        copy_busy |= overlap.copy
    key = DeviceKey(process.pid, device_id)
    return DeviceMeasurements(
        key=key,
        gpu_name=trace.gpu_name(key),
        process_name=trace.process_names.get(process.pid, ""),
        window=window,
        compute=compute,
        opaque=_union(kernels, kernels.opaque, window),
        communication=_union(kernels, communication, window),
        copies=overlaps,
        migrations=unified_migrations(copies, window),
        streams=streams,
        gaps=compute_gaps(kernels, communication, idle, streams, copy_busy, window),
        blocking=blocking_calls(process.calls, idle, window),
        steps=step_times(kernels, steps, compute, overlaps),
    )


def _union(kernels: Kernels, mask: Mask, window: Window) -> Intervals:
    union = Intervals.of(kernels.start_ns[mask], kernels.end_ns[mask])
    return union.clip(window.start_ns, window.end_ns)
