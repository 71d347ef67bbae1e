from __future__ import annotations

from dataclasses import replace

import pytest

from overlapcheck.capture_problem import NotKnown
from overlapcheck.checks.judge import judge
from overlapcheck.finding import MATERIAL_SHARE, Confidence, Finding
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.verdict import Check, Outcome, Policy
from tests.pictures import device_of, picture

DEVICE = device_of(1)
MEASURED = picture("s7 kernel k |.aaaa|\nt1 cudaLaunchKernel |a....|").measure()


def finding(cause: str, share: float, device: DeviceKey = DEVICE) -> Finding:
    return Finding(
        cause=cause,
        title=cause,
        device=device,
        blamed=Intervals.span(0, 1),
        share=share,
        per_step_ns=None,
        saves_at_most_ns=1,
        confidence=Confidence.SURE,
        evidence=(),
        advice="",
        caveat="",
    )


def check(fail_on: str, *findings: Finding) -> Check:
    """The last check: that of the forbidden cause."""
    return judge(MEASURED, Policy(fail_on=frozenset({fail_on})), findings).checks[-1]


def test_a_forbidden_cause_that_costs_enough_fails() -> None:
    found = check("host-sync", finding("host-sync", 0.3))

    assert (found.name, found.outcome) == ("no host-sync", Outcome.FAIL)
    assert (found.measured, found.limit) == (0.3, MATERIAL_SHARE)


@pytest.mark.parametrize(("share", "outcome"), [(0.0199, "PASS"), (0.02, "FAIL")])
def test_below_the_floor_nothing_is_a_cause_of_failure(share: float, outcome: str) -> None:
    assert check("host-sync", finding("host-sync", share)).outcome == outcome


def test_a_forbidden_cause_that_was_not_found_passes() -> None:
    found = check("host-sync", finding("allocation", 0.5))

    assert (found.outcome, found.reason) == (Outcome.PASS, "not found")


def test_a_cause_on_another_device_is_not_this_ones() -> None:
    assert check("host-sync", finding("host-sync", 0.5, DeviceKey(7, 3))).outcome is Outcome.PASS


def test_findings_that_nobody_forbade_never_reach_the_verdict() -> None:
    """A wrong explanation cannot change a verdict in either direction."""
    with_findings = judge(MEASURED, Policy(), (finding("host-sync", 0.9),))

    assert with_findings == judge(MEASURED, Policy())


def test_a_cause_whose_rows_are_missing_is_not_known_rather_than_not_found() -> None:
    drawing = picture("""
        s7 kernel k            |.aaaa|
        t1 cudaLaunchKernel    |a....|
        t1 cudaStreamWaitEvent |.x...|
        """)
    policy = Policy(
        fail_on=frozenset({"event-wait", "host-sync"}), origins={"fail_on": "--fail-on"}
    )
    waits, syncs = judge(drawing.measure(), policy).checks[-2:]

    assert (waits.name, waits.outcome) == ("no event-wait", Outcome.INCONCLUSIVE)
    assert "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION" in waits.reason
    assert "--trace=cuda" in waits.settle_with
    assert syncs.outcome is Outcome.PASS
    assert waits.limit_from == syncs.limit_from == "--fail-on"


def test_rows_that_another_process_misses_hide_nothing_of_this_one() -> None:
    unseen = NotKnown(1, "not known", frozenset({"event-wait"}), "more")
    policy = Policy(fail_on=frozenset({"event-wait"}))
    beside, own = (
        judge(replace(MEASURED, not_known=(replace(unseen, process=process),)), policy)
        for process in (1, 0)
    )

    assert beside.checks[-1].outcome is Outcome.PASS
    assert own.checks[-1].outcome is Outcome.INCONCLUSIVE


def test_a_cause_that_is_found_fails_whatever_else_is_missing() -> None:
    drawing = picture("""
        s7 kernel k            |.aaaa|
        t1 cudaLaunchKernel    |a....|
        t1 cudaStreamWaitEvent |.x...|
        """)
    policy = Policy(fail_on=frozenset({"event-wait"}))
    found = judge(drawing.measure(), policy, (finding("event-wait", 0.3),)).checks[-1]

    assert found.outcome is Outcome.FAIL
