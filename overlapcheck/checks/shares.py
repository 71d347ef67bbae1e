"""Limits on shares of the window: recoverable, idle, exposed communication; and required copies."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.copies import JUDGED_DIRECTIONS
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.quantities import count_of, duration
from overlapcheck.verdict import Check, Outcome, Policy


def check_recoverable(device: DeviceMeasurements, policy: Policy) -> Check:
    """How much perfect overlap could still win back."""
    window_ns = device.window.length_ns
    reason = f"{duration(window_ns - device.bound_ns)} of {duration(window_ns)}"
    limit = _Limit(policy.max_recoverable, policy.origin("max_recoverable"))
    return _at_most("recoverable", device, device.recoverable, limit, reason)


def check_idle(device: DeviceMeasurements, policy: Policy) -> list[Check]:
    """How long nothing computes; only if asked for."""
    if policy.max_idle is None:
        return []
    reason = f"{duration(device.idle_ns)} without compute"
    limit = _Limit(policy.max_idle, policy.origin("max_idle"))
    return [_at_most("idle", device, _share(device, device.idle_ns), limit, reason)]


def check_exposed_communication(device: DeviceMeasurements, policy: Policy) -> list[Check]:
    """How long communication runs without compute; only if asked for."""
    if policy.max_exposed_communication is None:
        return []
    total = device.communication.total_ns
    exposed = total - device.communication_hidden_ns
    reason = f"{duration(exposed)} of {duration(total)} of communication"
    limit = _Limit(policy.max_exposed_communication, policy.origin("max_exposed_communication"))
    return [_at_most("exposed comm", device, _share(device, exposed), limit, reason)]


def check_copies(device: DeviceMeasurements, policy: Policy) -> list[Check]:
    """Whether there are copies to judge at all; only if asked for."""
    if not policy.require_copies:
        return []
    judged = [device.copies[d] for d in JUDGED_DIRECTIONS if d in device.copies]
    count = sum(copies.count for copies in judged)
    outcome = Outcome.PASS
    if count:
        reason = count_of(count, "copy", "copies") + " in the window"
    elif device.opaque:
        outcome = Outcome.INCONCLUSIVE
        reason = "none seen, but graphs of unknown content may hold some"
    else:
        outcome = Outcome.FAIL
        reason = "no copy between host and device in the window"
    asked = policy.origin("require_copies")
    return [Check("copies", device.key, outcome, None, None, reason, limit_from=asked)]


def _share(device: DeviceMeasurements, ns: int) -> float | None:
    return ns / device.window.length_ns if device.window.length_ns else None


@dataclass(frozen=True)
class _Limit:
    share: float
    origin: str


def _at_most(
    name: str, device: DeviceMeasurements, measured: float | None, limit: _Limit, reason: str
) -> Check:
    if measured is None:
        outcome, reason = Outcome.INCONCLUSIVE, "the window is empty"
    else:
        outcome = Outcome.PASS if measured <= limit.share else Outcome.FAIL
    return Check(name, device.key, outcome, measured, limit.share, reason, limit_from=limit.origin)
