"""Collectives drawn in pictures, with hand-computed exposure and meetings."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck.causes.ranking.findings import findings
from overlapcheck.collective_order import crossings
from overlapcheck.collectives import CollectiveKind, collective_kind
from overlapcheck.measurements import Measurements
from overlapcheck.thresholds import USUAL
from tests.export import RealExport, edit
from tests.pictures import measure_file, picture

ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
GATHER = "ncclDevKernel_AllGather_RING_LL"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (ALL_REDUCE, CollectiveKind.ALL_REDUCE),
        ("ncclKernel_AllReduce_RING_LL_Sum_half", CollectiveKind.ALL_REDUCE),
        ("cross_device_reduce_2stage", CollectiveKind.ALL_REDUCE),
        ("one_shot_all_reduce_kernel", CollectiveKind.ALL_REDUCE),
        (GATHER, CollectiveKind.ALL_GATHER),
        ("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", CollectiveKind.REDUCE_SCATTER),
        ("ncclDevKernel_Reduce_Sum_f32_RING_LL", CollectiveKind.REDUCE),
        ("ncclDevKernel_Broadcast_RING_LL", CollectiveKind.BROADCAST),
        ("ncclDevKernel_SendRecv", CollectiveKind.SEND_RECV),
        ("nvshmemi_alltoall_kernel", CollectiveKind.ALL_TO_ALL),
        ("ncclDevKernel_Generic", CollectiveKind.OTHER),
    ],
)
def test_the_short_name_tells_the_kind(name: str, kind: CollectiveKind) -> None:
    assert collective_kind(name) is kind


def test_where_nothing_computes_no_stream_is_one_of_compute() -> None:
    device = picture(f"""
        s20  kernel {ALL_REDUCE} |.rrrr.ssss|
        t1   cuLaunchKernelEx    |r....s....|
        """).device()

    assert device.collectives.on_compute_stream.tolist() == [False, False]


@pytest.mark.parametrize(("length_us", "on"), [(5.0, True), (4.999, False)])
def test_a_stream_with_a_twentieth_of_the_compute_is_one_of_compute(
    length_us: float, on: bool
) -> None:
    device = picture(
        f"""
        s7   kernel k          |aaaaaaaaaaaaaaaaaaa..........|
        s20  kernel cast       |...................b.........|
        s20  kernel {ALL_REDUCE} |........................rrrr.|
        t1   cudaLaunchKernel  |a..................b.........|
        t1   cuLaunchKernelEx  |.......................r.....|
        """,
        gpu_us={"a": [0.0, 95.0], "b": [100.0, 100.0 + length_us], "r": [110.0, 120.0]},
        host_us={"a": [-3.0, -2.0], "b": [98.0, 99.0], "r": [106.0, 107.0]},
    ).device()

    assert device.collectives.on_compute_stream.tolist() == [on]


def test_every_collective_has_its_step_its_place_and_its_exposed_part() -> None:
    device = picture(
        f"""
        s7   kernel k          |aaaaaa.....|
        s20  kernel {GATHER}   |..g........|
        s20  kernel {ALL_REDUCE} |....rrrr...|
        t1   cudaLaunchKernel  |a..........|
        t1   cuLaunchKernelEx  |.g.r.......|
        t1   nvtx step         |00000000000|
        """,
        column_us=100,
        repeat=4,
    ).device(skip=1)
    rows = device.collectives

    assert rows.kind.tolist() == [CollectiveKind.ALL_GATHER, CollectiveKind.ALL_REDUCE] * 3
    assert rows.step.tolist() == [1, 1, 2, 2, 3, 3]
    assert rows.order.tolist() == [0, 1] * 3
    assert rows.exposed_ns.tolist() == [0, 200_000] * 3
    assert rows.last.tolist() == [False, True] * 3
    assert not rows.on_compute_stream.any()
    assert rows.whole.all()
    # Since the window's start, then since the end of the one before.
    assert (rows.start_ns - rows.since_ns).tolist()[:3] == [200_000, 100_000, 500_000]


SIX = f"""
s7   kernel k            |k...........l|
s20  kernel {ALL_REDUCE} |aabbccddeeff.|
"""


def test_those_that_touch_the_window_are_listed_and_those_inside_it_are_whole() -> None:
    """The window begins with the second and ends with the fourth, then it cuts both by 1 ns."""
    exact = picture(SIX).device(window_ns=(2_000, 8_000)).collectives
    wider = picture(SIX).device(window_ns=(1_999, 8_001)).collectives
    cut = picture(SIX).device(window_ns=(2_001, 7_999)).collectives

    assert exact.start_ns.tolist() == [2_000, 4_000, 6_000]
    assert exact.whole.tolist() == [True] * 3
    assert wider.start_ns.tolist() == [0, 2_000, 4_000, 6_000, 8_000]
    assert wider.whole.tolist() == [False, True, True, True, False]
    assert cut.start_ns.tolist() == [2_000, 4_000, 6_000]
    assert cut.whole.tolist() == [False, True, False]


def test_what_a_skipped_step_launched_is_not_whole_though_it_runs_in_the_window() -> None:
    """The first of step 1 waits until step 2 has begun."""
    text = f"""
        s7   kernel k            |.aa.bb.cc.......|
        s20  kernel {ALL_REDUCE} |.......rr.ss....|
        t1   cudaLaunchKernel    |a..b..c.........|
        t1   cuLaunchKernelEx    |....r...s.......|
        t1   nvtx step           |000111222222222.|
        """
    rows = picture(text).device(skip=2).collectives

    assert rows.step.tolist() == [1, 2]
    assert rows.whole.tolist() == [False, True]
    assert rows.last.tolist() == [False, True]


def test_streams_of_one_number_in_two_contexts_are_two_streams() -> None:
    """Contexts of two devices number their streams alike; a device's own compute counts."""
    one, two = picture(
        f"""
        gpu0 s20  kernel k            |aaaa....|
        gpu0 s20  kernel {ALL_REDUCE} |....rr..|
        gpu1 s20  kernel {ALL_REDUCE} |....ss..|
        gpu1 s7   kernel k            |bbbb....|
        """
    ).measure().devices  # fmt: skip

    assert one.collectives.on_compute_stream.tolist() == [True]
    assert two.collectives.on_compute_stream.tolist() == [False]


