"""What counts as a change, by hand-computed numbers."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from overlapcheck.compare.compare import compare
from overlapcheck.compare.noise import noise_ns, uncertainty_ns
from overlapcheck.comparison import Change, Comparison, NotComparable, Quantity, Unit
from overlapcheck.device_report import DeviceReport
from overlapcheck.errors import ExitCode
from overlapcheck.prediction import Bound, Win
from overlapcheck.renderers.comparison._words import cost
from tests.compare.reports import MS, device, report, spread


def compared(base: DeviceReport, new: DeviceReport, limit: float | None = None) -> Comparison:
    return compare(report(base), report(new, name="b"), limit=limit)


def quantities(comparison: Comparison) -> dict[str, Quantity]:
    (one,) = comparison.devices
    return {quantity.name: quantity for quantity in (*one.quantities, *one.ledger)}


def changes(comparison: Comparison) -> dict[str, Change]:
    return {name: quantity.change for name, quantity in quantities(comparison).items()}


# ---- noise


def test_the_uncertainty_of_a_median_shrinks_with_the_root_of_the_steps() -> None:
    # 1.645 ms above the median is a standard deviation of 1 ms.
    assert uncertainty_ns(spread(10, 1.645), 1) == pytest.approx(1.253 * MS)
    assert uncertainty_ns(spread(10, 1.645), 100) == pytest.approx(0.1253 * MS)


def test_both_sides_add_to_the_noise() -> None:
    base, new = device(beyond_ms=1.645, steps=16), device(beyond_ms=1.645, steps=16)
    assert base.steps and new.steps

    assert noise_ns(base.steps, new.steps, "step") == pytest.approx(2 * sqrt(2) * 1.253 * MS / 4)


def test_without_any_spread_one_percent_is_noise() -> None:
    assert changes(compared(device(step_ms=10), device(step_ms=10.09)))["step time"] is Change.NONE
    assert changes(compared(device(step_ms=10), device(step_ms=10.2)))["step time"] is Change.WORSE


def test_a_difference_within_the_spread_is_no_change() -> None:
    # Noise is 2 * 1.253 * hypot(1, 1) / 4 = 0.886 ms.
    def step(new_ms: float) -> Change:
        base = device(step_ms=10, beyond_ms=1.645)
        return changes(compared(base, device(step_ms=new_ms, beyond_ms=1.645)))["step time"]

    assert step(10.88) is Change.NONE
    assert step(10.89) is Change.WORSE
    assert step(9.12) is Change.NONE
    assert step(9.11) is Change.BETTER


def test_each_side_of_an_overlap_is_uncertain_by_its_own_copies() -> None:
    # 2 * 1.253 * (1 ms / 4) / 20 ms of copies = 3.1 points; the still side adds nothing.
    base = device(overlap={"h2d": 0.80}, copy_ms=20, exposed_beyond_ms=1.645)
    new = device(overlap={"h2d": 0.90}, copy_ms=2)
    overlap = quantities(compared(base, new))["overlap h2d"]

    assert overlap.noise == pytest.approx(0.0313, abs=1e-4)
    assert overlap.change is Change.BETTER


# ---- what changed


def test_the_same_on_both_sides_is_no_change() -> None:
    same = device(overlap={"h2d": 0.4}, ledger={"host-sync": 3.0}, beyond_ms=1.0)
    comparison = compared(same, same, limit=0.0)

    assert set(changes(comparison).values()) == {Change.NONE}
    assert comparison.change is Change.NONE
    assert comparison.exit_code is ExitCode.PASS
    assert (comparison.devices[0].gone, comparison.devices[0].new_causes) == ((), ())


def test_more_overlap_is_better_and_more_to_recover_is_worse() -> None:
    base = device(overlap={"h2d": 0.4, "d2h": 0.9}, recoverable=0.1)
    found = changes(compared(base, device(overlap={"h2d": 0.6, "d2h": 0.7}, recoverable=0.2)))

    assert found["overlap h2d"] is Change.BETTER
    assert found["overlap d2h"] is Change.WORSE
    assert found["recoverable"] is Change.WORSE


def test_copies_on_one_side_only_are_not_judged() -> None:
    overlap = quantities(compared(device(overlap={"h2d": 0.4}), device()))["overlap h2d"]

    assert (overlap.base, overlap.new, overlap.change) == (0.4, None, Change.UNKNOWN)
    assert overlap.difference is None


@pytest.mark.parametrize(
    ("base_ms", "new_ms", "judged"), [(0.49, 0.49, False), (0.5, 0.49, True), (0.49, 0.5, True)]
)
def test_a_direction_that_hardly_copies_on_either_side_is_not_judged(
    base_ms: float, new_ms: float, judged: bool
) -> None:
    # Of steps of 10 ms: no check of one recording asks for less than 5 % of the time.
    base = device(overlap={"d2h": 0.9}, copy_ms=base_ms, exposed_beyond_ms=1.0)
    comparison = compared(base, device(overlap={"d2h": 0.1}, copy_ms=new_ms), limit=0.05)
    overlap = quantities(comparison)["overlap d2h"]

    assert (overlap.base, overlap.new) == (0.9, 0.1)
    assert (overlap.change is not Change.UNKNOWN) is judged
    assert bool(overlap.too_noisy) is judged


def test_copies_of_unknown_length_are_judged() -> None:
    base, new = (device(overlap={"d2h": share}, copy_ms=0) for share in (0.9, 0.1))

    assert changes(compared(base, new))["overlap d2h"] is Change.WORSE


def test_a_cause_that_is_gone_and_a_new_one_are_named_with_their_cost() -> None:
    base = device(step_ms=10, ledger={"pageable-copy": 3.0, "device-copy": 0.1})
    new = device(step_ms=8, ledger={"host-sync": 1.0, "device-copy": 0.1})
    comparison = compared(base, new)
    (one,) = comparison.devices

    assert [(c.cause, c.per_step_ns) for c in one.gone] == [("pageable-copy", 3.0 * MS)]
    assert [(c.cause, c.per_step_ns) for c in one.new_causes] == [("host-sync", 1.0 * MS)]
    assert comparison.change is Change.BETTER
    assert [q.name for q in one.ledger] == ["pageable-copy", "host-sync", "device-copy"]
    assert sum(q.difference or 0 for q in one.ledger) == pytest.approx(-2.0 * MS)


def test_what_was_predicted_stands_beside_what_was_won() -> None:
    before = report(device(ledger={"pageable-copy": 3.0}, step_ms=10.0))
    bound = Bound("compute", 7 * MS)
    win = Win(round(2.8 * MS), 2 * MS, 3 * MS, bound, 0.28)
    before = replace(before, findings=(replace(before.findings[0], predicted=win),))
    after = report(device(ledger={}, step_ms=7.0))
    (gone,) = compare(before, after).devices[0].gone
    (new,) = compare(after, before).devices[0].new_causes

    assert cost(gone) == "3.0 ms per step; predicted to win 2.8 ms"
    assert cost(new) == "3.0 ms per step"


def test_a_cause_that_only_shrinks_is_not_gone() -> None:
    comparison = compared(
        device(ledger={"host-sync": 3.0}), device(step_ms=9, ledger={"host-sync": 1.0})
    )

    assert comparison.devices[0].gone == ()
    assert quantities(comparison)["host-sync"].change is Change.BETTER


def test_a_cause_that_falls_below_the_floor_within_noise_is_not_gone() -> None:
    # 2.1 % to 1.9 % of the step.
    comparison = compared(device(ledger={"host-sync": 0.21}), device(ledger={"host-sync": 0.19}))

    assert comparison.devices[0].gone == ()


# ---- failing


def test_a_longer_step_fails_beyond_the_limit_only() -> None:
    base, new = device(step_ms=10), device(step_ms=10.6)

    assert compared(base, new, limit=0.05).exit_code is ExitCode.FAIL
    assert compared(base, new, limit=0.05).too_bad == (
        "step time is 6.0 % longer: 10.0 ms -> 10.6 ms",
    )
    assert compared(base, new, limit=0.07).exit_code is ExitCode.PASS
    assert compared(base, new).exit_code is ExitCode.PASS


def test_a_longer_step_within_the_noise_never_fails() -> None:
    base = device(step_ms=10, beyond_ms=5)

    assert compared(base, device(step_ms=11, beyond_ms=5), limit=0.0).too_bad == ()


def test_a_worse_share_fails_unless_the_steps_got_faster() -> None:
    base = device(step_ms=10, overlap={"h2d": 0.9})

    worse = compared(base, device(step_ms=10, overlap={"h2d": 0.7}), limit=0.1)
    assert worse.too_bad == ("overlap h2d is worse: 90.0 % -> 70.0 %",)
    assert compared(base, device(step_ms=8, overlap={"h2d": 0.7}), limit=0.1).too_bad == ()
    assert compared(base, device(step_ms=10, overlap={"h2d": 0.85}), limit=0.1).too_bad == ()


# ---- several devices


def test_devices_are_paired_by_number_and_rank() -> None:
    base = report(device(pid=30, number=1, step_ms=20), device(pid=20, number=0, step_ms=10))
    new = report(device(pid=99, number=0, step_ms=10), device(pid=98, number=1, step_ms=25))
    comparison = compare(base, new, limit=0.1)

    assert [(d.device, d.change) for d in comparison.devices] == [
        (0, Change.NONE),
        (1, Change.WORSE),
    ]
    assert comparison.change is Change.WORSE
    assert comparison.too_bad == ("step time is 25.0 % longer on device 1: 20.0 ms -> 25.0 ms",)


# ---- what is not comparable


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (device(gpu="NVIDIA L4"), "another GPU: NVIDIA H200 against NVIDIA L4"),
        (device(family="batch #"), "other steps: 'step #' against 'batch #'"),
        (device(family=None), "other steps: 'step #' against repeating kernels"),
        (device(step_ms=None), "no steps on the new side"),
        (device(opaque_ms=1), "graph launches of unknown content on the new side only"),
    ],
)
def test_what_is_not_comparable_is_refused_unless_told(new: DeviceReport, why: str) -> None:
    with pytest.raises(NotComparable) as caught:
        compared(device(), new)

    assert caught.value.exit_code == 3
    assert str(caught.value) == f"not comparable: {why}; to compare all the same: --force"
    assert compare(report(device()), report(new), force=True).objections == (why,)


def test_no_steps_on_either_side_is_refused() -> None:
    with pytest.raises(NotComparable, match="no steps on either side"):
        compared(device(step_ms=None), device(step_ms=None))


def test_an_incomplete_recording_is_refused() -> None:
    with pytest.raises(NotComparable, match=r"the recording a\.sqlite is incomplete"):
        compare(report(device(), problems=("events were lost",)), report(device()))


def test_another_number_of_devices_is_refused() -> None:
    with pytest.raises(NotComparable, match="1 device against 2 devices"):
        compare(report(device()), report(device(), device(number=1)))


def test_nothing_is_never_compared_even_if_told() -> None:
    with pytest.raises(NotComparable, match="nothing to compare on the new side: no kernel"):
        compare(report(device()), report(problems=("no kernel was recorded",)), force=True)


def test_without_steps_the_window_is_compared_by_shares() -> None:
    base = device(step_ms=None, ledger={"host-sync": 1.0})
    comparison = compare(report(base), report(device(step_ms=None)), force=True)
    (one,) = comparison.devices

    assert one.step_time is None
    assert one.ledger == (Quantity("host-sync", Unit.SHARE, 0.1, 0.0, 0.01, Change.BETTER),)
    assert comparison.noise_rule.startswith("without steps")


# ---- sums


def test_compute_and_the_causes_add_up_to_the_whole() -> None:
    base = device(step_ms=10, ledger={"host-sync": 3.0, "device-copy": 0.5})
    new = device(step_ms=8, ledger={"host-sync": 1.0}, steps=12)
    (one,) = compared(base, new).devices

    for side in ("base", "new"):
        parts = [getattr(quantity, side) for quantity in (one.compute, *one.ledger)]
        assert sum(parts) == pytest.approx(getattr(one.whole, side))
    assert (one.compute.base, one.compute.new) == (6.5 * MS, 7 * MS)
    assert (one.whole.base, one.whole.new) == (10 * MS, 8 * MS)
    assert (one.compute.change, one.whole.change) == (Change.WORSE, Change.BETTER)


def test_without_steps_the_parts_are_shares_of_one() -> None:
    base = device(step_ms=None, ledger={"host-sync": 3.0})
    new = device(step_ms=None, ledger={"host-sync": 1.0})
    (one,) = compare(report(base), report(new), force=True).devices

    assert one.whole.unit is Unit.SHARE
    assert (one.compute.base, one.compute.new) == (0.7, 0.9)
    assert (one.whole.base, one.whole.new) == (1.0, 1.0)


# ---- noise above the limit


def test_a_limit_below_the_noise_is_inconclusive_and_says_so() -> None:
    # Noise is 2 * 1.253 * hypot(5, 5) / 1.645 / 4 = 2.69 ms, 27 % of the step, and as much of its
    # idle time.
    noisy = device(step_ms=10, beyond_ms=5.0)
    comparison = compared(noisy, noisy, limit=0.05)

    assert comparison.exit_code is ExitCode.INCONCLUSIVE
    assert comparison.clauses == (
        "step time: cannot see 5 %: noise is 27 %",
        "recoverable: cannot see 5 points: noise is 27 points",
    )
    assert compared(noisy, noisy, limit=0.3).exit_code is ExitCode.PASS
    assert compared(noisy, noisy).exit_code is ExitCode.PASS


def test_the_least_noise_hides_nothing_that_anybody_asked_for() -> None:
    steady = device(step_ms=10)

    assert compared(steady, steady, limit=0.001).exit_code is ExitCode.PASS


def test_what_is_seen_to_be_worse_fails_however_noisy_the_rest_is() -> None:
    noisy = device(step_ms=10, overlap={"h2d": 0.9}, exposed_beyond_ms=8.0)
    comparison = compared(noisy, device(step_ms=12, overlap={"h2d": 0.9}), limit=0.05)

    assert any("overlap h2d: cannot see" in clause for clause in comparison.too_noisy)
    assert comparison.exit_code is ExitCode.FAIL
    assert comparison.clauses == comparison.too_bad


def test_what_got_better_is_seen() -> None:
    comparison = compared(device(step_ms=20, beyond_ms=5), device(step_ms=10), limit=0.05)

    assert comparison.exit_code is ExitCode.PASS
