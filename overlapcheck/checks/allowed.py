"""Idle time behind blocking calls that the policy accepts, each with its reason.

It leaves `--fail-on` alone; the numbers and the checks on them never change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from overlapcheck.clocks import on_device_clock
from overlapcheck.columns import ABSENT, Mask
from overlapcheck.finding import Finding, SourceLine
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.quantities import duration
from overlapcheck.searches import covering
from overlapcheck.verdict import AllowedCall, Policy


@dataclass(frozen=True)
class Allowance:
    """Idle time of one cause that one entry of the policy accepts."""

    reason: str
    ns: int


def allowances(
    device: DeviceMeasurements,
    measured: Measurements,
    allowed: tuple[AllowedCall, ...],
    cause: str,
) -> list[Allowance]:
    """What each entry accepts of a cause; where two match the same time, the first has it.

    Args:
        device: whose ledger is asked.
        measured: for names.
        allowed: entries of the policy, in their order.
        cause: id; one that is no reason of the ledger has no calls to allow.
    """
    blamed = [reason for reason in Reason if reason.cause == cause] if allowed else []
    left = device.ledger.rows(np.isin(device.ledger.reason, blamed))
    found = []
    for entry in allowed:
        match = _matches(left, entry, device, measured)
        ns = int((left.end_ns - left.start_ns)[match].sum())
        if ns:
            found.append(Allowance(entry.reason, ns))
        left = left.rows(~match)
    return found


def mark_allowed(
    findings: tuple[Finding, ...], measured: Measurements, policy: Policy
) -> tuple[Finding, ...]:
    """The findings, those that the policy accepts with the reason as their first evidence."""
    devices = {device.key: device for device in measured.devices}
    return tuple(
        replace(found, evidence=(*_said(found, allowed), *found.evidence))
        if (allowed := allowances(devices[found.device], measured, policy.allowed, found.cause))
        else found
        for found in findings
    )


def _said(found: Finding, allowed: list[Allowance]) -> list[str]:
    blamed = duration(found.blamed.total_ns)
    return [f"allowed, {duration(one.ns)} of {blamed}: {one.reason}" for one in allowed]


def _matches(
    rows: IdleLedger, entry: AllowedCall, device: DeviceMeasurements, measured: Measurements
) -> Mask:
    """Rows whose call is the one described; a row without a call never matches."""
    match: Mask = rows.call_name_id != ABSENT
    if entry.api:
        match &= measured.names.strings.matching(
            rows.call_name_id, lambda name: fnmatchcase(name, entry.api)
        )
    if entry.nvtx:
        match &= _inside(rows, entry.nvtx, device, measured)
    if entry.source:
        sites = [i for i, at in measured.names.sites.items() if _is_at(at, entry.source)]
        match &= np.isin(rows.site, np.array(sites, dtype=np.int64))
    return match


def _inside(
    rows: IdleLedger, name: str, device: DeviceMeasurements, measured: Measurements
) -> Mask:
    """Rows whose call began in a range of that name, of the same thread."""
    ranges = measured.ranges
    named = measured.names.strings.matching(ranges.name_id, lambda text: fnmatchcase(text, name))
    ranges = ranges.rows(named & (ranges.process == device.process))
    inside = np.zeros(len(rows), dtype=bool)
    for tid in np.unique(rows.tid).tolist():
        own = ranges.rows(ranges.tid == tid)
        own = on_device_clock(own, device.clock_skew_ns)
        covered = Intervals.of(own.start_ns, own.end_ns)
        mine = np.flatnonzero(rows.tid == tid)
        at = rows.call_start_ns[mine]
        inside[mine] = covering(covered.start_ns, covered.end_ns, at) != ABSENT
    return inside


def _is_at(place: SourceLine, source: str) -> bool:
    """Whether a place is the file, named by its last parts, or the line of it that is meant."""
    file, _, line = source.rpartition(":")
    if not line.isdigit():
        file, line = source, ""
    if line and place.line != int(line):
        return False
    return f"/{place.file}".endswith(f"/{file}")
