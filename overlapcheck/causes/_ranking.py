"""Ranking: what recurs before what happens once, costliest first."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.causes import causes
from overlapcheck.causes._base import Cause, Evidence
from overlapcheck.causes._recurrence import Recurrence, recurrence
from overlapcheck.causes._savings import Savings
from overlapcheck.finding import MATERIAL_SHARE, Finding
from overlapcheck.kinds import DeviceKey
from overlapcheck.ledger import Reason
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
    recurrence: Recurrence

    @property
    def share(self) -> float:
        return self.evidence.blamed.total_ns / max(self._judged_ns, 1)

    @property
    def _judged_ns(self) -> int:
        """Of what the cause's time is a share: what the recording took lies outside the window."""
        return self.device.recorded_ns if self._is_recorders else self.device.length_ns

    @property
    def _is_recorders(self) -> bool:
        return self.cause.id == Reason.PROFILER_OVERHEAD.cause

    @property
    def rank(self) -> tuple[int, int, float, str, DeviceKey]:
        last = self.cause.id in _LAST or (self.device.taken and self._is_recorders)
        group = 0 if self.cause.id in _FIRST else 2 if last else 1
        lasting = self.recurrence.lasting_ns / max(self._judged_ns, 1)
        return (group, self._tier, -lasting, self.cause.id, self.device.key)

    @property
    def _tier(self) -> int:
        """A spike stands behind what recurs, but before what is no cause of failure at all."""
        if self.share < MATERIAL_SHARE:
            return 2
        return 0 if self.recurrence.recurs else 1


def findings(measured: Measurements) -> tuple[Finding, ...]:
    """All causes that cost anything, over all devices, in rank order."""
    fired = [
        _Fired(device, cause, evidence, recurrence(cause.id, evidence, device, measured))
        for device in measured.devices
        for cause in causes().values()
        if (evidence := cause.detect(device, measured)) is not None
    ]
    savings = {device.key: Savings(device, measured) for device in measured.devices}
    ranked = sorted(fired, key=lambda one: one.rank)
    return tuple(_finding(one, savings[one.device.key], measured) for one in ranked)


def _finding(one: _Fired, savings: Savings, measured: Measurements) -> Finding:
    window, evidence, recurs = one.device.window, one.evidence, one.recurrence
    blamed_ns = evidence.blamed.total_ns
    facts = evidence.facts
    return Finding(
        cause=one.cause.id,
        title=one.cause.title,
        device=one.device.key,
        blamed=evidence.blamed,
        share=one.share,
        per_step_ns=blamed_ns / window.steps if window.steps else None,
        saves_at_most_ns=_saves(one, savings),
        confidence=evidence.confidence,
        evidence=(*recurs.spikes, *facts),
        advice=evidence.advice
        or one.cause.advise(measured, window.source is WindowSource.WHOLE_RUN),
        caveat=one.cause.caveat,
        source=evidence.source,
        steps=window.steps,
        steps_hit=recurs.steps_hit,
        median_step_ns=recurs.median_ns,
        recurs=recurs.recurs,
    )


def _saves(one: _Fired, savings: Savings) -> int:
    if one.cause.id in _NO_SAVING:
        return 0
    return savings.at_most(one.evidence.blamed, one.cause.id, placed=one.evidence.placed)
