"""Which ranks met, on clocks that agree or do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from overlapcheck import rendezvous
from overlapcheck.collective_speed import meeting_speeds
from overlapcheck.collectives import CollectiveKind
from overlapcheck.columns import ABSENT
from overlapcheck.intervals import Intervals
from overlapcheck.rendezvous import Attendance, Meeting, Member
from overlapcheck.thresholds import USUAL

PERIOD = 1_000_000
TRANSFER = 100_000


def meetings(members: Sequence[Member]) -> tuple[Meeting, ...]:
    return rendezvous.meetings(members, USUAL)


def member(
    late_ns: int,
    *,
    clock_ns: int = 0,
    said_ns: int | None = None,
    host: int = 0,
    count: int = 8,
    stepped: bool = True,
    first_step: int = 0,
    size: int = ABSENT,
    communicator: int = ABSENT,
    ranks: int = ABSENT,
) -> Member:
    """A rank that enters each collective some time after the period's half, and leaves with all.

    Args:
        late_ns: after the half of the period.
        clock_ns: UTC of the rank's time 0.
        said_ns: what its report says about that; None for the truth.
        host: of its clock.
        count: collectives.
        stepped: whether they have steps.
        first_step: the first that it recorded.
        size: bytes of each message.
        communicator: that they belong to.
        ranks: of the communicator.
    """
    numbers = np.arange(first_step, count, dtype=np.int64)
    start = numbers * PERIOD + PERIOD // 2 + late_ns - clock_ns
    end = numbers * PERIOD + PERIOD // 2 + 300_000 + TRANSFER - clock_ns
    zero = np.zeros_like(numbers)
    return Member(
        host=(host,),
        offset_ns=clock_ns if said_ns is None else said_ns,
        attendance=Attendance(
            start_ns=start,
            end_ns=end,
            kind=np.full_like(numbers, CollectiveKind.ALL_REDUCE),
            step=numbers if stepped else zero - 1,
            order=zero if stepped else numbers - first_step,
            last=np.ones(numbers.shape, dtype=bool),
            bytes=np.full_like(numbers, size),
        ),
        exposed=Intervals.of(start, end),
        communicator=communicator,
        ranks=ranks,
    )


def test_clocks_of_one_host_are_aligned_by_utc() -> None:
    (found,) = meetings([member(0, clock_ns=5_000), member(300_000, clock_ns=-777_000)])

    assert found.members == (0, 1)
    assert found.waiting_ns.tolist() == [[300_000] * 8, [0] * 8]
    assert found.transfer_ns.tolist() == [[TRANSFER] * 8] * 2
    assert found.exposed_waiting_ns.tolist() == found.waiting_ns.tolist()


def test_ranks_of_different_hosts_are_never_compared() -> None:
    assert meetings([member(0), member(300_000, host=1)]) == ()


def test_a_wrong_clock_is_noticed_by_ends_that_lie_apart() -> None:
    assert meetings([member(0), member(300_000, clock_ns=1_000, said_ns=400_000)]) == ()


def test_only_steps_that_both_recorded_are_compared() -> None:
    (found,) = meetings([member(0), member(300_000, first_step=3)])

    assert found.occasions == 5
    assert found.row.tolist() == [[3, 4, 5, 6, 7], [0, 1, 2, 3, 4]]


def test_without_steps_the_position_in_the_trace_counts() -> None:
    (found,) = meetings([member(0, stepped=False), member(100_000, stepped=False)])

    assert found.waiting_ns[0].tolist() == [100_000] * 8


def test_without_steps_traces_that_begin_apart_are_not_compared() -> None:
    assert meetings([member(0, stepped=False), member(0, stepped=False, first_step=2)]) == ()


def test_two_collectives_prove_nothing() -> None:
    assert meetings([member(0, count=2), member(0, count=2)]) == ()


def test_members_of_many_communicators_find_their_own() -> None:
    shifted = [member(0), member(50_000, clock_ns=2_000)]
    other = [member(late, clock_ns=9_000, said_ns=9_000 + 40_000_000) for late in (0, 70_000)]

    found = meetings([shifted[0], other[0], shifted[1], other[1]])

    assert [meeting.members for meeting in found] == [(0, 2), (1, 3)]
    assert [int(meeting.latest[0]) for meeting in found] == [1, 1]


def test_nobody_is_nothing() -> None:
    assert meetings([]) == ()


# ---- communicators and sizes


def test_communicators_with_different_ids_do_not_meet_however_alike_their_times() -> None:
    assert meetings([member(0, communicator=5), member(0, communicator=6)]) == ()
    assert len(meetings([member(0, communicator=5), member(0, communicator=5)])) == 1


def test_the_speed_of_a_meeting_counts_from_its_last_member() -> None:
    (found,) = meetings([member(0, size=1_000_000), member(300_000, size=1_000_000)])

    assert found.operation_ns.tolist() == [TRANSFER] * 8
    (speed,) = meeting_speeds(found)
    # 1 MB in 100 us, times 2 (2 - 1) / 2.
    assert (speed.count, speed.bus_gbs, speed.ranks) == (8, 10.0, 2)
    assert not speed.waits_included


def test_ranks_that_nccl_counts_and_nobody_recorded_may_come_later() -> None:
    (found,) = meetings([member(0, size=1_000_000, ranks=4), member(0, size=1_000_000, ranks=4)])

    (speed,) = meeting_speeds(found)
    assert (speed.ranks, speed.waits_included) == (4, True)


def test_sizes_that_differ_between_members_are_none() -> None:
    (found,) = meetings([member(0, size=1_000), member(0, size=2_000)])

    assert found.bytes.tolist() == [ABSENT] * 8
    assert meeting_speeds(found) == ()
