"""Limits on shares of the time: recoverable, idle, exposed communication; and required copies."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.copies import JUDGED_DIRECTIONS
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.quantities import count_of, duration
from overlapcheck.time_use import TimeUse
from overlapcheck.verdict import Check, Limits, Outcome, Policy


def check_shares(part: TimeUse, limits: Limits) -> list[Check]:
    """All checks on shares of a stretch that have a limit."""
    return [
        *check_recoverable(part, limits),
        *check_idle(part, limits),
        *check_exposed_communication(part, limits),
    ]


def check_recoverable(part: TimeUse, limits: Limits) -> list[Check]:
    """How much perfect overlap could still win back."""
    if limits.max_recoverable is None:
        return []
    reason = f"{duration(part.length_ns - part.bound_ns)} of {duration(part.length_ns)}"
    limit = _Limit(limits.max_recoverable, limits.origin("max_recoverable"))
    return [_at_most("recoverable", part, part.recoverable, limit, reason)]


def check_idle(part: TimeUse, limits: Limits) -> list[Check]:
    """How long nothing computes; only if asked for."""
    if limits.max_idle is None:
        return []
    reason = f"{duration(part.idle_ns)} without compute"
    limit = _Limit(limits.max_idle, limits.origin("max_idle"))
    return [_at_most("idle", part, _share(part, part.idle_ns), limit, reason)]


def check_exposed_communication(part: TimeUse, limits: Limits) -> list[Check]:
    """How long communication runs without compute; only if asked for."""
    if limits.max_exposed_communication is None:
        return []
    total = part.communication_ns
    exposed = total - part.communication_hidden_ns
    reason = f"{duration(exposed)} of {duration(total)} of communication"
    limit = _Limit(limits.max_exposed_communication, limits.origin("max_exposed_communication"))
    return [_at_most("exposed comm", part, _share(part, exposed), limit, reason)]


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


def _share(part: TimeUse, ns: int) -> float | None:
    return ns / part.length_ns if part.length_ns else None


@dataclass(frozen=True)
class _Limit:
    share: float
    origin: str


def _at_most(name: str, part: TimeUse, measured: float | None, limit: _Limit, reason: str) -> Check:
    if measured is None:
        outcome, reason = Outcome.INCONCLUSIVE, "the window is empty"
    else:
        outcome = Outcome.PASS if measured <= limit.share else Outcome.FAIL
    return Check(name, part.key, outcome, measured, limit.share, reason, limit_from=limit.origin)
