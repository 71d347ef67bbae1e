"""Causes that the policy forbids (`--fail-on`): the only check that looks at explanations."""

from __future__ import annotations

from overlapcheck.finding import MATERIAL_SHARE, Finding
from overlapcheck.measurements import DeviceMeasurements
from overlapcheck.verdict import Check, Outcome, Policy


def check_causes(
    device: DeviceMeasurements, policy: Policy, findings: tuple[Finding, ...]
) -> list[Check]:
    """One check per forbidden cause; it fails from the materiality floor on."""
    shares = {f.cause: f.share for f in findings if f.device == device.key}
    checks = []
    for cause in sorted(policy.fail_on):
        share = shares.get(cause, 0.0)
        failed = share >= MATERIAL_SHARE
        checks.append(
            Check(
                f"no {cause}",
                device.key,
                Outcome.FAIL if failed else Outcome.PASS,
                share,
                MATERIAL_SHARE,
                "of the window" if share else "not found",
            )
        )
    return checks
