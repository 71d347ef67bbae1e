"""How long operations only waited, for pages and for other ranks: one column is 1 us."""

from __future__ import annotations

import numpy as np
import pytest

from overlapcheck.collectives import Collectives
from overlapcheck.columns import ABSENT
from overlapcheck.order import Operations, Work
from overlapcheck.passes.replay.waited import waited_ns

COMPUTE, MIGRATION, SUM = Work.COMPUTE, Work.MIGRATION, Work.COMMUNICATION
Row = tuple[Work, int, int]


def operations(*rows: Row, **columns: list[int]) -> Operations:
    return Operations.filled(
        len(rows),
        work=[row[0] for row in rows],
        start_ns=[row[1] for row in rows],
        end_ns=[row[2] for row in rows],
        **({"device_id": [0] * len(rows)} | columns),
    )


def of_pages(*rows: Row, blocks: list[int] | None = None, **columns: list[int]) -> list[int]:
    ops = operations(*rows, **columns)
    counted = np.array(blocks or [1] * len(rows), dtype=np.int64)
    found: list[int] = waited_ns(ops, counted, Collectives.none()).tolist()
    return found


def test_without_pages_or_other_ranks_nothing_waits() -> None:
    assert of_pages() == []
    assert of_pages((COMPUTE, 0, 10), (SUM, 10, 20), (Work.H2D, 20, 30)) == [0, 0, 0]


def test_a_kernel_waits_while_pages_move_in_it() -> None:
    """All of them, each moment once, where no other run of it tells how long it takes."""
    rows = ((MIGRATION, 0, 15), (COMPUTE, 10, 30), (MIGRATION, 20, 24), (MIGRATION, 22, 25))

    assert of_pages(*rows) == [0, 10, 0, 0]


def test_of_one_that_also_runs_on_resident_pages_all_that_it_takes_longer() -> None:
    rows = (
        *((COMPUTE, 0, 10), (COMPUTE, 10, 30), (MIGRATION, 11, 12)),
        *((COMPUTE, 30, 42), (COMPUTE, 50, 66), (COMPUTE, 70, 78), (MIGRATION, 75, 77)),
    )

    # Resident it takes 12, the middle of 10, 12 and 16; the last one took less with its pages.
    assert of_pages(*rows) == [0, 8, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("other", ["name_id", "blocks", "device_id"])
def test_only_the_same_kernel_of_the_device_tells(other: str) -> None:
    rows = ((COMPUTE, 0, 10), (COMPUTE, 10, 30), (MIGRATION, 11, 12))
    unlike = {"name_id": [5, 5, 5], "blocks": [1, 1, 1], "device_id": [0, 0, 0]}

    assert of_pages(*rows, **unlike) == [0, 10, 0]
    assert of_pages(*rows, **(unlike | {other: [7, *unlike[other][1:]]})) == [0, 1, 0]


def test_pages_of_another_device_hold_no_kernel() -> None:
    rows = ((COMPUTE, 0, 10), (COMPUTE, 0, 10), (MIGRATION, 2, 5), (MIGRATION, 4, 9))

    assert of_pages(*rows, device_id=[0, 1, 0, 1]) == [3, 5, 0, 0]
    assert of_pages(*rows, device_id=[0, 1, 1, 1]) == [0, 7, 0, 0]


def test_two_kernels_each_lose_what_they_take_longer() -> None:
    rows = (
        *((COMPUTE, 0, 10), (COMPUTE, 10, 40), (MIGRATION, 11, 12)),
        *((COMPUTE, 50, 54), (COMPUTE, 60, 80), (MIGRATION, 61, 62)),
    )

    assert of_pages(*rows, name_id=[1, 1, ABSENT, 2, 2, ABSENT]) == [0, 20, 0, 0, 16, 0]


SUMS = ((SUM, 0, 50), (SUM, 60, 100), (SUM, 110, 130))


def of_ranks(*rows: Row, met: list[int], transfer: list[int], shift: int = 0) -> list[int]:
    """Collectives of the same times as the first rows."""
    same = operations(*rows, context_id=[1] * len(rows), stream_id=[7] * len(rows))
    count = len(met)
    collectives = Collectives.filled(
        count,
        start_ns=same.start_ns[:count] + shift,
        end_ns=same.end_ns[:count],
        context_id=1,
        stream_id=7,
        met=met,
        transfer_ns=transfer,
    )
    found: list[int] = waited_ns(same, np.ones(len(rows), dtype=np.int64), collectives).tolist()
    return found


def test_a_collective_waits_until_the_last_rank_has_come() -> None:
    assert of_ranks(*SUMS, met=[2, 2, 2], transfer=[20, 40, 25]) == [30, 0, 0]
    assert of_ranks(*SUMS, met=[1], transfer=[20]) == [30, 0, 0]


def test_those_that_met_nobody_wait_for_nobody_that_is_known() -> None:
    assert of_ranks(*SUMS, met=[0, 2, 2], transfer=[20, 10, ABSENT]) == [0, 30, 0]
    assert of_ranks(*SUMS, met=[0, 0, 0], transfer=[20, 10, 5]) == [0, 0, 0]


def test_it_is_known_by_its_times_and_kind() -> None:
    assert of_ranks(*SUMS, met=[2], transfer=[20], shift=1) == [0, 0, 0]
    assert of_ranks((COMPUTE, 0, 50), (SUM, 0, 50), met=[2], transfer=[20]) == [0, 30]
