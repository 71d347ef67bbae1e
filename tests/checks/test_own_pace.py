"""Verdicts at the paces that control runs showed, one beside the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlapcheck.checks.own_pace import over_the_spread, with_basis
from overlapcheck.measurements import Measurements
from overlapcheck.pace import Pace, PaceSource
from overlapcheck.verdict import Basis, Check, Outcome, Verdict
from tests.pictures import picture

PASS, FAIL = Outcome.PASS, Outcome.FAIL
PACE = Pace(
    recorded_ns=30_000, own_ns=20_000, low_ns=18_000, high_ns=22_000,
    source=PaceSource.CONTROL, controls=3,
)  # fmt: skip


def measured(pace: Pace | None) -> Measurements:
    found = picture("s7 kernel k |aaaaaaaaa.|").measure()
    return replace(found, devices=tuple(replace(one, pace=pace) for one in found.devices))


def verdict(of: Measurements, *outcomes: Outcome, whole: bool = False) -> Verdict:
    """One check for each outcome, of the only device or of the whole report."""
    device = None if whole else of.devices[0].key
    return Verdict(
        tuple(
            Check(f"check {number}", device, outcome, 0.5, 0.4, "half")
            for number, outcome in enumerate(outcomes)
        )
    )


def test_what_all_paces_agree_on_stays_as_it_is() -> None:
    of = measured(PACE)
    own = verdict(of, PASS, FAIL)

    assert over_the_spread(own, [own, own], of) == own


@pytest.mark.parametrize("others", [(FAIL, PASS), (PASS, FAIL), (FAIL, FAIL)])
def test_what_another_pace_decides_otherwise_is_not_decided(
    others: tuple[Outcome, Outcome],
) -> None:
    of = measured(PACE)
    own = verdict(of, PASS, PASS)
    told = over_the_spread(own, [verdict(of, one, PASS) for one in others], of)

    straddling, agreed = told.checks
    assert straddling.outcome is Outcome.INCONCLUSIVE
    assert straddling.reason == (
        "half; the spread of the control runs, 18.0 us to 22.0 us per step, straddles the limit"
    )
    assert "more control recordings" in straddling.settle_with
    assert agreed == own.checks[1]


@pytest.mark.parametrize(
    "pace", [None, replace(PACE, low_ns=None), replace(PACE, high_ns=None)],
    ids=["none", "no least", "no longest"],
)  # fmt: skip
def test_a_spread_that_is_not_known_is_not_told(pace: Pace | None) -> None:
    of = measured(pace)
    (told,) = over_the_spread(verdict(of, PASS), [verdict(of, FAIL)], of).checks

    assert told.outcome is Outcome.INCONCLUSIVE
    assert told.reason == "half; the spread of the control runs, straddles the limit"


def test_a_check_of_the_whole_report_has_no_pace_of_its_own() -> None:
    of = measured(PACE)
    own, other = verdict(of, PASS, whole=True), verdict(of, FAIL, whole=True)
    (told,) = over_the_spread(own, [other], of).checks

    assert told.outcome is Outcome.INCONCLUSIVE
    assert "per step" not in told.reason


def test_only_a_failure_that_a_late_host_alone_explains_is_told_as_recorded() -> None:
    of = measured(None)
    told = with_basis(verdict(of, PASS, FAIL), verdict(of, PASS, PASS), of)

    assert [check.reason for check in told.checks] == ["half", "half, as recorded"]
    assert told.settle_with == told.checks[1].settle_with != ""
    assert told.checks[0].settle_with == ""


@pytest.mark.parametrize(("recorded", "never_late"), [(PASS, PASS), (FAIL, FAIL), (PASS, FAIL)])
def test_other_verdicts_stay_as_they_are(recorded: Outcome, never_late: Outcome) -> None:
    of = measured(None)
    found = verdict(of, recorded)

    assert with_basis(found, verdict(of, never_late), of) == found


@pytest.mark.parametrize(
    ("pace", "basis"),
    [(PACE, Basis.OWN_PACE), (replace(PACE, own_ns=None), Basis.AS_RECORDED)],
)
def test_a_verdict_stands_on_the_own_pace_where_that_is_known(pace: Pace, basis: Basis) -> None:
    of = measured(pace)

    assert with_basis(verdict(of, PASS), verdict(of, PASS), of).basis is basis


def test_without_devices_nothing_goes_at_its_own_pace() -> None:
    of = measured(PACE)
    nothing = replace(of, devices=())
    found = verdict(of, PASS, whole=True)

    assert with_basis(found, found, nothing).basis is Basis.AS_RECORDED
