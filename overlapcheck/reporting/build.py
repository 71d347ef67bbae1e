"""Assembles the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

import numpy as np

from overlapcheck._version import __version__
from overlapcheck.collective_speed import device_speeds
from overlapcheck.columns import ABSENT, Index, Ints
from overlapcheck.device_report import (
    BlockingSummary,
    CopySummary,
    DeviceReport,
    GapSummary,
    LedgerEntry,
    MigrationSummary,
    RangeSummary,
    Spread,
    StepSummary,
    StreamSummary,
    WindowSummary,
)
from overlapcheck.finding import Finding
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements, StepTimes
from overlapcheck.pace import Pace
from overlapcheck.reading import Reading
from overlapcheck.report import CaptureSummary, Report
from overlapcheck.reporting.cleaned import cleaned
from overlapcheck.reporting.conclusion import conclusion
from overlapcheck.reporting.excerpt import draw_excerpt
from overlapcheck.reporting.picture import draw
from overlapcheck.time_use import RangeUse, TimeUse
from overlapcheck.trace import Trace, rows_or_none
from overlapcheck.trace_tables import EventRecords
from overlapcheck.verdict import Outcome, Verdict

WORST_ROWS = 20
"""Rows of each list that a report keeps."""
MAX_EXCERPTS = 16
"""Devices of a report that have an excerpt, of 50 kB each."""


def build_report(
    source: PurePath,
    trace: Trace,
    measured: Measurements,
    verdict: Verdict,
    findings: tuple[Finding, ...] = (),
) -> Report:
    """The report of one analysed trace, without drawings.

    Args:
        source: the analysed file; only its name is kept.
        trace: for names.
        measured: the numbers.
        verdict: the judgement.
        findings: ranked causes.
    """
    report = Report(
        tool_version=__version__,
        capture=_capture(source, trace, measured),
        verdict=verdict,
        devices=tuple(
            _device(trace, device, verdict.of_device(device.key).outcome)
            for device in measured.devices
        ),
        findings=findings,
        thresholds=measured.thresholds.moved(),
        measurements=measured,
    )
    return cleaned(report)


def with_drawings(report: Report, trace: Trace, measured: Measurements, reading: Reading) -> Report:
    """The report with an excerpt of every device and, where that is wanted, its timeline.

    Of very many devices only the first have an excerpt.

    Args:
        report: as it was built.
        trace: what it is of.
        measured: the numbers.
        reading: how much of these there is to be.
    """

    def drawn(number: int, one: DeviceReport, device: DeviceMeasurements) -> DeviceReport:
        held = measured.thresholds.blocking_call_ns
        if number < MAX_EXCERPTS:
            one = replace(one, excerpt=draw_excerpt(trace, device, held, reading.excerpt))
        if not reading.timeline:
            return one
        from overlapcheck.reporting.timeline import draw_timeline

        timeline = draw_timeline(trace, device, report.findings, one.picture, measured)
        return replace(one, timeline=cleaned(timeline))

    pairs = zip(report.devices, measured.devices, strict=True)
    return replace(report, devices=tuple(drawn(n, *pair) for n, pair in enumerate(pairs)))


def _capture(source: PurePath, trace: Trace, measured: Measurements) -> CaptureSummary:
    info = trace.info
    return CaptureSummary(
        report=source.name,
        program=info.program,
        nsys_version=info.recorder_version,
        recorder=trace.recorder.name,
        schema_version=info.schema_version,
        driver_version=info.driver_version,
        graph_granularity=info.graph_granularity.value,
        event_edges=_event_edges(trace),
        environment=dict(sorted(info.environment.items())),
        problems=tuple(problem.what for problem in measured.problems),
        messages=tuple(
            dict.fromkeys(" ".join(message.text.split()) for message in info.diagnostics)
        ),
    )


def _event_edges(trace: Trace) -> str:
    records = rows_or_none(trace.event_records, EventRecords)
    # Without ids that pair waits with records, the latest record of an event is its.
    unpaired = (records.event_sync_id == ABSENT).all() and (records.event_id != ABSENT).any()
    return "recorded" if unpaired or (records.event_sync_id != ABSENT).any() else "inferred"


def _device(trace: Trace, device: DeviceMeasurements, outcome: Outcome) -> DeviceReport:
    window = device.window
    return DeviceReport(
        pid=device.key.pid,
        host=device.key.host,
        process=_title(trace, device.process),
        device=device.key.device_id,
        name=device.gpu_name,
        window=WindowSummary(
            window.start_ns,
            window.end_ns,
            window.source.value,
            window.why,
            window.step_family,
            window.steps,
            window.skipped,
            window.first_step,
            window.last_step,
        ),
        window_ns=window.length_ns,
        compute_ns=device.compute_ns,
        opaque_ns=device.opaque.total_ns,
        idle_ns=device.recorded_idle_ns,
        communication_ns=device.communication.total_ns,
        communication_hidden_ns=device.communication_hidden_ns,
        bound_ns=device.bound_ns,
        recoverable=device.recoverable,
        copies=_copies(device),
        migrations=MigrationSummary(
            device.migrations.count, device.migrations.bytes, device.migrations.busy.total_ns
        ),
        streams=_streams(device),
        streams_total=len(device.streams),
        gaps=_gaps(trace, device),
        gaps_total=len(device.gaps) + sum(map(len, device.stream_gaps)),
        blocking=_blocking(trace, device),
        blocking_total=len(device.blocking),
        steps=_steps(device.steps),
        picture=draw(trace, device),
        ledger=_ledger(device.ledger),
        conclusion=conclusion(device) if outcome is Outcome.PASS else "",
        stalled_ns=device.stalled.total_ns,
        notes=device.notes,
        ranges=tuple(_range(part) for part in device.ranges),
        pace=_pace(device),
        own_window_ns=device.length_ns if device.pace and device.pace.own_ns else None,
        collective_speeds=device_speeds(device.collectives)[:WORST_ROWS],
    )


def _pace(device: DeviceMeasurements) -> Pace | None:
    if device.pace or not device.window.steps:
        return device.pace
    return Pace(round(device.recorded_ns / device.window.steps))


def _title(trace: Trace, number: int) -> str:
    """Name and pid of a process, and its machine where there are several."""
    process = trace.processes[number]
    hosts = {other.key.host for other in trace.processes}
    return process.title if len(hosts) == 1 else f"{process.title} on host {process.key.host}"


def _ledger(ledger: IdleLedger) -> tuple[LedgerEntry, ...]:
    """Idle time by cause, costliest first."""
    length = ledger.end_ns - ledger.start_ns
    totals = np.zeros(len(Reason), dtype=np.int64)
    np.add.at(totals, ledger.reason, length)
    order = sorted(Reason, key=lambda reason: (-int(totals[reason]), reason))
    return tuple(LedgerEntry(r.cause, int(totals[r])) for r in order if totals[r])


def _range(part: RangeUse) -> RangeSummary:
    return RangeSummary(
        pattern=part.pattern,
        closed=part.closed,
        instances=part.instances,
        length_ns=part.recorded_ns,
        compute_ns=part.compute_ns,
        opaque_ns=part.opaque.total_ns,
        idle_ns=part.recorded_idle_ns,
        communication_ns=part.communication.total_ns,
        communication_hidden_ns=part.communication_hidden_ns,
        bound_ns=part.bound_ns,
        recoverable=part.recoverable,
        copies=_copies(part),
        stalled_ns=part.stalled.total_ns,
    )


def _copies(part: TimeUse) -> dict[str, CopySummary]:
    return {
        direction.value: CopySummary(
            count=copies.count,
            bytes=copies.bytes,
            copy_ns=copies.copy_ns,
            hidden_ns=copies.hidden_ns,
            exposed_ns=copies.exposed_ns,
            pageable_count=copies.pageable_count,
            overlap=copies.overlap,
            ceiling=copies.ceiling,
        )
        for direction, copies in part.copies.items()
    }


def _streams(device: DeviceMeasurements) -> tuple[StreamSummary, ...]:
    return tuple(
        StreamSummary(
            context_id=stream.context_id,
            stream_id=stream.stream_id,
            role=stream.role.value,
            kind=stream.kind,
            priority=stream.priority,
            kernels=stream.kernels,
            busy_ns=stream.busy.total_ns,
            compute_ns=stream.compute.total_ns,
            communication_ns=stream.communication.total_ns,
            copy_ns={d.value: busy.total_ns for d, busy in stream.copies.items()},
        )
        for stream in device.streams[:WORST_ROWS]
    )


def _gaps(trace: Trace, device: DeviceMeasurements) -> tuple[GapSummary, ...]:
    # The device's own; those of its streams are for the tables.
    gaps = device.gaps.rows(_longest(device.gaps.end_ns - device.gaps.start_ns))
    return tuple(
        GapSummary(
            start_ns=int(gaps.start_ns[i]),
            end_ns=int(gaps.end_ns[i]),
            stream_id=None,
            before=trace.strings.text(int(gaps.before_name_id[i])),
            after=trace.strings.text(int(gaps.after_name_id[i])),
            copy_ns=int(gaps.copy_ns[i]),
        )
        for i in range(len(gaps))
    )


def _longest(length_ns: Ints) -> Index:
    """Rows of the longest, of equally long ones the earliest."""
    if length_ns.size > WORST_ROWS:
        floor = np.partition(length_ns, -WORST_ROWS)[-WORST_ROWS]
        rows = np.flatnonzero(length_ns >= floor)
    else:
        rows = np.arange(length_ns.size)
    return rows[np.argsort(-length_ns[rows], kind="stable")][:WORST_ROWS]


def _blocking(trace: Trace, device: DeviceMeasurements) -> tuple[BlockingSummary, ...]:
    calls = device.blocking.rows(slice(0, WORST_ROWS))
    return tuple(
        BlockingSummary(
            api=trace.strings.text(int(calls.name_id[i])),
            thread=trace.thread_names.get((device.process, int(calls.tid[i])), ""),
            tid=int(calls.tid[i]),
            count=int(calls.count[i]),
            total_ns=int(calls.total_ns[i]),
            idle_ns=int(calls.idle_ns[i]),
            longest_ns=int(calls.longest_ns[i]),
            longest_start_ns=int(calls.longest_start_ns[i]),
        )
        for i in range(len(calls))
    )


def _steps(steps: StepTimes) -> StepSummary | None:
    if len(steps) == 0:
        return None
    return StepSummary(
        count=len(steps),
        step=_spread(steps, steps.step_ns),
        compute=_spread(steps, steps.compute_ns),
        idle=_spread(steps, steps.idle_ns),
        exposed_copy=_spread(steps, steps.copy_ns - steps.hidden_ns),
    )


def _spread(steps: StepTimes, values: Ints) -> Spread:
    worst = int(np.argmax(values))
    return Spread(
        median_ns=float(np.median(values)),
        p95_ns=float(np.percentile(values, 95)),
        worst_ns=int(values[worst]),
        worst_step=int(steps.number[worst]),
    )
