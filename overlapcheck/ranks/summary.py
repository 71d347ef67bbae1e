"""One `Report` → the little of it that is kept for the fleet."""

from __future__ import annotations

import numpy as np

from overlapcheck.collective_speed import communicator_name, device_speeds
from overlapcheck.collectives import CollectiveKind, Collectives
from overlapcheck.columns import Ints
from overlapcheck.device_report import DeviceReport
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.fleet import COMPUTE
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.ledger import Reason
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.rendezvous import attendance, communicator_of, whole_channels
from overlapcheck.report import Report
from overlapcheck.report_result import (
    CollectiveSummary,
    DrawnCollectives,
    DrawnRank,
    Encounters,
    RankCause,
    RankRow,
    ReportResult,
    Settings,
)
from overlapcheck.saved import packed
from overlapcheck.verdict import Outcome, Verdict

MAX_CAUSES = 6
MAX_FACTS = 4
MAX_SOURCE = 3
MAX_COLLECTIVES = 12
"""Rows of collectives per rank, costliest first."""
MAX_ENCOUNTERS = 256
"""Collectives per rank that are compared with other ranks: those of the first steps."""
MAX_PIECES = 1024
"""Pieces of exposed time kept for them."""
MAX_DRAWN = 128
"""Collectives of an excerpt that are compared with other ranks', of all channels."""


def summarize(report: Report) -> ReportResult:
    """What is kept of one analysed report; bounded whatever the length of its trace."""
    measured = report.measurements
    if measured is None:
        raise ValueError("a report read back from JSON has no measurements to summarise")
    capture = report.capture
    known = {device.key for device in report.devices}
    pairs = list(zip(report.devices, measured.devices, strict=True))
    names = measured.ranks.names
    return ReportResult(
        settings=Settings(
            capture.program, capture.nsys_version, capture.driver_version, capture.environment
        ),
        utc_start_ns=measured.utc_start_ns,
        checks=tuple(check for check in report.verdict.checks if check.device not in known),
        rows=tuple(_row(report, device, tables) for device, tables in pairs),
        encounters=tuple(_encounters(tables) for _, tables in pairs),
        variables=measured.ranks.variables,
        world_sizes=measured.ranks.sizes,
        said_ranks=tuple(names.get(device.key.process, "") for device in report.devices),
        drawn=tuple(_drawn(device, tables.collectives) for device, tables in pairs),
    )


def _row(report: Report, device: DeviceReport, tables: DeviceMeasurements) -> RankRow:
    key = device.key
    checks = report.verdict.of_device(key).checks
    return RankRow(
        report=report.capture.report,
        pid=device.pid,
        host=device.host,
        device=device.device,
        gpu=device.name,
        outcome=Verdict(checks).outcome if checks else Outcome.INCONCLUSIVE,
        checks=checks,
        window_ns=device.window_ns,
        steps=device.window.steps,
        step_median_ns=device.steps.step.median_ns if device.steps else None,
        compute_ns=device.compute_ns,
        idle_ns=device.idle_ns,
        communication_ns=device.communication_ns,
        communication_exposed_ns=device.communication_ns - device.communication_hidden_ns,
        recoverable=device.recoverable,
        overlap={direction: copies.overlap for direction, copies in device.copies.items()},
        ledger={entry.cause: entry.ns for entry in device.ledger},
        causes=_causes(report, key),
        collectives=_collectives(tables.collectives),
        pace=device.pace,
        bound_ns=device.bound_ns,
        own_window_ns=device.own_window_ns,
        copy_ns={direction: copies.copy_ns for direction, copies in device.copies.items()},
        per_step=device.steps,
    )


def _causes(report: Report, key: DeviceKey) -> tuple[RankCause, ...]:
    mine = [
        RankCause(
            finding.cause,
            finding.title,
            finding.blamed.total_ns,
            finding.share,
            finding.saves_at_most_ns,
            finding.evidence[:MAX_FACTS],
            finding.advice,
            finding.caveat,
            finding.source[:MAX_SOURCE],
        )
        for finding in report.findings
        if finding.device == key and finding.share >= MATERIAL_SHARE
    ]
    return tuple(mine[:MAX_CAUSES])


