"""All passes, in order: `Trace` → `Measurements`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from overlapcheck.clocks import on_device_clock
from overlapcheck.columns import Mask
from overlapcheck.copies import JUDGED_DIRECTIONS
from overlapcheck.errors import PolicyInvalid, TooLarge
from overlapcheck.grouping import distinct
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import (
    DeviceMeasurements,
    Measurements,
    Names,
    Window,
)
from overlapcheck.passes.clock_skew import told_skew
from overlapcheck.passes.collectives.collectives import InWindow, collectives, device_meetings
from overlapcheck.passes.collectives.communication_hints import communication_hints
from overlapcheck.passes.collectives.contention import Transfers, contention
from overlapcheck.passes.completeness import (
    capture_problems,
    launched_kernels,
    nothing_recorded,
)
from overlapcheck.passes.copy_overlap import copy_overlaps, unified_migrations
from overlapcheck.passes.framework import framework
from overlapcheck.passes.ledger.blocking_calls import blocking_calls
from overlapcheck.passes.ledger.call_sites import call_sites, known_sites
from overlapcheck.passes.ledger.compute_gaps import compute_gaps
from overlapcheck.passes.ledger.device_ledger import Surroundings, Timed, device_ledger
from overlapcheck.passes.ledger.directive_sites import Places
from overlapcheck.passes.lived_on import lived_on
from overlapcheck.passes.not_known import not_known
from overlapcheck.passes.order.process_order import Orders
from overlapcheck.passes.other_processes import OtherProcesses
from overlapcheck.passes.process import (
    DeviceTables,
    ProcessTables,
    copies_on_device,
    on_device,
    process_tables,
)
from overlapcheck.passes.streams import stream_timelines
from overlapcheck.passes.window.range_use import range_use
from overlapcheck.passes.window.step_times import step_times
from overlapcheck.passes.window.steps import step_ranges
from overlapcheck.passes.window.window import choose_window
from overlapcheck.selection import Selection
from overlapcheck.trace import Missing, Trace, processes_of, rows_or_none
from overlapcheck.trace_tables import Kernels, PageFaults, Ranges

if TYPE_CHECKING:
    from overlapcheck.stream_waits import HandOverSteps, StreamWaits

MOST_DEVICES = 1024
"""Of all processes of a report; a machine has some dozens, and each is a page of its own."""


class _DeviceUse(NamedTuple):
    """A device, as one process used it: what is measured and judged for itself."""

    process: ProcessTables
    device_id: int


def measure(trace: Trace, selection: Selection) -> Measurements:
    """Measure every (process, device) that ran kernels.

    Raises:
        PolicyInvalid: the selection names steps or a device that the report does not have.
        TooLarge: more devices than anybody reads about.
    """
    tables = (trace.kernels, trace.copies, trace.memsets, trace.api_calls, trace.ranges)
    processes = process_tables(trace, processes_of(tables))
    others, orders = OtherProcesses(trace), Orders(selection)
    with_kernels = [process for process in processes if len(process.kernels)]
    chosen = [
        _DeviceUse(process, device_id)
        for process in with_kernels
        for device_id in distinct(process.kernels.device_id).tolist()
        if selection.device in (None, device_id)
    ]
    _require_few(chosen)
    judged = {process.number for process, _ in chosen}
    _check_steps(processes, judged, trace, selection)
    # A launcher or loader process that launched none is no fault while others have kernels.
    doubtful = [
        p
        for p in processes
        if p.number in judged or not with_kernels or _lost_whole(p, selection.device)
    ]
    with ThreadPoolExecutor(1) as beside:
        doubting = beside.submit(
            lambda: [capture_problems(trace, process, selection) for process in doubtful]
        )
        devices = [_measure_device(trace, use, selection, others, orders) for use in chosen]
        problems = [problem for found in doubting.result() for problem in found]
    if selection.device is not None and with_kernels and not devices:
        raise PolicyInvalid(
            f"{selection.told('device')}: no kernels on it",
            f"devices with kernels: {', '.join(map(str, _device_ids(with_kernels)))}",
        )
    if not processes:
        problems.append(nothing_recorded(trace))
    devices = [
        replace(one, notes=(*one.notes, *lived_on(process, one.window, processes)))
        for (process, _), one in zip(chosen, devices, strict=True)
    ]
    compared, meetings = device_meetings(devices, selection.thresholds)
    return Measurements(
        devices=compared,
        problems=tuple(problems),
        names=Names(
            trace.strings, trace.thread_names, known_sites(trace), frozenset(Places.of(trace).lines)
        ),
        framework=framework(trace),
        environment=trace.info.environment,
        thresholds=selection.thresholds,
        meetings=meetings,
        utc_start_ns=trace.info.utc_start_ns,
        ranks=trace.info.ranks,
        not_known=tuple(
            one
            for process in with_kernels
            if process.number in judged
            for one in not_known(trace, process, selection.thresholds)
        ),
        ranges=rows_or_none(trace.ranges, Ranges),
        os_calls_recorded=not isinstance(trace.os_calls, Missing),
        processes=trace.processes,
        recorder=trace.recorder,
        waits=_waits([p for p in with_kernels if p.number in judged], selection, orders)
        if selection.stream_waits
        else (),
    )


def _waits(
    processes: Sequence[ProcessTables], selection: Selection, orders: Orders
) -> tuple[StreamWaits, ...]:
    """Who waited for whom in each process, on all its devices whichever are judged."""
    from overlapcheck.passes.order.stream_waits import stream_waits  # few analyses ask for it

    return tuple(
        stream_waits(process, orders.of(process), _handed_over(process, selection))
        for process in processes
    )


def _handed_over(process: ProcessTables, selection: Selection) -> HandOverSteps:
    from overlapcheck.passes.window.hand_over import DeviceSteps, hand_over_steps

    found, unbound = [], replace(selection, window_ns=None)
    for device_id in distinct(process.kernels.device_id).tolist():
        tables = _device_tables(process, device_id, selection)
        found.append(DeviceSteps(tables, choose_window(process, tables, unbound)))
    return hand_over_steps(process, found, selection)


def _lost_whole(process: ProcessTables, device_id: int | None) -> bool:
    """Whether a process launched kernels, maybe on the chosen device, and has not one of them."""
    devices = distinct(process.contexts.device_id).tolist()
    elsewhere = device_id is not None and bool(devices) and device_id not in devices
    return len(process.kernels) == 0 and not elsewhere and launched_kernels(process)


def _device_ids(processes: list[ProcessTables]) -> list[int]:
    return sorted({d for p in processes for d in distinct(p.kernels.device_id).tolist()})


def _require_few(chosen: Sequence[_DeviceUse]) -> None:
    if len(chosen) <= MOST_DEVICES:
        return
    several = len({device_id for _, device_id in chosen}) > 1
    raise TooLarge(
        f"kernels ran on {len(chosen)} devices, each process's counted for itself, and at most"
        f" {MOST_DEVICES} of a report are judged",
        "judge one device: --device NUMBER" if several else "record fewer processes in a report",
    )


def _check_steps(
    processes: list[ProcessTables], judged: set[int], trace: Trace, selection: Selection
) -> None:
    """Refuse a pattern that matches nothing, or only ranges of processes that are not judged."""
    if selection.steps is None:
        return
    pattern = selection.steps
    matched = {p.number for p in processes if step_ranges(p.ranges, trace.strings, pattern)}
    told, listing = selection.told("steps"), trace.recorder.list_ranges
    if not matched:
        raise PolicyInvalid(
            f"{told}: no NVTX range family of 3 or more matches it", f"list the names: {listing}"
        )
    if judged and selection.window_ns is None and not matched & judged:
        others = ", ".join(trace.processes[number].title for number in sorted(matched))
        raise PolicyInvalid(
            f"{told}: matches only ranges of {others}, which ran no kernel that is judged",
            "name ranges around the launches of"
            f" {', '.join(trace.processes[number].title for number in sorted(judged))}: {listing}",
        )


def _measure_device(
    trace: Trace, use: _DeviceUse, selection: Selection, others: OtherProcesses, orders: Orders
) -> DeviceMeasurements:
    (process, device_id), limits = use, selection.thresholds
    # The ledger takes about as long as all the rest, and numpy lets go of the interpreter.
    with ThreadPoolExecutor(1) as beside:
        timed = beside.submit(
            lambda: Timed.of(process, orders.of(process), device_id, trace.info.environment, limits)
        )
        tables = _device_tables(process, device_id, selection)
        kernels, is_comm, copies = tables.kernels, tables.communication, tables.copies
        steps = choose_window(process, tables, selection)
        window = steps.window

        key = trace.device_key(process.number, device_id)
        compute = _union(kernels, ~is_comm, window)
        communication = _union(kernels, is_comm, window)
        idle = compute.complement(window.start_ns, window.end_ns)
        overlaps = copy_overlaps(copies, compute, window)
        one_engine = trace.copy_engines(key) == 1
        migrations = unified_migrations(copies, window)
        around = Surroundings(
            steps,
            idle,
            overlaps,
            one_engine,
            migrations.busy,
            others.of(key),
            trace.info.environment,
            call_sites(process.calls, trace, limits),
        )
        explaining = beside.submit(lambda: device_ledger(process, timed.result(), around, limits))
        streams = stream_timelines(process, tables, compute, window)
        all_copies = _all(overlap.copy for overlap in overlaps.values())
        gaps, stream_gaps = compute_gaps(kernels, is_comm, idle, streams, all_copies)
        link = _all(overlaps[d].copy for d in JUDGED_DIRECTIONS if d in overlaps)
        slowed = contention(tables, Transfers(link, communication), window, limits)
        times = step_times(kernels, steps, compute, overlaps)
        skew_ns = timed.result().clock_skew_ns
        calls = on_device_clock(process.calls, skew_ns)
        blocking = blocking_calls(calls, idle, window, limits)
        in_window = InWindow(steps, compute, streams, calls)
        found = collectives(process, tables, in_window, limits)
        notes = communication_hints(process, tables, in_window, limits)
        ledger = explaining.result()
    measured = DeviceMeasurements(
        key=key,
        process=process.number,
        shares_gpu_with=others.sharing(key),
        gpu_name=trace.gpu_name(key),
        process_name=trace.processes[process.number].name,
        window=window,
        compute=compute,
        opaque=_union(kernels, kernels.opaque, window),
        communication=communication,
        stalled=compute & migrations.busy,
        copies=overlaps,
        one_copy_engine=one_engine,
        migrations=migrations,
        page_faults=_page_faults(trace, process.number, device_id, window),
        streams=streams,
        gaps=gaps,
        stream_gaps=stream_gaps,
        blocking=blocking,
        steps=times,
        ledger=ledger,
        order=orders.of(process),
        contention=slowed,
        collectives=found,
        clock_skew_ns=skew_ns,
        notes=(*notes, *told_skew(skew_ns)),
    )
    ranges = range_use(measured, process, tables, selection.ranges)
    return replace(measured, ranges=ranges)


def _device_tables(process: ProcessTables, device_id: int, selection: Selection) -> DeviceTables:
    kernels = on_device(process.kernels, device_id)
    whole = kernels is process.kernels
    return DeviceTables(
        device_id,
        kernels,
        process.kernel_call if whole else process.launches.rows(kernels.correlation_id),
        process.strings.matching(kernels.name_id, selection.is_communication),
        copies_on_device(process.copies, device_id),
        on_device(process.memsets, device_id),
    )


def _page_faults(trace: Trace, process: int, device_id: int, window: Window) -> int:
    found = rows_or_none(trace.page_faults, PageFaults)
    mine = (found.process == process) & (found.device_id == device_id)
    mine &= (found.start_ns >= window.start_ns) & (found.start_ns < window.end_ns)
    return int(found.faults[mine].sum())


def _all(parts: Iterable[Intervals]) -> Intervals:
    union = Intervals.empty()
    for part in parts:
        union |= part
    return union


def _union(kernels: Kernels, mask: Mask, window: Window) -> Intervals:
    if not mask.any():
        return Intervals.empty()
    union = Intervals.of(kernels.start_ns[mask], kernels.end_ns[mask])
    return union.clip(window.start_ns, window.end_ns)
