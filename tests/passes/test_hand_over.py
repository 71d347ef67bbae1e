"""When operations got to the device: each kind's own delay, and what is held by something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from overlapcheck.columns import ABSENT_TIME
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger.hand_over import submit_times
from overlapcheck.thresholds import Thresholds


def submitted(
    start_ns: list[int],
    *,
    launch_end_ns: list[int] | None = None,
    done: list[bool] | None = None,
    **columns: Any,
) -> list[int]:
    """Of operations whose launches last 5 us, to 10 us."""
    count = len(start_ns)
    end = np.array(launch_end_ns or [10_000] * count)
    ops = Operations.filled(
        count,
        **{
            "start_ns": start_ns,
            "work": int(Work.COMPUTE),
            "launch_start_ns": end - 5_000,
            "launch_end_ns": end,
            **columns,
        },
    )
    returns = np.array(done or [False] * count)
    return submit_times(ops, returns, Thresholds()).tolist()


def test_an_operation_got_there_as_late_as_the_fastest_of_its_kind() -> None:
    """The fastest took 3 us; what took up to twice that was on its way as long."""
    assert submitted([13_000, 14_000, 16_000, 16_001, 90_000]) == [
        13_000, 13_000, 13_000, 10_000, 10_000,
    ]  # fmt: skip


def test_each_kind_has_its_own_delay() -> None:
    work = [int(Work.COMPUTE), int(Work.COMPUTE), int(Work.H2D), int(Work.H2D)]

    assert submitted([13_000, 15_000, 11_000, 12_500], work=work) == [
        13_000, 13_000, 11_000, 10_000,
    ]  # fmt: skip


def test_of_many_the_fastest_hundredth_may_be_wrong() -> None:
    """Of 101 the second counts: of a negative lag, by the clocks, nothing is said."""
    share = Thresholds().handing_over_share
    count = round(1 / share) + 1
    lags = [-500, *[4_000 + 10 * i for i in range(count - 1)]]
    found = submitted([10_000 + lag for lag in lags])

    assert found[0] == 9_500
    assert found[1:] == [14_000] * (count - 1)
    assert submitted([10_000 + lag for lag in lags[:-1]])[1:] == [10_000] * (count - 2)


@pytest.mark.parametrize(("lag", "delay"), [(1, 1), (20_000, 20_000), (20_001, 0), (0, 0)])
def test_what_took_longer_than_a_start_says_nothing(lag: int, delay: int) -> None:
    assert Thresholds().start_latency_ns == 20_000
    assert submitted([10_000 + lag]) == [10_000 + delay]


def test_nothing_is_handed_over_after_it_began() -> None:
    """Launched until 10 us, and begun at 8."""
    assert submitted([8_000]) == [8_000]
    assert submitted([13_000, 9_000], launch_end_ns=[10_000, 10_000])[1] == 9_000


def test_a_call_that_returns_when_all_is_done_hands_over_at_its_beginning() -> None:
    """It tells nothing of how long the others take."""
    assert submitted([11_000, 13_000], done=[True, False]) == [5_000, 13_000]
    assert submitted([11_000], done=[True]) == [5_000]


def test_what_nobody_saw_launched_was_handed_over_at_no_known_time() -> None:
    launched = {
        "launch_start_ns": [ABSENT_TIME, 5_000],
        "launch_end_ns": [ABSENT_TIME, 10_000],
    }
    assert submitted([11_000, 13_000], **launched) == [ABSENT_TIME, 13_000]
    assert submitted([11_000, 13_000], done=[True, False], **launched)[0] == ABSENT_TIME


def test_a_kind_of_which_no_launch_was_seen_leaves_the_others() -> None:
    launched = {"launch_start_ns": [ABSENT_TIME, 5_000], "work": [int(Work.COMPUTE), int(Work.H2D)]}

    assert submitted([11_000, 13_000], **launched) == [ABSENT_TIME, 13_000]