def _collectives(rows: Collectives) -> tuple[CollectiveSummary, ...]:
    """Totals by communicator, or stream, and kind, most exposed time first."""
    parts = [
        channel[rows.kind[channel] == kind]
        for channel in rows.channels
        for kind in np.unique(rows.kind[channel])
    ]
    found = []
    for part in parts:
        mine = rows.rows(part)
        found.append(
            CollectiveSummary(
                kind=CollectiveKind(int(mine.kind[0])).word,
                stream_id=int(mine.stream_id[0]),
                count=len(mine),
                total_ns=int((mine.end_ns - mine.start_ns).sum()),
                exposed_ns=int(mine.exposed_ns.sum()),
                last_exposed_ns=int(mine.exposed_ns[mine.last].sum()),
                on_compute_stream=bool(mine.on_compute_stream.all()),
                communicator=communicator_name(int(mine.communicator[0])),
                speed=next(iter(device_speeds(mine)), None),
            )
        )
    found.sort(key=lambda row: (-row.exposed_ns, -row.total_ns, row.stream_id, row.kind))
    return tuple(found[:MAX_COLLECTIVES])


def _encounters(device: DeviceMeasurements) -> tuple[Encounters, ...]:
    """The first collectives of each channel, as many as fit, with what went before each."""
    channels = [device.collectives.rows(rows) for rows in whole_channels(device.collectives)]
    exposed = device.communication - device.compute
    room = MAX_ENCOUNTERS // max(len(channels), 1)
    return tuple(
        found
        for rows in channels
        if (found := _of_channel(rows, device, exposed, room)) is not None
    )


def _of_channel(
    rows: Collectives, device: DeviceMeasurements, exposed: Intervals, room: int
) -> Encounters | None:
    meets = np.isin(rows.kind, [kind for kind in CollectiveKind if kind.meets])
    usable = rows.rows(meets)
    kept = usable.rows(slice(0, room))
    if len(kept) == 0:
        return None
    pieces = exposed & Intervals.of(kept.start_ns, kept.end_ns)
    if len(pieces) > MAX_PIECES:
        # Only collectives all of whose pieces are kept: every number stays exact.
        kept = kept.rows(kept.end_ns <= int(pieces.end_ns[MAX_PIECES - 1]))
        pieces = exposed & Intervals.of(kept.start_ns, kept.end_ns)
    communicator, ranks = communicator_of(kept)
    return Encounters(
        stream_id=int(kept.stream_id[0]),
        attendance=attendance(kept),
        before=_before(kept, device),
        exposed_start_ns=pieces.start_ns,
        exposed_end_ns=pieces.end_ns,
        complete=len(kept) == len(usable),
        communicator=communicator,
        ranks=ranks,
    )


def _drawn(device: DeviceReport, collectives: Collectives) -> DrawnRank | None:
    excerpt = device.excerpt
    if excerpt is None:
        return None
    start, end = excerpt.start_ns, excerpt.start_ns + excerpt.length_ns
    inside = (collectives.start_ns >= start) & (collectives.start_ns < end)
    meets = np.isin(collectives.kind, [kind for kind in CollectiveKind if kind.meets])
    rows = collectives.rows(inside & meets)
    found = whole_channels(rows)
    room = MAX_DRAWN // max(len(found), 1)
    channels = (rows.rows(channel[:room]) for channel in found[:MAX_DRAWN])
    return DrawnRank(
        packed(excerpt),
        tuple(
            DrawnCollectives(int(one.stream_id[0]), communicator_of(one)[0], attendance(one))
            for one in channels
        ),
    )


def _before(rows: Collectives, device: DeviceMeasurements) -> dict[str, Ints]:
    """Compute, and idle time by cause, from the collective before to each collective."""
    since, until = rows.since_ns, rows.start_ns
    found = {COMPUTE: device.compute.overlap_with(since, until)}
    ledger = device.ledger
    for reason in np.unique(ledger.reason).tolist():
        # Waiting in another collective is not what made this rank late.
        if reason == Reason.EXPOSED_COLLECTIVE:
            continue
        mine = ledger.reason == reason
        idle = Intervals.of(ledger.start_ns[mine], ledger.end_ns[mine])
        spent = idle.overlap_with(since, until)
        if spent.any():
            found[Reason(reason).cause] = spent
    return found
