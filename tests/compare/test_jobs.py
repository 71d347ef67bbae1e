"""Two jobs of many ranks: which rank got slower, and what the limit makes of the job."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overlapcheck.compare.either import compare_either
from overlapcheck.compare.fleet import Job, compare_fleets
from overlapcheck.compare.rank_rows import widening
from overlapcheck.comparison import Change, NotComparable
from overlapcheck.errors import ExitCode
from overlapcheck.fleet import FleetReport, MissingRanks
from overlapcheck.fleet_comparison import FleetComparison
from overlapcheck.pace import Pace, PaceSource
from overlapcheck.renderers.comparison.jobs._words import headline
from overlapcheck.report_result import LostReport
from overlapcheck.verdict import Check, Outcome
from tests.compare.jobs import WAITING, fleet, row, synchronised, without_spreads
from tests.compare.reports import MS, device, report

RANKS = 300


def compared(
    base: FleetReport, new: FleetReport, limit: float | None = None, *, force: bool = False
) -> FleetComparison:
    return compare_fleets(
        Job("before.json", base), Job("after.json", new), limit=limit, force=force
    )


@pytest.fixture(scope="module")
def one_late() -> FleetComparison:
    return compared(synchronised(RANKS), synchronised(RANKS, late=217), 0.05)


def test_of_300_ranks_the_one_that_the_others_wait_for_is_named_first(
    one_late: FleetComparison,
) -> None:
    assert headline(one_late) == (
        "rank 217 got slower: its own part of the step 8.0 ms -> 11.0 ms (compute +3.0 ms);"
        " 299 other ranks wait; step of the job 9.0 ms -> 12.0 ms: 3.0 ms per step lost (33.3 %);"
        " waiting for rank 217"
    )
    assert [one.rank for one in one_late.slower] == ["217"]
    assert one_late.ranks[0].rank == "217"
    assert one_late.change is Change.WORSE


def test_what_the_late_rank_does_comes_before_the_wait_for_it(one_late: FleetComparison) -> None:
    first, second = one_late.causes

    assert (first.cause, first.grew, first.labels) == ("compute", 1, ("217",))
    assert (second.cause, second.grew) == (WAITING, RANKS - 1)
    assert len(second.labels) < RANKS


def test_a_job_that_got_slower_fails_the_limit_once(one_late: FleetComparison) -> None:
    assert one_late.too_bad == ("step time is 33.3 % longer: 9.0 ms -> 12.0 ms (rank 217)",)
    assert (one_late.outcome, one_late.exit_code) == (Outcome.FAIL, ExitCode.FAIL)


def test_collectives_of_the_median_rank_tell_that_it_waits(one_late: FleetComparison) -> None:
    (all_reduce,) = one_late.collectives

    assert (all_reduce.kind, all_reduce.ranks, all_reduce.new_count) == ("all-reduce", RANKS, 4)
    assert all_reduce.exposed.base == MS
    assert all_reduce.exposed.new == 4 * MS
    assert all_reduce.exposed.change is Change.WORSE


def test_a_rank_that_nobody_waits_for_is_named_and_fails_though_the_job_is_as_fast() -> None:
    usual = [row(rank, compute_ms=10 if rank == 0 else 5) for rank in range(RANKS)]
    slower = [row(217, compute_ms=7) if one.label == "217" else one for one in usual]
    found = compared(fleet(usual), fleet(slower), 0.05)

    assert found.step_time is not None
    assert found.step_time.quantity.change is Change.NONE
    assert found.change is Change.WORSE
    assert headline(found).startswith("rank 217 got slower: its own part of the step 5.0 ms")
    assert found.too_bad == ("on rank 217: step time is 33.3 % longer: 6.0 ms -> 8.0 ms",)


def test_ranks_that_got_slower_together_are_not_told_one_by_one() -> None:
    found = compared(synchronised(RANKS), fleet([row(n, waiting_ms=4) for n in range(RANKS)]))

    assert headline(found) == (
        "step of the job 9.0 ms -> 12.0 ms: 3.0 ms per step lost (33.3 %); all 300 ranks got slower"
    )
    assert [one.cause for one in found.causes] == [WAITING]


def test_a_job_with_itself_is_no_change() -> None:
    one = synchronised(RANKS, late=3)
    found = compared(one, one, 0.0)

    assert (found.change, found.outcome, found.slower) == (Change.NONE, Outcome.PASS, ())
    assert headline(found) == "step of the job 12.0 ms on both sides"


def test_a_faster_job_is_better() -> None:
    found = compared(synchronised(8, late=3), synchronised(8), 0.0)

    assert (found.change, found.outcome) == (Change.BETTER, Outcome.PASS)
    assert headline(found).endswith("won (25.0 %); no longer waiting for rank 3")


def test_of_many_ranks_one_must_lie_further_out_to_count() -> None:
    """Noise of one rank is 2 standard errors; of 300 some always lie there."""
    # 1.253 * 1 ms / 1.645 / sqrt(20) on both sides: two standard errors are 0.48 ms.
    usual = [row(rank, beyond_ms=1.0) for rank in range(RANKS)]

    def with_one_longer(ms: float) -> FleetComparison:
        longer = [row(5, compute_ms=8 + ms, beyond_ms=1.0) if r.label == "5" else r for r in usual]
        return compared(fleet(usual), fleet(longer))

    alone = compared(fleet([usual[5]]), fleet([row(5, compute_ms=8.6, beyond_ms=1.0)]))
    assert [one.rank for one in alone.slower] == ["5"]
    assert with_one_longer(0.6).slower == ()
    assert [one.rank for one in with_one_longer(1.0).slower] == ["5"]
    assert widening(1) == pytest.approx(1)
    assert 1.8 < widening(RANKS) < 2


def test_noise_above_the_limit_is_inconclusive_as_of_one_report() -> None:
    noisy = [row(rank, beyond_ms=4.0) for rank in range(4)]
    found = compared(fleet(noisy), fleet(noisy), 0.05)

    assert (found.outcome, found.exit_code) == (Outcome.INCONCLUSIVE, ExitCode.INCONCLUSIVE)
    assert found.too_noisy[0] == "step time: cannot see 5 %: noise is 21 %"


def test_the_worst_rank_of_either_side_speaks_for_the_job() -> None:
    before = [row(0, overlap={"h2d": 0.9}), row(1, overlap={"h2d": 0.8}, recoverable=0.3)]
    after = [row(0, overlap={"h2d": 0.4}), row(1, overlap={"h2d": 0.8}, recoverable=0.3)]
    found = compared(fleet(before), fleet(after), 0.05)
    overlap = found.shares[1]

    assert (overlap.base_rank, overlap.new_rank) == ("1", "0")
    assert (overlap.quantity.base, overlap.quantity.new) == (0.8, 0.4)
    assert found.too_bad == ("overlap h2d is worse: 80.0 % -> 40.0 % (rank 0, was rank 1)",)


def test_ranks_are_paired_by_their_names_and_not_by_their_order() -> None:
    base = fleet([row(0), row(1, compute_ms=5)])
    found = compared(base, fleet([row(1, compute_ms=5), row(0)]))

    assert {one.change for one in found.ranks} == {Change.NONE}


def test_a_rank_without_a_partner_is_said_and_leaves_a_gate_open() -> None:
    lost = LostReport("rank_3.sqlite", "damaged", "copy it again")
    new = replace(fleet([row(n) for n in range(3)]), lost=(lost,), reports=4)
    found = compared(synchronised(4), new, 0.05)

    assert found.only_base == ("3",)
    assert found.too_noisy == ("1 rank has no partner",)
    assert found.exit_code is ExitCode.INCONCLUSIVE
    assert compared(synchronised(4), new).exit_code is ExitCode.PASS


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (synchronised(2), "4 ranks against 2"),
        (fleet([row(n, gpu="NVIDIA L4" if n == 2 else "NVIDIA H200") for n in range(4)]),
         "another GPU: NVIDIA H200 against NVIDIA L4 on rank 2"),
        (fleet([replace(row(n), steps=None, step_median_ns=None, per_step=None) for n in range(4)]),
         "no steps on the new side"),
        (fleet([replace(row(n), checks=(
            Check("capture", None, Outcome.INCONCLUSIVE, None, None, at_least=True, reason=""),
        ) if n == 1 else ()) for n in range(4)]), "rank 1: recording incomplete"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_says_so_unless_forced(new: FleetReport, said: str) -> None:
    with pytest.raises(NotComparable) as refused:
        compared(synchronised(4), new)

    assert said in refused.value.message
    assert said in compared(synchronised(4), new, force=True).objections


def test_a_missing_rank_counts_as_one_of_the_job() -> None:
    missing = MissingRanks(1, ("3",), "world size 4", "add it")
    found = compared(synchronised(4), replace(synchronised(3), missing=missing))

    assert found.objections == ()


def test_no_rank_on_both_sides_is_never_compared() -> None:
    with pytest.raises(NotComparable, match="no rank is on both sides: ranks 0, 1 against rank a"):
        compared(synchronised(2), fleet([row("a")]), force=True)


def test_a_job_is_not_compared_with_one_report() -> None:
    job = Job("fleet.json", synchronised(2))
    with pytest.raises(NotComparable) as refused:
        compare_either(job, report(device()))

    assert str(refused.value) == (
        "not comparable: fleet.json is a job of 2 ranks, a.sqlite is one report; compare two jobs"
        " (folders, or what analyze FOLDER -o FILE.json wrote), or two reports"
    )


def test_a_job_that_was_saved_without_spreads_is_held_against_the_least_noise() -> None:
    old = without_spreads(synchronised(4))
    found = compared(old, synchronised(4, late=1))

    assert headline(found).startswith("rank 1 got slower")
    assert "saved without spreads" in found.noise_rule
    assert compared(old, old).change is Change.NONE


def test_shares_are_compared_at_the_pace_that_both_sides_have() -> None:
    own = Pace(9 * MS, 8 * MS, 8 * MS, 8 * MS, PaceSource.CONTROL)
    recorded = row(0, recoverable=0.2)
    paced = replace(recorded, pace=own, own_window_ns=recorded.window_ns * 8 // 9, recoverable=0.1)
    found = compared(fleet([recorded]), fleet([paced]))

    assert found.shares[0].quantity.base == pytest.approx(0.2)
    assert found.shares[0].quantity.new == pytest.approx(0.2)
    assert found.step_time is not None
    assert found.step_time.quantity.name == "step time"
    assert compared(fleet([paced]), fleet([paced])).step_time.quantity.name == (  # type: ignore[union-attr]
        "step time at own pace"
    )
