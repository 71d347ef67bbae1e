"""Verdicts at the paces that control runs showed, one beside the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlapcheck.capture_problem import CaptureFault, CaptureProblem
from overlapcheck.checks.own_pace import over_the_spread, why_control, with_basis
from overlapcheck.columns import ABSENT
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements, Window, WindowSource
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


def device(of: DeviceMeasurements, number: int = 0, **idle: int) -> DeviceMeasurements:
    """Judged by steps of 1000 ns, of which so many are idle for each reason."""
    ends = [sum(list(idle.values())[: n + 1]) for n in range(len(idle))]
    ledger = IdleLedger.filled(
        len(idle),
        start_ns=[0, *ends[:-1]][: len(idle)],
        end_ns=ends,
        reason=[Reason[name.upper()] for name in idle],
    )
    window = Window(0, 1000, WindowSource.NVTX_STEPS, "", "step #", 1)
    key = of.key._replace(device_id=number)
    return replace(of, key=key, process=number, ledger=ledger, window=window)


def late(**idle: int) -> Measurements:
    """Of one device that `device` describes."""
    of = measured(None)
    return replace(of, problems=(), devices=(device(of.devices[0], **idle),))


def asks(of: Measurements, *outcomes: tuple[Outcome, Outcome]) -> str | None:
    """Why a control is wanted, by checks of the first device as recorded and never late."""
    recorded = verdict(of, *(pair[0] for pair in outcomes))
    return why_control(recorded, verdict(of, *(pair[1] for pair in outcomes)), of)


def test_a_control_is_asked_for_where_a_late_host_decides() -> None:
    of = late(host_starved=10, pageable_copy=200)

    assert asks(of, (PASS, PASS), (FAIL, PASS)) == (
        "time of a late host (host-starved, 1.0 % of the window) decides check 1"
    )
    assert asks(of, (FAIL, FAIL), (PASS, PASS)) is None


@pytest.mark.parametrize(("idle", "asked"), [(49, False), (50, True), (51, True)])
def test_a_control_is_asked_for_where_a_late_host_holds_a_twentieth(idle: int, asked: bool) -> None:
    assert (asks(late(host_starved=idle, pageable_copy=200), (PASS, PASS)) is not None) is asked


def test_the_costliest_cause_of_a_late_host_is_told_first() -> None:
    told = asks(late(launch_bound=100, pageable_copy=300, driver_lock=150, host_starved=50))

    assert (
        told == "a late host (driver-lock, launch-bound, host-starved) holds 30.0 % of the window"
    )


def test_of_several_devices_the_one_with_the_latest_host_is_told() -> None:
    of = late(host_starved=60)
    for cause, idle in (
        ("driver-lock", {"driver_lock": 500}),
        ("launch-bound", {"launch_bound": 500}),
    ):
        other = device(of.devices[0], 1, **idle)
        for devices in ((*of.devices, other), (other, *of.devices)):
            told = asks(replace(of, devices=devices))
            assert told == f"a late host ({cause}) holds 50.0 % of the window"


@pytest.mark.parametrize("process", [ABSENT, 0])
def test_a_recording_that_cannot_be_judged_asks_for_no_control(process: int) -> None:
    of = late(host_starved=500)
    problem = CaptureProblem(CaptureFault.EVENTS_LOST, process, "events were lost", "")

    assert asks(replace(of, problems=(problem,)), (FAIL, PASS)) is None
    of_another = replace(problem, process=7)
    assert asks(replace(of, problems=(of_another,)), (FAIL, PASS)) is not None


def test_a_control_can_time_nvtx_steps_alone() -> None:
    of = late(host_starved=500)
    (one,) = of.devices
    for source in WindowSource:
        window = replace(one.window, source=source)
        told = asks(replace(of, devices=(replace(one, window=window),)), (FAIL, PASS))
        assert (told is not None) is (source is WindowSource.NVTX_STEPS)


def test_where_the_own_pace_is_known_no_control_is_asked_for() -> None:
    of = late(host_starved=500)
    (one,) = of.devices

    assert asks(replace(of, devices=(replace(one, pace=PACE),)), (FAIL, PASS)) is None
    unknown = replace(PACE, own_ns=None)
    assert asks(replace(of, devices=(replace(one, pace=unknown),)), (FAIL, PASS)) is not None


def test_a_control_decides_no_check_of_a_device_that_it_cannot_time() -> None:
    """The first device's own pace is known; the second is hardly late."""
    of = late(host_starved=500)
    other = device(of.devices[0], 1, host_starved=10)
    known = replace(of.devices[0], pace=PACE)

    assert asks(replace(of, devices=(known, other)), (FAIL, PASS)) is None
    assert asks(replace(of, devices=(other, known)), (FAIL, PASS)) is not None
