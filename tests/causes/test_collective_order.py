"""What is said of ranks that begin the collectives of two communicators in different order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from overlapcheck.causes._base import Context
from overlapcheck.causes._facts_collectives import order
from overlapcheck.collectives import CollectiveKind
from overlapcheck.measurements import Measurements
from overlapcheck.rendezvous import Meeting
from tests.pictures import picture

STEPS = 4
DEVICES = picture("""
gpu0 s7 kernel k |.aa|
gpu1 s7 kernel k |.bb|
gpu2 s7 kernel k |.cc|
t1 cudaLaunchKernel |abc|
""").measure()


def meeting(
    members: tuple[int, int], kind: CollectiveKind, begin_us: tuple[int, int], waits_us: int = 0
) -> Meeting:
    """Once in each step, begun by both members at some time of it; the first of them waits."""
    step = np.arange(STEPS)
    start = np.array(begin_us)[:, None] * 1000 + step * 1_000_000
    none = np.zeros((2, STEPS), dtype=np.int64)
    waiting = none.copy()
    waiting[0] = waits_us * 1000
    return Meeting(
        members=members,
        row=none,
        kind=np.full(STEPS, kind),
        step=step,
        last=np.zeros(STEPS, dtype=bool),
        start_ns=start,
        waiting_ns=waiting,
        transfer_ns=none,
        exposed_waiting_ns=waiting,
        exposed_transfer_ns=none,
        latest=np.ones(STEPS, dtype=np.intp),
        end_spread_ns=0,
        bytes=np.full(STEPS, -1),
        communicator=-1,
        ranks=-1,
    )


def said(measured: Measurements) -> list[list[str]]:
    """Of each device."""
    return [order(Context(device.ledger, device, measured)) for device in measured.devices]


REDUCE, GATHER = CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_GATHER


def test_only_who_waits_for_the_other_order_is_told_of_it() -> None:
    """Devices 2 and 1 disagree at a higher price than 0 and 1, and only 2 and 0 wait for it."""
    meetings = (
        meeting((0, 1), REDUCE, (100, 300), waits_us=50),
        meeting((0, 1), GATHER, (200, 150)),
        meeting((2, 1), REDUCE, (600, 800), waits_us=90),
        meeting((2, 1), GATHER, (700, 650)),
    )
    zero, one, two = said(replace(DEVICES, meetings=meetings))

    assert zero == [
        "the order differs: this rank begins the all-reduce before the all-gather of another"
        " communicator, device 1 after it, in 4 of 4; 200.0 us of the waiting is in these"
    ]
    assert one == []
    assert [line.split("; ")[1] for line in two] == ["360.0 us of the waiting is in these"]


def test_who_waits_in_the_cheaper_of_two_is_told_of_that_one() -> None:
    meetings = (
        meeting((1, 0), REDUCE, (100, 300), waits_us=50),
        meeting((1, 0), GATHER, (200, 150)),
        meeting((2, 1), REDUCE, (600, 800), waits_us=90),
        meeting((2, 1), GATHER, (700, 650)),
    )
    (line,) = said(replace(DEVICES, meetings=meetings))[1]

    assert "begins the all-reduce before the all-gather" in line
    assert "device 0 after it" in line


def test_who_begins_the_other_first_is_told_so() -> None:
    meetings = (
        meeting((0, 1), REDUCE, (200, 150), waits_us=50),
        meeting((0, 1), GATHER, (100, 300)),
    )
    (line,) = said(replace(DEVICES, meetings=meetings))[0]

    assert "begins the all-gather before the all-reduce" in line


def test_the_same_order_is_nothing_to_tell() -> None:
    meetings = (
        meeting((0, 1), REDUCE, (100, 150), waits_us=50),
        meeting((0, 1), GATHER, (200, 300)),
    )
    assert said(replace(DEVICES, meetings=meetings)) == [[], [], []]
