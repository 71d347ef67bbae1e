"""Causes that the policy forbids (`--fail-on`): the only check that looks at explanations."""

from __future__ import annotations

from overlapcheck.capture_problem import NotKnown
from overlapcheck.checks.allowed import Allowance, allowances
from overlapcheck.finding import MATERIAL_SHARE, Finding
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.quantities import percent
from overlapcheck.verdict import Check, Outcome, Policy


def check_causes(
    device: DeviceMeasurements,
    measured: Measurements,
    policy: Policy,
    findings: tuple[Finding, ...],
) -> list[Check]:
    """One check per forbidden cause; it fails from the materiality floor on.

    Time blamed on calls that the policy allows does not count.
    """
    shares = {f.cause: f.share for f in findings if f.device == device.key}
    checks = []
    for cause in sorted(policy.fail_on):
        allowed = allowances(device, measured, policy.allowed, cause)
        taken = sum(allowance.ns for allowance in allowed) / max(device.length_ns, 1)
        share = max(0.0, shares.get(cause, 0.0) - taken)
        failed = share >= MATERIAL_SHARE
        unseen = [one for one in measured.not_known if _hides(one, device, cause)]
        if unseen and not failed:
            checks.append(_not_known(device, cause, unseen[0], policy))
            continue
        checks.append(
            Check(
                f"no {cause}",
                device.key,
                Outcome.FAIL if failed else Outcome.PASS,
                share,
                MATERIAL_SHARE,
                _reason(share, taken, allowed),
                limit_from=policy.origin("fail_on"),
            )
        )
    return checks


def _hides(unseen: NotKnown, device: DeviceMeasurements, cause: str) -> bool:
    return unseen.process == device.process and cause in unseen.causes


def _not_known(device: DeviceMeasurements, cause: str, unseen: NotKnown, policy: Policy) -> Check:
    return Check(
        f"no {cause}",
        device.key,
        Outcome.INCONCLUSIVE,
        None,
        MATERIAL_SHARE,
        unseen.what,
        settle_with=unseen.settle_with,
        limit_from=policy.origin("fail_on"),
    )


def _reason(share: float, taken: float, allowed: list[Allowance]) -> str:
    found = "of the window" if share else "not found"
    if not allowed:
        return found
    why = "; ".join(dict.fromkeys(allowance.reason for allowance in allowed))
    return f"{'of the window, beside' if share else 'nothing but'} {percent(taken)} allowed: {why}"
