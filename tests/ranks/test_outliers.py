"""Unusual ranks, and what is only noise."""

from __future__ import annotations

import numpy as np

from overlapcheck.ranks.outliers import outliers
from overlapcheck.report_result import RankRow
from overlapcheck.thresholds import with_values
from overlapcheck.verdict import Outcome


def row(
    label: str, *, step_ns: float = 1e6, idle: float = 0.1, cause: str = "host-sync"
) -> RankRow:
    return RankRow(
        report=f"rank_{label}.sqlite",
        pid=1,
        device=0,
        gpu="",
        outcome=Outcome.PASS,
        checks=(),
        window_ns=10_000_000,
        steps=10,
        step_median_ns=step_ns,
        compute_ns=int((1 - idle) * 10_000_000),
        idle_ns=int(idle * 10_000_000),
        communication_ns=0,
        communication_exposed_ns=0,
        recoverable=idle,
        overlap={},
        ledger={cause: int(idle * 10_000_000)},
        causes=(),
        collectives=(),
        label=label,
    )


def test_alike_ranks_have_no_outlier() -> None:
    random = np.random.default_rng(7)
    rows = [
        row(str(n), step_ns=1e6 + random.normal(0, 3e3), idle=0.1 + random.normal(0, 0.002))
        for n in range(200)
    ]

    assert outliers(rows) == ()


def test_one_slow_rank_of_many_is_named_with_the_median_beside_it() -> None:
    rows = [row(str(n)) for n in range(30)]
    rows[17] = row("17", step_ns=1.3e6)

    (found,) = outliers(rows)

    assert (found.rank, found.measure, found.value, found.median) == ("17", "step time", 1.3e6, 1e6)
    assert round(found.share, 6) == 0.3


def test_moved_thresholds_move_who_is_unusual() -> None:
    rows = [row(str(n)) for n in range(30)]
    rows[17] = row("17", step_ns=1.3e6)

    assert outliers(rows, with_values({"outlier-ranks-least": 31})) == ()
    assert outliers(rows, with_values({"outlier-step-share": 0.31})) == ()


def test_a_cause_that_one_rank_alone_has_comes_with_its_name() -> None:
    rows = [row(str(n)) for n in range(30)]
    rows[4] = row("4", idle=0.3, cause="pageable-copy")

    found = outliers(rows)

    assert {one.rank for one in found} == {"4"}
    assert found[0].measure == "idle: pageable-copy"


def test_better_than_the_others_is_nothing_to_report() -> None:
    rows = [row(str(n), idle=0.2) for n in range(30)]
    rows[4] = row("4", idle=0.01, step_ns=0.8e6)

    assert [one.measure for one in outliers(rows)] == ["compute per step"]


def test_three_ranks_are_too_few_to_call_one_unusual() -> None:
    assert outliers([row("0"), row("1"), row("2", step_ns=3e6)]) == ()
