"""All checks, in the order a reader wants them."""

from __future__ import annotations

from dataclasses import replace

from overlapcheck.checks import capture, named_causes, overlap, ranges, shares
from overlapcheck.finding import Finding
from overlapcheck.measurements import DeviceMeasurements, Measurements, WindowSource
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
        others = _other_checks(device, measured, policy, findings)
        checks.append(captured)
        doubt = "the recording is incomplete" if capture.problems_of(measured, device) else ""
        if device.window.source is WindowSource.NOTHING:
            checks.append(_no_window(device))
            doubt = doubt or "the steps hold no work of this device"
        checks += [_not_judged(check, doubt) for check in others] if doubt else others
    return Verdict((*checks, *capture.check_report(measured)))


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


def _no_window(device: DeviceMeasurements) -> Check:
    """What was to be judged is not there; to judge something else would be no answer."""
    return Check(
        "window",
        device.key,
        Outcome.INCONCLUSIVE,
        None,
        None,
        device.window.why,
        settle_with="name the ranges around the launches with --steps, or what to judge with"
        " --window, --device",
    )


def _not_judged(check: Check, why: str) -> Check:
    return replace(
        check,
        outcome=Outcome.INCONCLUSIVE,
        measured=None,
        reason=f"not judged: {why}",
        settle_with="",
    )