def test_so_are_they_in_two_contexts_of_one_device(tmp_path: Path) -> None:
    """Stream 21 becomes stream 20 of a second context: it computes, and is busy when c begins."""
    path = picture(f"""
        s21  kernel k            |aaaa......|
        s21  kernel {ALL_REDUCE} |....bb....|
        s20  kernel {ALL_REDUCE} |.......c..|
        s20  kernel {ALL_REDUCE} |.........d|
        s21  memset 4B           |.....mmm..|
        t1   cuLaunchKernelEx    |abcd......|
        """).export(tmp_path / "contexts.sqlite")
    for table in ("KERNEL", "MEMSET"):
        activity = f"CUPTI_ACTIVITY_KIND_{table}"
        edit(path, f"UPDATE {activity} SET contextId = 9, streamId = 20 WHERE streamId = 21")
    (device,) = measure_file(path).devices

    assert device.collectives.on_compute_stream.tolist() == [True, False, False]
    # The launches had returned by then; d comes behind c.
    assert device.collectives.ready_ns.tolist() == [4_000, 3_000, 8_000]


def test_what_the_end_of_the_last_step_cuts_is_not_whole() -> None:
    """The second is launched behind the last range; the kernel that ends the window before."""
    text = f"""
        s7   kernel k            |.aa.bb.cc......|
        s20  kernel {ALL_REDUCE} |.r......ssss...|
        t1   cudaLaunchKernel    |a..b.c.........|
        t1   cuLaunchKernelEx    |.r.....s.......|
        t1   nvtx step           |0001122........|
        """
    device = picture(text).device()

    assert device.window.end_ns == 9_000
    assert device.collectives.step.tolist() == [0, 2]
    assert device.collectives.whole.tolist() == [True, False]


