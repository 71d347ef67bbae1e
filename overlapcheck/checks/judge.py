"""All checks, in the order a reader wants them."""

from __future__ import annotations

from dataclasses import replace

from overlapcheck.checks import capture, named_causes, overlap, ranges, shares
from overlapcheck.finding import Finding
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.verdict import Check, Outcome, Policy, Verdict


def judge(measured: Measurements, policy: Policy, findings: tuple[Finding, ...] = ()) -> Verdict:
    """Judge every device.

    Findings matter only where the policy names causes.

    Opaque graph launches count as compute, the most favourable reading: what fails even so is a
    FAIL, what passes only so is INCONCLUSIVE. On an incomplete recording nothing else is judged:
    missing rows can make any number wrong in either direction.
    """
    checks: list[Check] = []
    for device in measured.devices:
        captured = capture.check_device(measured, device)
        incomplete = bool(capture.problems_of(measured, device.key))
        others = _other_checks(device, measured, policy, findings)
        checks.append(captured)
        checks += [_not_judged(check) for check in others] if incomplete else others
    if not measured.devices:
        checks = capture.check_report(measured)
    return Verdict(tuple(checks))


def _other_checks(
    device: DeviceMeasurements,
    measured: Measurements,
    policy: Policy,
    findings: tuple[Finding, ...],
) -> list[Check]:
    return [
        *overlap.check_overlap(device, policy, measured.thresholds),
        *shares.check_shares(device, policy),
        *shares.check_copies(device, policy),
        *ranges.check_ranges(device, measured, policy),
        *named_causes.check_causes(device, measured, policy, findings),
    ]


def _not_judged(check: Check) -> Check:
    return replace(
        check,
        outcome=Outcome.INCONCLUSIVE,
        measured=None,
        reason="not judged: the recording is incomplete",
        settle_with="",
    )
