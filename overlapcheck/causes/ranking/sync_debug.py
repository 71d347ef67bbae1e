"""Naming the lines behind `host-sync` from PyTorch's own warnings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from overlapcheck.finding import Finding
from overlapcheck.ledger import Reason
from overlapcheck.measurements import Measurements
from overlapcheck.quantities import count_of
from overlapcheck.sync_warnings import SyncWarning

MAX_PLACES = 5


def with_sync_warnings(
    findings: tuple[Finding, ...],
    warnings: tuple[SyncWarning, ...],
    measured: Measurements,
    utc_start_ns: int | None,
) -> tuple[Finding, ...]:
    """Add the places of warnings inside each device's window to its `host-sync` finding.

    Args:
        findings: in rank order, which stays.
        warnings: of the recorded run.
        measured: for the windows.
        utc_start_ns: UTC of the trace's time 0; None keeps the warnings of all times.
    """
    if not warnings:
        return findings
    devices = {device.key: device for device in measured.devices}
    told = []
    for finding in findings:
        if finding.cause == Reason.HOST_SYNC.cause:
            device = devices[finding.device]
            window, skew_ns = device.window, device.clock_skew_ns
            inside = [
                w
                for w in warnings
                if w.pid == finding.device.pid
                and (
                    utc_start_ns is None
                    or window.start_ns <= w.utc_ns - utc_start_ns + skew_ns < window.end_ns
                )
            ]
            finding = _named(finding, inside)
        told.append(finding)
    return tuple(told)


def _named(finding: Finding, warnings: list[SyncWarning]) -> Finding:
    if not warnings:
        return finding
    places = Counter(warning.place for warning in warnings).most_common(MAX_PLACES)
    fact = f"PyTorch warned of {count_of(len(warnings), 'synchronising operation')} in the window"
    known = {(place.file, place.line) for place in finding.source}
    more = tuple(place for place, _ in places if (place.file, place.line) not in known)
    return replace(
        finding, evidence=(fact, *finding.evidence), source=(finding.source + more)[:MAX_PLACES]
    )
