"""Which idle time a late host explains, on a ledger of a few pieces. Times in ns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from overlapcheck.columns import ABSENT
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import IdleLedger, Reason
from overlapcheck.passes.pace.late_host import LateHost, Lateness, late_host, waiting_for_others
from tests.paces import MS
from tests.pictures import picture

ALONE, FOLLOWS, RECORDER = Lateness.ALONE, Lateness.FOLLOWS, Lateness.RECORDER
Piece = tuple[int, int, Lateness]


def found(
    *pieces: tuple[int, int, Reason],
    call: tuple[int, int] = (ABSENT, ABSENT),
    waiting: Intervals | None = None,
) -> list[Piece]:
    """Start, end and lateness of what is found; `call` is the start and end of all pieces' call."""
    ledger = IdleLedger.filled(
        len(pieces),
        start_ns=[piece[0] for piece in pieces],
        end_ns=[piece[1] for piece in pieces],
        reason=[piece[2] for piece in pieces],
        call_start_ns=call[0],
        call_ns=ABSENT if call[0] == ABSENT else call[1] - call[0],
    )
    device = replace(picture("s7 kernel k |aaaa|").device(), ledger=ledger)
    late = late_host(device, waiting or Intervals.empty())
    columns = (late.start_ns.tolist(), late.end_ns.tolist(), late.lateness.tolist())
    return [(start, end, Lateness(sure)) for start, end, sure in zip(*columns, strict=True)]


@pytest.mark.parametrize(
    ("reason", "lateness"),
    [
        *((Reason.LAUNCH_BOUND, ALONE), (Reason.HOST_STARVED, ALONE), (Reason.GRAPH_LAUNCH, ALONE)),
        *((Reason.DRIVER_LOCK, ALONE), (Reason.PROFILER_OVERHEAD, RECORDER)),
    ],
)
def test_what_only_a_late_host_explains_is_late_whole(reason: Reason, lateness: Lateness) -> None:
    assert found((10, 30, reason)) == [(10, 30, lateness)]
    assert found((10, 30, reason), call=(0, 20)) == [(10, 30, lateness)]


@pytest.mark.parametrize(
    ("returned", "late"),
    [(5, [(10, 30, FOLLOWS)]), (20, [(20, 30, FOLLOWS)]), (29, [(29, 30, FOLLOWS)]), (30, []),
     (40, [])],
)  # fmt: skip
@pytest.mark.parametrize(
    "reason", [Reason.HOST_SYNC, Reason.ALLOCATION, Reason.MODULE_LOAD, Reason.CUDA_CALL]
)
def test_after_a_call_that_held_the_thread_the_restart_is_late(
    reason: Reason, returned: int, late: list[Piece]
) -> None:
    assert found((10, 30, reason), call=(0, returned)) == late


def test_without_the_call_nothing_tells_when_the_restart_began() -> None:
    assert found((10, 30, Reason.HOST_SYNC)) == []


def test_after_a_call_that_is_no_cause_nothing_is_a_restart() -> None:
    assert found((10, 30, Reason.PAGEABLE_COPY), call=(0, 20)) == []
    assert found((10, 30, Reason.EXPOSED_COLLECTIVE), call=(0, 20)) == []


def test_an_exposed_collective_is_late_as_far_as_it_waits_for_another_device() -> None:
    waiting = Intervals.of([0, 25, 50], [5, 35, 60])

    assert found((10, 30, Reason.EXPOSED_COLLECTIVE), waiting=waiting) == [(25, 30, FOLLOWS)]
    assert found((10, 20, Reason.EXPOSED_COLLECTIVE), waiting=waiting) == []
    assert found((10, 30, Reason.EXPOSED_COLLECTIVE)) == []
    assert found((10, 30, Reason.PAGEABLE_COPY), waiting=waiting) == []


def test_pieces_come_in_order_of_time_whatever_makes_them_late() -> None:
    assert found(
        (10, 20, Reason.HOST_SYNC),
        (30, 40, Reason.HOST_STARVED),
        (50, 60, Reason.EXPOSED_COLLECTIVE),
        (70, 80, Reason.PROFILER_OVERHEAD),
        call=(0, 15),
        waiting=Intervals.of([50], [55]),
    ) == [(15, 20, FOLLOWS), (30, 40, ALONE), (50, 55, FOLLOWS), (70, 80, RECORDER)]


def test_what_follows_from_lateness_is_not_its_alone() -> None:
    late = LateHost(
        np.array([0, 20, 40]), np.array([10, 30, 50]), np.array([RECORDER, FOLLOWS, ALONE])
    )

    assert list(late.alone) == [(0, 10), (40, 50)]
    assert list(late.time) == [(0, 10), (20, 30), (40, 50)]


def test_a_single_piece_gives_what_is_asked_and_none_gives_nothing() -> None:
    one = LateHost(np.array([10]), np.array([30]), np.array([ALONE]))
    nothing = np.empty(0, dtype=np.int64)
    none = LateHost(nothing, nothing, nothing.astype(np.int8))

    assert [list(one.share_of(share)) for share in (0, 1, 20, 21)] == [
        [], [(29, 30)], [(10, 30)], [(10, 30)]
    ]  # fmt: skip
    assert not none.share_of(5)


RANKS = """
p1 gpu0 s7  kernel fwd                   |.aaa............|
p1 gpu0 s20 kernel ncclDevKernel_AllReduce |....bbbbbbbbbb..|
p1 t1   cudaLaunchKernel                 |a...............|
p1 t1   cuLaunchKernelEx                 |.b..............|
p1 t1   nvtx step                        |0000000000000000|
p2 gpu1 s7  kernel fwd                   |.........ddd....|
p2 gpu1 s20 kernel ncclDevKernel_AllReduce |............ee..|
p2 t1   cudaLaunchKernel                 |........d.......|
p2 t1   cuLaunchKernelEx                 |.........e......|
p2 t1   nvtx step                        |0000000000000000|
"""


def test_a_device_waits_in_a_collective_until_the_last_one_comes() -> None:
    measured = picture(RANKS, column_us=1000, repeat=8).measure(skip=1)

    assert list(waiting_for_others(measured, 0)) == [
        ((16 * step + 4) * MS, (16 * step + 12) * MS) for step in range(1, 8)
    ]
    assert not waiting_for_others(measured, 1)
