"""Ranking: costliest first, and never promising more than perfect overlap could win."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.causes import causes
from overlapcheck.causes._base import Cause, Evidence
from overlapcheck.finding import Finding
from overlapcheck.kinds import DeviceKey
from overlapcheck.measurements import DeviceMeasurements, Measurements, WindowSource

# Where the recording cannot tell, saying so comes before any explanation.
_FIRST = ("incomplete-capture", "graph-opaque")
# These are no idle time that another order would win back.
_LAST = ("contention",)
_NO_SAVING = frozenset({"copy-bound", "graph-opaque", "incomplete-capture", "profiler-overhead"})


@dataclass(frozen=True)
class _Fired:
    device: DeviceMeasurements
    cause: Cause
    evidence: Evidence

    @property
    def rank(self) -> tuple[int, float, str, DeviceKey]:
        group = 0 if self.cause.id in _FIRST else 2 if self.cause.id in _LAST else 1
        share = self.evidence.blamed.total_ns / max(self.device.window.length_ns, 1)
        return (group, -share, self.cause.id, self.device.key)


def findings(measured: Measurements) -> tuple[Finding, ...]:
    """All causes that cost anything, over all devices, in rank order."""
    fired = [
        _Fired(device, cause, evidence)
        for device in measured.devices
        for cause in causes().values()
        if (evidence := cause.detect(device, measured)) is not None
    ]
    left = {d.key: max(0, d.window.length_ns - d.bound_ns) for d in measured.devices}
    ranked = []
    for one in sorted(fired, key=lambda f: f.rank):
        blamed_ns = one.evidence.blamed.total_ns
        saves = 0 if one.cause.id in _NO_SAVING else min(blamed_ns, left[one.device.key])
        left[one.device.key] -= saves
        ranked.append(_finding(one, saves, measured))
    return tuple(ranked)


def _finding(one: _Fired, saves_ns: int, measured: Measurements) -> Finding:
    window = one.device.window
    blamed_ns = one.evidence.blamed.total_ns
    return Finding(
        cause=one.cause.id,
        title=one.cause.title,
        device=one.device.key,
        blamed=one.evidence.blamed,
        share=blamed_ns / max(window.length_ns, 1),
        per_step_ns=blamed_ns / window.steps if window.steps else None,
        saves_at_most_ns=saves_ns,
        confidence=one.evidence.confidence,
        evidence=one.evidence.facts,
        advice=one.cause.advise(measured, window.source is WindowSource.WHOLE_RUN),
        caveat=one.cause.caveat,
        source=one.evidence.source,
    )