def test_two_streams_that_compute_are_both_compute_streams() -> None:
    device = picture(
        f"""
        s7   kernel k            |aaaa....|
        s7   kernel {ALL_REDUCE} |....rr..|
        s9   kernel k            |bbbb....|
        s9   kernel {GATHER}     |.....gg.|
        s20  kernel {GATHER}     |......hh|
        """
    ).device()

    assert device.collectives.on_compute_stream.tolist() == [True, True, False]


def test_a_stream_that_also_computes_is_a_compute_stream() -> None:
    device = picture(
        f"""
        s7   kernel k            |aaaa..|
        s7   kernel {ALL_REDUCE} |....bb|
        """
    ).device(skip=0)

    assert device.collectives.on_compute_stream.tolist() == [True]
    assert device.collectives.step.tolist() == [-1]
    assert device.collectives.last.tolist() == [False]


def test_a_collective_cut_by_the_window_is_not_compared() -> None:
    drawing = picture(
        f"""
        s7   kernel k            |aaaa..cccc|
        s20  kernel {ALL_REDUCE} |.bbbbb....|
        """,
        column_us=1000,
    )

    measured = drawing.measure(window_ns=(2_000_000, 10_000_000))

    (device,) = measured.devices
    assert device.collectives.whole.tolist() == [False]
    # Columns 4 and 5; the part before the window does not count.
    assert device.collectives.exposed_ns.tolist() == [2_000_000]


TWO_RANKS = f"""
p1 gpu0 s7  kernel k            |aaaa......|
p1 gpu0 s20 kernel {ALL_REDUCE} |....bbbb..|
p2 gpu1 s7  kernel k            |cccccc....|
p2 gpu1 s20 kernel {ALL_REDUCE} |......dd..|
p1 t1 cudaLaunchKernel          |ab........|
p2 t1 cudaLaunchKernel          |cd........|
p1 t1 nvtx step                 |0000000000|
p2 t1 nvtx step                 |0000000000|
"""


def two_ranks(drawing: str = TWO_RANKS, **options: object) -> Measurements:
    return picture(drawing, column_us=100, repeat=5, **options).measure(skip=0)


def test_two_devices_of_one_report_meet_and_one_waits_for_the_other() -> None:
    (meeting,) = two_ranks().meetings

    assert meeting.members == (0, 1)
    assert meeting.occasions == 5
    assert meeting.start_ns[:, 0].tolist() == [400_000, 600_000]
    assert meeting.latest.tolist() == [1] * 5
    assert meeting.waiting_ns.tolist() == [[200_000] * 5, [0] * 5]
    assert meeting.transfer_ns.tolist() == [[200_000] * 5, [200_000] * 5]
    assert meeting.exposed_waiting_ns.sum(axis=1).tolist() == [1_000_000, 0]
    assert meeting.last.all()
    assert meeting.end_spread_ns == 0


def test_devices_whose_collectives_never_overlap_do_not_meet() -> None:
    apart = TWO_RANKS.replace("|......dd..|", "|........dd|")

    assert two_ranks(apart).meetings == ()


def test_other_kinds_of_collective_are_other_communicators() -> None:
    lines = TWO_RANKS.splitlines()
    lines[4] = f"p2 gpu1 s20 kernel {GATHER} |......dd..|"

    assert two_ranks("\n".join(lines)).meetings == ()


def test_broadcasts_are_not_compared_for_their_root_need_not_wait() -> None:
    assert (
        two_ranks(TWO_RANKS.replace(ALL_REDUCE, "ncclDevKernel_Broadcast_RING_LL")).meetings == ()
    )


def test_the_evidence_says_who_waits_and_who_is_waited_for(real_export: RealExport) -> None:
    measured = measure_file(real_export("ddp_bucketed"), skip=3)
    (meeting,) = measured.meetings

    assert meeting.members == (0, 1)
    assert meeting.occasions == 24
    for number, device in enumerate(measured.devices):
        exposed = meeting.exposed_waiting_ns[number] + meeting.exposed_transfer_ns[number]
        # One collective at a time: what is exposed adds up to the nanosecond.
        assert exposed.sum() == (device.communication - device.compute).total_ns
        assert device.collectives.exposed_ns.sum() == exposed.sum()


