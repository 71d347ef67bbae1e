"""Lines about copies, collectives and whole devices, word for word, from rows made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from overlapcheck.causes import (
    _facts_collectives,
    _facts_device,
    _facts_queue,
    _facts_work,
    causes,
)
from overlapcheck.causes._base import Context
from overlapcheck.collective_speed import CollectiveSpeed
from overlapcheck.collectives import CollectiveKind, Collectives
from overlapcheck.copies import CopyOverlap, Direction
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import DeviceKey
from overlapcheck.ledger import IdleLedger
from overlapcheck.measurements import Contention
from overlapcheck.order import Edges, Operations, Order, Relation, Work
from overlapcheck.rendezvous import Meeting
from overlapcheck.trace import Strings
from tests.pictures import picture

MEASURED = picture("s7 kernel k |a.b.|\nt1 cudaLaunchKernel |ab..|").measure()
NONE = Intervals.empty()
REDUCE, GATHER = int(CollectiveKind.ALL_REDUCE), int(CollectiveKind.ALL_GATHER)


def context(rows: int = 0, *, device: dict[str, Any] | None = None, **columns: Any) -> Context:
    """Of ledger rows of 10 us each, from 0 on, in a window of 100 us in which nothing runs."""
    (drawn,) = MEASURED.devices
    window = replace(drawn.window, start_ns=0, end_ns=100_000)
    nothing = {"compute": NONE, "communication": NONE, "copies": {}, "streams": ()}
    made = replace(drawn, window=window, **nothing | (device or {}))
    names = replace(MEASURED.names, strings=Strings({4: "fwd", 5: "bwd"}))
    start = 10_000 * np.arange(rows)
    ledger = IdleLedger.filled(rows, **{"start_ns": start, "end_ns": start + 10_000} | columns)
    return Context(ledger, made, replace(MEASURED, devices=(made,), names=names))


@pytest.mark.parametrize(
    ("relation", "streams", "line"),
    [
        (Relation.STREAM, (7, 7), "copies and kernels share stream 7, which runs them in order"),
        (
            Relation.STREAM,
            (7, 9),
            "stream 9 runs its copies in order: these queued behind others of it",
        ),
        (
            Relation.EVENT,
            (7, 9),
            "stream 9 waits for an event recorded behind kernels, and stream 7 for the copy",
        ),
        (
            Relation.NULL_STREAM,
            (7, 9),
            "one of streams 9 and 7 is the legacy null stream, the other a blocking one: neither"
            " runs beside the other",
        ),
        (
            Relation.GRAPH,
            (7, 9),
            "stream 9 waits for kernels, and stream 7 for the copy, by the order of its graph",
        ),
        (Relation.ENGINE, (7, 9), "copies of stream 9 queue behind another stream's copies"),
        (Relation.HOST, (7, 9), None),
        (Relation.NONE, (7, 9), None),
    ],
)
def test_each_relation_has_its_words(
    relation: Relation, streams: tuple[int, int], line: str | None
) -> None:
    kernels, copies = streams
    rows = context(
        2,
        work=int(Work.H2D),
        relation=int(relation),
        kernel_stream_id=kernels,
        work_stream_id=copies,
    )
    assert _facts_work.relations(rows) == ([line] if line else [])
    assert _facts_work.relations(context(2, work=int(Work.COMMUNICATION))) == []


@pytest.mark.parametrize(
    ("relation", "unproven"),
    [(Relation.EVENT, "event rows prove the wait"), (Relation.GRAPH, "rows hold its edges")],
)
@pytest.mark.parametrize(
    ("inferred", "told"), [([True, False], False), ([True, True, False], True), ([False], False)]
)
def test_what_is_mostly_inferred_is_told_so(
    relation: Relation, unproven: str, inferred: list[bool], told: bool
) -> None:
    rows = context(len(inferred), work=int(Work.H2D), relation=int(relation), inferred=inferred)
    lines = _facts_work.relations(rows)

    assert lines[1:] == ([f"inferred from adjacent times: no {unproven}"] if told else [])


def test_only_what_was_waited_for_on_other_devices_is_told() -> None:
    """Operation 5 waits for 0 and 1 of device 1, for 2 of device 2, by its host for 3 of device 3,
    and for 4 of its own; 6, which is not waited for, for 7 of device 4."""
    ops = Operations.filled(
        8, device_id=[1, 1, 2, 3, 0, 0, 0, 4], stream_id=[8, 8, 9, 10, 7, 7, 7, 11]
    )
    relation = [2, 2, 2, int(Relation.HOST), 1, 2]
    edges = Edges.filled(6, before=[0, 1, 2, 3, 4, 7], after=[5, 5, 5, 5, 5, 6], relation=relation)
    order = Order(ops, edges, np.full(8, -1, dtype=np.int32))
    waits = [
        "device 0 waits for work of device 1 (stream 8)",
        "device 0 waits for work of device 2 (stream 9)",
    ]

    def told(*operation: int, order: Order = order) -> list[str]:
        rows = context(len(operation), device={"order": order}, operation=operation)
        return _facts_work.other_devices(rows)

    assert told(5, -1) == waits
    assert told(-1) == []
    alone = Order(replace(ops, device_id=np.zeros(8, dtype=np.int64)), edges, order.run_begin)
    assert told(5, order=alone) == []


def test_work_within_the_device_is_told_by_kind() -> None:
    """Two rows of one memset, one of another, and one of a copy."""
    rows = context(
        5,
        work=[int(Work.MEMSET)] * 3 + [int(Work.D2D), int(Work.H2D)],
        operation=[1, 1, 2, 3, 4],
        work_stream_id=[7, 7, 7, 8, 9],
        work_bytes=[1024, 1024, 1024, 4096, 5],
    )
    assert _facts_work.device_work(rows) == [
        "2 memsets of 1.0 KiB on stream 7, 30.0 us between kernels",
        "1 d2d copy of 4.0 KiB on stream 8, 10.0 us between kernels",
    ]


def test_collectives_that_were_waited_for_are_told_by_name() -> None:
    rows = context(
        4,
        work=[int(Work.COMMUNICATION)] * 3 + [int(Work.H2D)],
        operation=[1, 1, 2, 3],
        work_name_id=[5, 5, 4, 4],
        work_stream_id=20,
        work_ns=[30_000, 30_000, 12_000, 5],
    )
    assert _facts_work.collectives(rows) == [
        "1 x bwd on stream 20, 30.0 us each, 20.0 us exposed",
        "1 x fwd on stream 20, 12.0 us each, 10.0 us exposed",
    ]


def copies(direction: Direction, copy_us: int, compute_us: int = 0) -> dict[Direction, CopyOverlap]:
    busy = Intervals.span(0, copy_us * 1000)
    made = CopyOverlap(direction, 1, 1 << 20, 0, busy, NONE, NONE, busy, compute_us * 1000)
    return {direction: made}


def test_each_direction_that_is_busy_half_of_the_time_is_told() -> None:
    many = copies(Direction.H2D, 49) | copies(Direction.D2H, 50) | copies(Direction.D2D, 99)
    rows = context(device={"copies": many | copies(Direction.P2P, 60)})

    assert _facts_device.link_use(rows) == [
        "d2h copies run in 50.0 % of the window: 1.0 MiB at 21.0 GB/s",
        "p2p copies run in 60.0 % of the window: 1.0 MiB at 17.5 GB/s",
    ]


@pytest.mark.parametrize(("copy_us", "one", "told"), [(50, True, 1), (49, True, 0), (50, False, 0)])
def test_one_engine_is_told_where_it_is_busy_half_of_the_time(
    copy_us: int, one: bool, told: int
) -> None:
    rows = context(device={"copies": copies(Direction.H2D, copy_us), "one_copy_engine": one})

    assert (
        _facts_device.link_use(rows)[:told]
        == [
            "the device has one copy engine: copies in and out take turns on it, and fill 50.0 % of"
            " the window"
        ]
        * told
    )
    assert sum("engine" in line for line in _facts_device.link_use(rows)) == told


def test_a_ceiling_is_one_of_copies_over_the_link() -> None:
    short = copies(Direction.H2D, 50, 10) | copies(Direction.D2D, 50, 10)
    full = copies(Direction.D2H, 50, 50)
    rows = context(device={"copies": short | full, "compute": Intervals.span(0, 10_000)})

    assert _facts_device.ceilings(rows) == [
        "compute runs in 10.0 % of it: 0.0 % of the h2d copy time is hidden, at most 20.0 % can be"
    ]


def collectives(count: int, **columns: Any) -> Collectives:
    return Collectives.filled(count, **{"kind": REDUCE, "stream_id": 20, **columns})


def test_the_stream_of_which_most_is_exposed_is_told() -> None:
    made = collectives(
        4,
        stream_id=[7, 7, 8, 9],
        exposed_ns=[1_000, 1_000, 5_000, 6_000],
        kind=[GATHER, REDUCE, GATHER, REDUCE],
        on_compute_stream=[True, True, True, False],
    )
    assert _facts_collectives.placement(context(device={"collectives": made})) == [
        "on the compute stream: all-gather and all-reduce and kernels share stream 8, which runs"
        " them in order (7.0 us exposed)"
    ]


@pytest.mark.parametrize(("exposed", "told"), [(8_000, True), (8_001, False)])
def test_the_last_bucket_is_told_where_it_is_half_of_what_is_exposed(
    exposed: int, told: bool
) -> None:
    """One more is the last, but on a stream that computes."""
    made = collectives(
        3,
        exposed_ns=[8_000, exposed - 3_000, 3_000],
        last=[True, False, True],
        on_compute_stream=[False, False, True],
    )
    line = (
        "the last bucket: the last all-reduce of each step is 8.0 us (50.0 %) of the exposed time"
    )
    found = _facts_collectives.last_of_steps(context(device={"collectives": made}))

    assert found == ([line] if told else [])


def meeting(
    members: tuple[int, ...],
    latest: Sequence[int],
    waiting: Sequence[int],
    moving: Sequence[int],
    size: int = -1,
) -> Meeting:
    """What each occasion costs its first member, ns."""
    shape = (len(members), len(latest))
    none = np.zeros(shape, dtype=np.int64)
    waits, moves = none.copy(), none.copy()
    waits[0], moves[0] = waiting, moving
    return Meeting(
        members=members,
        row=none,
        kind=np.array([REDUCE, *[GATHER] * (len(latest) - 1)]),
        step=np.arange(len(latest)),
        last=np.zeros(len(latest), dtype=bool),
        start_ns=none,
        waiting_ns=none,
        transfer_ns=none + 100_000,
        exposed_waiting_ns=waits,
        exposed_transfer_ns=moves,
        latest=np.array(latest),
        end_spread_ns=0,
        bytes=np.full(len(latest), size),
        communicator=-1,
        ranks=-1,
    )


def waiting(*meetings: Meeting, me: int = 0) -> list[str]:
    """Of one of three devices."""
    rows = context()
    devices = tuple(replace(rows.device, key=DeviceKey(1000, number)) for number in range(3))
    measured = replace(rows.measured, devices=devices, meetings=meetings)
    return _facts_collectives.waiting(Context(rows.rows, devices[me], measured))


def test_all_meetings_of_a_device_are_told() -> None:
    one = meeting((0, 1), [1, 0, 1], [2_000, 0, 3_000], [1_000, 1_000, 1_000])
    other = meeting((0, 2), [1], [7_000], [500])

    assert waiting(one, meeting((2, 1), [1], [9_000], [0]), other) == [
        "of 8.0 us exposed in 3 collectives met by 2 ranks, 5.0 us wait for a rank that comes later"
        " and 3.0 us move data",
        "device 1 comes last in 2 of 3: 5.0 us of the waiting",
        "of 7.5 us exposed in 1 collectives met by 2 ranks, 7.0 us wait for a rank that comes later"
        " and 500 ns move data",
        "device 2 comes last in 1 of 1: 7.0 us of the waiting",
    ]
    assert waiting(one, me=2) == []


def test_who_made_most_of_the_waiting_comes_last() -> None:
    """Device 1 comes last more often, device 2 later."""
    late = meeting((0, 1, 2), [1, 1, 2], [1_000, 1_000, 9_000], [0, 0, 0])

    assert waiting(late)[1] == "device 2 comes last in 1 of 3: 9.0 us of the waiting"


def test_who_waits_for_nobody_is_told_so_where_anything_is_exposed() -> None:
    first = meeting((0, 1), [0, 1, 0], [0, 0, 0], [0, 1, 0])

    assert waiting(first) == [
        "none of it waits for another rank: this one comes last in 2 of 3 collectives, and the"
        " others wait for it"
    ]
    assert waiting(meeting((0, 1), [0], [0], [0])) == []
    assert len(waiting(meeting((0, 1), [1], [4_000], [4_000]))) == 2
    assert waiting(meeting((0, 1), [1], [1], [0]))[0].startswith("of 1 ns exposed")


def test_the_kind_that_takes_most_time_tells_the_speed_of_a_meeting() -> None:
    """1 MB in 100 us; of all-gathers each of two ranks gives as much."""
    (said, _) = waiting(meeting((0, 1), [1, 1, 1], [9_000, 0, 0], [1_000, 0, 0], 1_000_000))

    assert said.endswith("move data: 2 x all-gather of 976.6 KiB at 10.0 GB/s bus bandwidth")
    (said,) = waiting(meeting((0, 1), [0], [0], [1_000], 1_000_000))
    assert said.endswith("wait for it: 1 x all-reduce of 976.6 KiB at 10.0 GB/s bus bandwidth")


def fast(most: int, algorithm: float | None, bus: float | None = None) -> CollectiveSpeed:
    return CollectiveSpeed(
        *("all-reduce", "", 3, most, most, most, 1_000, False, None), algorithm, bus
    )


def test_large_messages_of_known_speed_are_telling() -> None:
    large, small, unknown = fast(65_536, 2.0), fast(65_535, 2.0), fast(65_536, None)

    assert _facts_collectives.telling([small, large, unknown], context()) == [large]
    assert _facts_collectives.told(large) == (
        "3 x all-reduce of 64.0 KiB at 2.0 GB/s algorithm bandwidth"
    )
    assert _facts_collectives.told(fast(65_536, 2.0, 3.5)).endswith("at 3.5 GB/s bus bandwidth")


def test_two_speeds_are_told_with_the_waiting_in_them() -> None:
    """Three kinds of one size, alone: 1 MB in 100, 200 and 50 us."""
    length = np.array([100_000, 200_000, 50_000])
    made = collectives(
        3,
        kind=[REDUCE, int(CollectiveKind.BROADCAST), int(CollectiveKind.SEND_RECV)],
        start_ns=np.zeros(3),
        end_ns=length,
        bytes=1_000_000,
        met=0,
        whole=True,
    )
    assert _facts_collectives.speed(context(device={"collectives": made})) == [
        "1 x broadcast of 976.6 KiB at 5.0 GB/s bus bandwidth, waiting for other ranks included",
        "1 x all-reduce of 976.6 KiB at 10.0 GB/s algorithm bandwidth, waiting for other ranks"
        " included",
    ]


HELD = {"start_ns": 100_000, "ready_ns": 40_000, "exposed_ns": 10_000}
RUNNING = Intervals.span(30_000, 95_000)


def behind(
    *, compute: Intervals = RUNNING, piece: dict[str, Any] | None = None, **columns: Any
) -> bool:
    """Whether a collective is told to have stood behind kernels: ready at 40 us, begun at 100."""
    free = {"work": int(Work.COMMUNICATION), "relation": int(Relation.NONE), "work_stream_id": 20}
    made = collectives(1, **{**HELD, **columns})
    rows = context(
        1,
        device={"collectives": made, "compute": compute},
        **{"start_ns": [100_000], "end_ns": [110_000], **free, **(piece or {})},
    )
    lines = _facts_queue.behind_compute(rows)
    assert lines == [] or lines[0] == (
        "behind kernels of other streams: 1 x all-reduce had been launched 60.0 us before (median),"
        " their stream was free and waited for no event, but they began only when kernels had ended"
    )
    return bool(lines)


def test_a_free_collective_behind_kernels_is_told() -> None:
    assert behind()
    assert not behind(on_compute_stream=True)
    assert not behind(compute=NONE)
    assert not behind(compute=Intervals.span(30_000, 101_000))  # it runs beside them


@pytest.mark.parametrize("relation", Relation)
def test_what_is_known_to_have_waited_is_not_told(relation: Relation) -> None:
    free = relation in (Relation.NONE, Relation.STREAM)

    assert behind(piece={"relation": int(relation)}) is free


def test_what_the_ledger_does_not_know_is_not_told() -> None:
    assert not behind(piece={"work": int(Work.H2D)})
    assert not behind(piece={"work_stream_id": 21})
    assert not behind(piece={"start_ns": [99_999]})


def test_before_all_kernels_nothing_has_ended() -> None:
    """Begun at 10 us, under a kernel that runs on."""
    early = {"start_ns": 10_000, "ready_ns": -50_000}

    assert not behind(
        compute=Intervals.span(-60_000, 20_000), piece={"start_ns": [10_000]}, **early
    )
    assert behind(compute=Intervals.span(-60_000, 10_000), piece={"start_ns": [10_000]}, **early)


def test_slowed_kernels_are_told_in_numbers() -> None:
    table = Contention.filled(
        3,
        name_id=[4, 5, 4],
        alone_count=[7, 8, 9],
        alone_ns=[10_000, 20_000, 1],
        shared_count=[5, 6, 7],
        shared_ns=[15_000, 50_000, 2],
        extra_ns=[4_000, 1_000, 500],
        with_collective=[True, False, False],
    )
    rows = context(device={"contention": table})
    found = causes()["contention"].detect(rows.device, rows.measured)

    assert found is not None
    assert found.blamed == Intervals.span(0, 5_500)
    assert not found.placed
    assert found.facts == (
        "overlap hides 0 ns of transfers and costs 5.5 us in longer kernels: net 5.5 us lost",
        "kernel fwd: 10.0 us alone (7 times), 15.0 us under collectives (5 times), 1.5 times as"
        " long",
        "kernel bwd: 20.0 us alone (8 times), 50.0 us under copies (6 times), 2.5 times as long",
    )


def test_slowed_kernels_of_a_later_window_are_in_it() -> None:
    (drawn,) = MEASURED.devices
    table = Contention.filled(1, extra_ns=[4_000])
    window = replace(drawn.window, start_ns=50_000, end_ns=90_000)
    found = causes()["contention"].detect(replace(drawn, window=window, contention=table), MEASURED)

    assert found is not None
    assert found.blamed == Intervals.span(50_000, 54_000)
