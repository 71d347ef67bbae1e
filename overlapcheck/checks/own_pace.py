"""At which pace a verdict stands: where the program's own is known only roughly, and where not.

Recording makes a host late, so a failure that late hosts alone explain may be the recording's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overlapcheck.checks import capture
from overlapcheck.ledger import LATE_HOST, Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements, WindowSource
from overlapcheck.quantities import duration, percent
from overlapcheck.recorder import Content
from overlapcheck.verdict import Basis, Check, Outcome, Verdict


def over_the_spread(own: Verdict, others: Sequence[Verdict], measured: Measurements) -> Verdict:
    """The verdict at the own pace, INCONCLUSIVE where it is another at a pace that may be.

    Args:
        own: at the own pace.
        others: at the shortest and the longest own pace that a control showed.
        measured: knows the paces.
    """
    checks = (
        _straddling(check, measured) if len({one.outcome for one in (check, *rest)}) > 1 else check
        for check, *rest in zip(own.checks, *(other.checks for other in others), strict=True)
    )
    return replace(own, checks=tuple(checks))


def _straddling(check: Check, measured: Measurements) -> Check:
    device = next((one for one in measured.devices if one.key == check.device), None)
    pace = device.pace if device else None
    spread = ""
    if pace and pace.low_ns is not None and pace.high_ns is not None:
        spread = f", {duration(pace.low_ns)} to {duration(pace.high_ns)} per step"
    return replace(
        check,
        outcome=Outcome.INCONCLUSIVE,
        reason=f"{check.reason}; the spread of the control runs{spread}, straddles the limit",
        settle_with="judge with more control recordings, of a machine that does nothing else",
    )


def with_basis(recorded: Verdict, never_late: Verdict, measured: Measurements) -> Verdict:
    """The verdict, with the pace it stands on.

    Args:
        recorded: the verdict.
        never_late: what it would be if the host were never late.
        measured: what it is of.
    """
    paces = [device.pace for device in measured.devices]
    if paces and all(pace is not None and pace.own_ns is not None for pace in paces):
        return replace(recorded, basis=Basis.OWN_PACE)
    if recorded.outcome is not Outcome.FAIL or never_late.outcome is Outcome.FAIL:
        return recorded
    how = _settling(measured)
    checks = (
        replace(check, reason=f"{check.reason}, as recorded", settle_with=how)
        if check.outcome is Outcome.FAIL
        else check
        for check in recorded.checks
    )
    return replace(recorded, checks=tuple(checks), settle_with=how)


def _settling(measured: Measurements) -> str:
    if any(_could_tell(device) for device in measured.devices):
        return measured.recorder.record_again(Content.OWN_PACE)
    if any(device.window.steps for device in measured.devices):
        return "overlapcheck analyze REPORT --step-time TIME (of a step when nothing records)"
    return measured.recorder.record_again(Content.STEPS)


def why_control(recorded: Verdict, never_late: Verdict, measured: Measurements) -> str | None:
    """What a control recording would settle, as a sentence; None where it would settle nothing."""
    asked = [
        one
        for one in measured.devices
        if _could_tell(one) and not capture.problems_of(measured, one)
    ]
    if not asked:
        return None
    decided = [
        check.name
        for check, other in zip(recorded.checks, never_late.checks, strict=True)
        if check.outcome is not other.outcome and check.device in {one.key for one in asked}
    ]
    causes, share = max((_late(one) for one in asked), key=lambda found: found[1])
    if decided:
        names = ", ".join(dict.fromkeys(decided))
        return f"time of a late host ({causes}, {percent(share)} of the window) decides {names}"
    if share >= measured.thresholds.control_least_share:
        return f"a late host ({causes}) holds {percent(share)} of the window"
    return None


def _could_tell(device: DeviceMeasurements) -> bool:
    known = device.pace is not None and device.pace.own_ns is not None
    return not known and device.window.source is WindowSource.NVTX_STEPS


def _late(device: DeviceMeasurements) -> tuple[str, float]:
    """The causes of a late host, costliest first, and their share of the window."""
    length = device.ledger.end_ns - device.ledger.start_ns
    total = np.bincount(device.ledger.reason, weights=length, minlength=len(Reason))
    ranked = sorted((one for one in LATE_HOST if total[one]), key=lambda one: -total[one])
    share = sum(total[one] for one in LATE_HOST) / max(device.recorded_ns, 1)
    return ", ".join(one.cause for one in ranked), float(share)