# ---- the order of two communicators

CROSSED = f"""
p1 gpu0 s7  kernel k            |..kkk.............ee|
p1 gpu0 s20 kernel {ALL_REDUCE} |.....aaaaaaaaaaaa...|
p1 gpu0 s24 kernel {GATHER}     |.......bbbb.........|
p2 gpu1 s7  kernel k            |..KKK.............EE|
p2 gpu1 s20 kernel {ALL_REDUCE} |...........AAAAAA...|
p2 gpu1 s24 kernel {GATHER}     |......BBBBB.........|
p1 t1 cudaLaunchKernel          |kab..e..............|
p1 t1 cudaEventRecord           |...r................|
p1 t1 cudaStreamWaitEvent       |....w...............|
p2 t1 cudaLaunchKernel          |KBA..E..............|
p2 t1 cudaEventRecord           |...R................|
p2 t1 cudaStreamWaitEvent       |....W...............|
p1 t1 nvtx step                 |00000000000000000000|
p2 t1 nvtx step                 |00000000000000000000|
"""
WAITS = {
    "records": [{"call": "r", "stream": 20}, {"call": "R", "stream": 20, "gpu": 1}],
    "waits": [
        {"call": "w", "stream": 7, "record": "r"},
        {"call": "W", "stream": 7, "record": "R", "gpu": 1},
    ],
}
# The second rank begins its all-reduce first, too.
ALIKE = CROSSED.replace("|......BBBBB.........|", "|.........BB.........|").replace(
    "|...........AAAAAA...|", "|......AAAAAAAAAAA...|"
)


def orders(measured: Measurements) -> list[str]:
    """What the evidence of each device says about the order."""
    return [
        line
        for finding in findings(measured)
        for line in finding.evidence
        if line.startswith("the order differs")
    ]


def test_ranks_that_begin_two_communicators_in_different_order() -> None:
    measured = two_ranks(CROSSED, **WAITS)

    (found,) = crossings(
        measured.meetings, [meeting.members for meeting in measured.meetings], USUAL
    )
    by_stream = {int(meeting.kind[0]): n for n, meeting in enumerate(measured.meetings)}
    reduces = by_stream[CollectiveKind.ALL_REDUCE] == found.one
    assert found.ranks == (0, 1)
    assert found.begins_with_one == ((True, False) if reduces else (False, True))
    assert (found.pairs, found.crossed) == (5, 5)
    # Six columns in each step: from 5 to 11 the first rank waits in its all-reduce; the second
    # waits one column in its all-gather.
    assert found.waiting_ns == (3_000_000, 500_000)
    first, second = orders(measured)
    assert "begins the all-reduce before the all-gather" in first
    assert "device 1 after it, in 5 of 5; 3.0 ms of the waiting" in first
    assert "begins the all-gather before the all-reduce" in second


def test_a_late_rank_with_the_same_order_is_no_matter_of_order() -> None:
    measured = two_ranks(ALIKE, **WAITS)

    assert len(measured.meetings) == 2
    assert crossings(measured.meetings, [m.members for m in measured.meetings], USUAL) == ()
    assert orders(measured) == []


def test_a_stream_is_ready_when_the_launch_is_done_and_it_is_free() -> None:
    device = picture(
        f"""
        s7   kernel k            |aaaaaaaaaaaaa....|
        s20  kernel {GATHER}     |..gggg...........|
        s20  kernel {ALL_REDUCE} |........rrr......|
        s20  memset 4B           |...........m.....|
        s20  kernel {ALL_REDUCE} |............b.u..|
        t1   cudaLaunchKernel    |agr..b...........|
        t1   cudaMemsetAsync     |...m.............|
        """,
        column_us=100,
    ).device(skip=0)

    # g: its launch; r: behind g; b: behind the memset that ended just then; u: no launch is known.
    assert (device.collectives.ready_ns // 100_000).tolist() == [2, 6, 12, 14]
