from __future__ import annotations

import pytest

from overlapcheck.errors import ExitCode, PolicyInvalid
from overlapcheck.kinds import DeviceKey
from overlapcheck.verdict import Check, Outcome, Policy, Verdict


def check(outcome: Outcome, device: DeviceKey | None = None) -> Check:
    return Check("some check", device, outcome, 0.5, 0.8, "because")


@pytest.mark.parametrize(
    ("outcomes", "whole", "code"),
    [
        ("PASS", "PASS", ExitCode.PASS),
        ("PASS PASS", "PASS", ExitCode.PASS),
        ("PASS FAIL", "FAIL", ExitCode.FAIL),
        ("PASS INCONCLUSIVE", "INCONCLUSIVE", ExitCode.INCONCLUSIVE),
        ("INCONCLUSIVE FAIL PASS", "FAIL", ExitCode.FAIL),
    ],
)
def test_a_proven_failure_outweighs_doubt_and_doubt_outweighs_a_pass(
    outcomes: str, whole: str, code: ExitCode
) -> None:
    verdict = Verdict(tuple(check(Outcome(name)) for name in outcomes.split()))

    assert verdict.outcome == whole
    assert verdict.exit_code is code


def test_no_checks_are_no_pass() -> None:
    assert Verdict(()).outcome is Outcome.INCONCLUSIVE
    assert Verdict(()).exit_code is ExitCode.INCONCLUSIVE


def test_a_device_has_its_own_verdict() -> None:
    good, bad = DeviceKey(1, 0), DeviceKey(1, 1)
    verdict = Verdict((check(Outcome.PASS, good), check(Outcome.FAIL, bad), check(Outcome.FAIL)))

    assert verdict.of_device(good).outcome is Outcome.PASS
    assert verdict.of_device(bad).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "limit", ["min_overlap", "max_recoverable", "max_idle", "max_exposed_communication"]
)
@pytest.mark.parametrize("value", [-0.1, 1.01, 80.0])
def test_a_limit_that_is_no_share_is_refused_by_name(limit: str, value: float) -> None:
    with pytest.raises(PolicyInvalid, match=f"{limit} = {value:g} is no share of one") as caught:
        Policy(**{limit: value})  # type: ignore[arg-type]  # one of the numeric fields

    assert caught.value.exit_code is ExitCode.USAGE


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_the_ends_of_the_scale_are_limits_like_any_other(value: float) -> None:
    assert Policy(min_overlap=value, max_idle=value).min_overlap == value


def test_exit_codes_are_those_documented() -> None:
    assert [(code.name, int(code)) for code in ExitCode] == [
        ("PASS", 0),
        ("FAIL", 1),
        ("USAGE", 2),
        ("INCONCLUSIVE", 3),
        ("COULD_NOT_RUN", 4),
        ("PROGRAM_FAILED", 5),
        ("HUNG_UP", 129),
        ("INTERRUPTED", 130),
        ("TERMINATED", 143),
    ]
