"""Ranking: what recurs before what happens once, and what its repair wins most from first.

Where no repair can be predicted, a cause counts by the time it is blamed for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from overlapcheck.causes import causes
from overlapcheck.causes._base import Cause, Evidence
from overlapcheck.causes.ranking.recurrence import Recurrence, recurrence
from overlapcheck.causes.ranking.savings import Savings
from overlapcheck.finding import MATERIAL_SHARE, Finding
from overlapcheck.forecast import Forecast
from overlapcheck.kinds import DeviceKey
from overlapcheck.ledger import Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements, WindowSource
from overlapcheck.prediction import Win

# Where the recording cannot tell, saying so comes before any explanation.
_FIRST = ("incomplete-capture", "graph-opaque")
# These are no idle time that another order would win back.
_LAST = ("contention",)
# Their repairs take away waits that are recorded; others shorten what the host does by a model,
# which is told where it says no more than the ledger allows, and decides about no rank.
_TRUSTED = frozenset(
    {
        *("pageable-copy", "same-stream", "sync-copy", "default-stream", "event-wait"),
        *("host-sync", "allocation", "launch-blocking"),
    }
)
_NO_SAVING = frozenset({"copy-bound", "graph-opaque", "incomplete-capture", "profiler-overhead"})


@dataclass(frozen=True)
class _Fired:
    device: DeviceMeasurements
    cause: Cause
    evidence: Evidence
    recurrence: Recurrence
    saves_at_most_ns: float
    win: Win | None
    """What its repair is predicted to win; None where that is not known."""

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
        worth = self.recurrence.lasting_ns / max(self._judged_ns, 1)
        if self._trusted is not None:
            worth = min(self._trusted.share, self._at_most)
        return (group, self._tier, -worth, self.cause.id, self.device.key)

    @property
    def _at_most(self) -> float:
        return self.saves_at_most_ns / max(self._judged_ns, 1)

    @property
    def _trusted(self) -> Win | None:
        if self.win is None or self.cause.id not in _TRUSTED:
            return None
        # That the host would be late in any case is a matter of the host's model, too.
        late_anyway = not self.win.is_worth_while and self.win.next_bound.what in ("host", "input")
        return None if late_anyway else self.win

    @property
    def told_win(self) -> Win | None:
        """What is told of what its repair wins."""
        if self.win is None or self._trusted is not None:
            return self.win
        return self.win if MATERIAL_SHARE <= self.win.share <= self._at_most else None

    @property
    def _tier(self) -> int:
        """A spike stands behind what recurs, but before what is no cause of failure at all."""
        if self.share < MATERIAL_SHARE or (self._trusted and not self._trusted.is_worth_while):
            return 2
        return 0 if self.recurrence.recurs else 1


def findings(
    measured: Measurements, forecasts: Mapping[DeviceKey, Forecast] | None = None
) -> tuple[Finding, ...]:
    """All causes that cost anything, over all devices, in rank order.

    Args:
        measured: what was measured.
        forecasts: what repairs are predicted to win on devices for which that is known.
    """
    fired = [
        one
        for device in measured.devices
        for one in _fired(device, measured, (forecasts or {}).get(device.key))
    ]
    return tuple(_finding(one, measured) for one in sorted(fired, key=lambda one: one.rank))


def _fired(
    device: DeviceMeasurements, measured: Measurements, forecast: Forecast | None
) -> list[_Fired]:
    savings = Savings(device, measured)
    found = []
    for cause in causes().values():
        evidence = cause.detect(device, measured)
        if evidence is None:
            continue
        recurs = recurrence(cause.id, evidence, device, measured)
        saves = _saves(cause.id, evidence, savings)
        win = forecast.win(cause.id) if forecast else None
        found.append(_Fired(device, cause, evidence, recurs, saves, win))
    return found


def _finding(one: _Fired, measured: Measurements) -> Finding:
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
        saves_at_most_ns=one.saves_at_most_ns,
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
        predicted=one.told_win,
    )


def _saves(cause: str, evidence: Evidence, savings: Savings) -> float:
    if cause in _NO_SAVING:
        return 0
    return savings.at_most(evidence.blamed, cause, placed=evidence.placed)
