"""Whose message a kernel carries: the call that launched it, or the group."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from overlapcheck.collectives import CollectiveKind, Collectives
from overlapcheck.columns import ABSENT
from tests.nccl_payloads import (
    COMMUNICATOR,
    INT,
    MAKING,
    MESSAGE,
    RANKS,
    SIZE,
    SIZE_T,
    Message,
    attach,
    blob,
    describe,
    with_payloads,
)
from tests.pictures import measure_file, picture

REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
SEND_RECV = "ncclDevKernel_SendRecv"
OTHER = 0x1234
SIGNED = COMMUNICATOR - (1 << 64)


def collectives(
    folder: Path,
    drawing: str,
    messages: Mapping[str, Sequence[Message]],
    ranks: Mapping[int, int] | None = None,
) -> list[Collectives]:
    """Of each device."""
    path = picture(drawing, column_us=10).export(folder / "drawn.sqlite")
    measured = measure_file(with_payloads(path, messages, ranks=ranks))
    return [device.collectives for device in measured.devices]


ALONE = f"""
s20  kernel {REDUCE}     |......aabb.cc.|
t1   cuLaunchKernelEx    |.a..b.....c...|
t1   nvtx ncclAllReduce  |xxx.y.........|
t2   nvtx ncclAllReduce  |..........z...|
"""


def test_a_kernel_carries_the_message_of_the_call_around_its_launch(tmp_path: Path) -> None:
    (rows,) = collectives(
        tmp_path, ALONE, {"ncclAllReduce": [Message(1000), Message(2000, OTHER), Message(9)]}
    )

    # The third is launched by a thread that is in no call of NCCL.
    assert rows.bytes.tolist() == [1000, 2000, ABSENT]
    assert rows.communicator.tolist() == [SIGNED, OTHER, ABSENT]
    assert rows.ranks.tolist() == [ABSENT] * 3


def test_positions_count_by_communicator_where_it_is_known(tmp_path: Path) -> None:
    drawing = f"""
    s20  kernel {REDUCE}     |......aa....cc|
    s24  kernel {REDUCE}     |........bb....|
    t1   cuLaunchKernelEx    |.a..b.....c...|
    t1   nvtx ncclAllReduce  |xxx.y....zzz..|
    """
    told = [Message(1), Message(2), Message(3, OTHER)]

    (rows,) = collectives(tmp_path, drawing, {"ncclAllReduce": told})

    # The first two share a communicator, on two streams; the third has its stream for itself.
    assert rows.order.tolist() == [0, 1, 0]
    assert rows.since_ns.tolist() == [60_000, 80_000, 60_000]


def test_ranks_come_from_the_call_that_made_the_communicator(tmp_path: Path) -> None:
    drawing = ALONE + "t1 nvtx ncclCommInitRank |...i.j.k......|"
    made = {COMMUNICATOR: 8, OTHER: 2}

    (rows,) = collectives(
        tmp_path, drawing, {"ncclAllReduce": [Message(1000), Message(2000, OTHER)]}, made
    )

    assert rows.ranks.tolist() == [8, 2, ABSENT]


def test_a_communicator_with_two_numbers_of_ranks_has_none(tmp_path: Path) -> None:
    drawing = ALONE + "t1 nvtx ncclCommInitRank |...i.j........|"
    path = picture(drawing, column_us=10).export(tmp_path / "drawn.sqlite")
    with_payloads(path, {"ncclAllReduce": [Message(1)]})
    made = [struct.pack("<Qiiii", COMMUNICATOR, ranks, 0, 0, 0) for ranks in (8, 4)]
    attach(path, "ncclCommInitRank", [blob((MAKING, body)) for body in made])

    (device,) = measure_file(path).devices

    assert device.collectives.ranks.tolist() == [ABSENT] * 3


GROUP = f"""
s20  kernel {SEND_RECV}  |........aa..|
t1   cuLaunchKernelEx    |......a.....|
t1   nvtx ncclGroupStart |g...........|
t1   nvtx ncclSend       |.s..t.......|
t1   nvtx ncclRecv       |..r.........|
t1   nvtx ncclGroupEnd   |.....eee....|
"""


def test_a_group_of_sends_and_receives_counts_the_larger_way(tmp_path: Path) -> None:
    told = {"ncclSend": [Message(1000), Message(2000)], "ncclRecv": [Message(2500)]}

    (rows,) = collectives(tmp_path, GROUP, told)

    assert rows.bytes.tolist() == [3000]
    assert rows.kind.tolist() == [CollectiveKind.SEND_RECV]
    assert rows.communicator.tolist() == [SIGNED]


def test_messages_of_two_communicators_are_nobodys(tmp_path: Path) -> None:
    told = {"ncclSend": [Message(1000), Message(2000, OTHER)], "ncclRecv": [Message(2500)]}

    (rows,) = collectives(tmp_path, GROUP, told)

    assert rows.communicator.tolist() == [ABSENT]


NESTED = f"""
s20  kernel {REDUCE}     |........aa..|
t1   cuLaunchKernelEx    |.......a....|
t1   nvtx ncclGroupStart |gh..........|
t1   nvtx ncclAllReduce  |..x.y.......|
t1   nvtx ncclGroupEnd   |...e..fff...|
"""


def test_the_outermost_end_launches_the_messages_of_the_whole_group(tmp_path: Path) -> None:
    (rows,) = collectives(tmp_path, NESTED, {"ncclAllReduce": [Message(1000), Message(500)]})

    assert rows.bytes.tolist() == [1500]
    assert rows.kind.tolist() == [CollectiveKind.ALL_REDUCE]


def test_a_group_whose_beginning_was_not_recorded_is_unknown(tmp_path: Path) -> None:
    # The first end now closes the only group that begins here.
    cut = NESTED.replace("|gh..", "|.h..")

    (rows,) = collectives(tmp_path, cut, {"ncclAllReduce": [Message(1000), Message(500)]})

    assert rows.bytes.tolist() == [ABSENT]
    assert rows.communicator.tolist() == [ABSENT]


TWO_KERNELS = f"""
gpu0 s20 kernel {REDUCE}  |........aa..|
gpu1 s20 kernel {REDUCE}  |........bb..|
t1   cuLaunchKernelEx     |......a.b...|
t1   nvtx ncclGroupStart  |g...........|
t1   nvtx ncclAllReduce   |.x.y........|
t1   nvtx ncclGroupEnd    |.....eeeee..|
"""


def test_alike_messages_of_as_many_kernels_are_one_each(tmp_path: Path) -> None:
    one, other = collectives(tmp_path, TWO_KERNELS, {"ncclAllReduce": [Message(1000)]})

    assert one.bytes.tolist() == other.bytes.tolist() == [1000]


@pytest.mark.parametrize("sizes", [(1000, 500), (1000, 0)])
def test_who_carries_which_of_two_sizes_is_unknown(tmp_path: Path, sizes: tuple[int, int]) -> None:
    one, other = collectives(
        tmp_path, TWO_KERNELS, {"ncclAllReduce": [Message(size) for size in sizes]}
    )

    assert one.bytes.tolist() == other.bytes.tolist() == [ABSENT]
    assert one.communicator.tolist() == other.communicator.tolist() == [SIGNED]


def test_a_call_that_launches_two_kernels_divides_nothing(tmp_path: Path) -> None:
    drawing = f"""
    s20  kernel {REDUCE}     |......aabb..|
    t1   cuLaunchKernelEx    |.a.b........|
    t1   nvtx ncclAllReduce  |xxxxx.......|
    """

    (rows,) = collectives(tmp_path, drawing, {"ncclAllReduce": [Message(1000)]})

    assert rows.bytes.tolist() == [ABSENT, ABSENT]
    assert rows.communicator.tolist() == [SIGNED, SIGNED]


def test_a_call_tells_what_the_kernels_name_does_not(tmp_path: Path) -> None:
    drawing = f"""
    s20  kernel {SEND_RECV}  |......aa....|
    t1   cuLaunchKernelEx    |.a..........|
    t1   nvtx ncclAlltoAll   |xxxxx.......|
    t1   nvtx ncclSend       |..y.........|
    """

    (rows,) = collectives(tmp_path, drawing, {"ncclAlltoAll": [Message(1000)]})

    # A call within it is no launch of its own.
    assert rows.kind.tolist() == [CollectiveKind.ALL_TO_ALL]
    assert rows.bytes.tolist() == [1000]


def test_kernels_of_a_graph_belong_to_no_call(tmp_path: Path) -> None:
    drawing = f"""
    s20  kernel {REDUCE}     |......aa.bb.|
    t1   cuLaunchKernelEx    |.a..........|
    t1   cudaGraphLaunch     |....b.......|
    t1   nvtx ncclAllReduce  |xxx.........|
    """

    (rows,) = collectives(tmp_path, drawing, {"ncclAllReduce": [Message(1000)]})

    assert rows.bytes.tolist() == [1000, ABSENT]


def test_of_a_group_the_way_back_may_be_the_larger(tmp_path: Path) -> None:
    told = {"ncclSend": [Message(1000), Message(2000)], "ncclRecv": [Message(5000)]}

    (rows,) = collectives(tmp_path, GROUP, told)

    assert rows.bytes.tolist() == [5000]


def test_an_end_whose_group_began_before_the_recording_opens_no_other(tmp_path: Path) -> None:
    cut = NESTED.replace("|gh..", "|.g..").replace("|...e..fff", "|e.....fff")

    (rows,) = collectives(tmp_path, cut, {"ncclAllReduce": [Message(1000), Message(500)]})

    assert rows.bytes.tolist() == [1500]


def test_a_group_of_a_second_thread_is_one_as_well(tmp_path: Path) -> None:
    second = (
        GROUP.replace("t1 ", "t2 ")
        + f"""
    t1   nvtx ncclAllReduce  |uv..........|
    s24  kernel {REDUCE}     |...bb.......|
    t1   cuLaunchKernel      |.b..........|
    """
    )
    told = {
        "ncclSend": [Message(1000), Message(2000)],
        "ncclRecv": [Message(2500)],
        "ncclAllReduce": [Message(7), Message(9)],
    }

    (rows,) = collectives(tmp_path, second, told)

    assert rows.bytes.tolist() == [9, 3000]


def test_alike_sends_of_as_many_kernels_are_nobodys(tmp_path: Path) -> None:
    """Each kernel may send and receive."""
    drawing = f"""
    s20  kernel {SEND_RECV}  |......aabb..|
    t1   cuLaunchKernelEx    |....a.b.....|
    t1   nvtx ncclGroupStart |g...........|
    t1   nvtx ncclSend       |.s..........|
    t1   nvtx ncclRecv       |..r.........|
    t1   nvtx ncclGroupEnd   |...eeeeee...|
    """

    (rows,) = collectives(
        tmp_path, drawing, {"ncclSend": [Message(1000)], "ncclRecv": [Message(1000)]}
    )

    assert rows.bytes.tolist() == [ABSENT, ABSENT]
    assert rows.communicator.tolist() == [SIGNED, SIGNED]


@pytest.mark.parametrize("within", [".yy.........", "..yy........", "....yy......"])
def test_a_call_within_another_adds_no_message_to_their_group(tmp_path: Path, within: str) -> None:
    """Though both begin together, or end together."""
    drawing = f"""
    s20  kernel {SEND_RECV}  |..........aa|
    t1   cuLaunchKernelEx    |........a...|
    t1   nvtx ncclGroupStart |g...........|
    t1   nvtx ncclAlltoAll   |.xxxxx......|
    t1   nvtx ncclSend       |{within}|
    t1   nvtx ncclGroupEnd   |.......eee..|
    """
    told = {"ncclAlltoAll": [Message(1000)], "ncclSend": [Message(400)]}

    (rows,) = collectives(tmp_path, drawing, told)

    assert rows.kind.tolist() == [CollectiveKind.ALL_TO_ALL]
    assert rows.bytes.tolist() == [1000]


def test_two_kinds_in_one_group_share_a_communicator_all_the_same(tmp_path: Path) -> None:
    drawing = GROUP.replace("ncclSend", "ncclAllReduce").replace("ncclRecv", "ncclAllGather")
    told = {"ncclAllReduce": [Message(1000)], "ncclAllGather": [Message(1000)]}

    (rows,) = collectives(tmp_path, drawing, told)

    assert rows.communicator.tolist() == [SIGNED]
    assert rows.bytes.tolist() == [ABSENT]


def test_a_message_of_unknown_size_leaves_the_size_of_its_group_unknown(tmp_path: Path) -> None:
    (rows,) = collectives(tmp_path, GROUP, {"ncclSend": [Message(1000), Message(2000)]})

    assert rows.bytes.tolist() == [ABSENT]
    assert rows.kind.tolist() == [CollectiveKind.SEND_RECV]


def test_calls_behind_the_end_of_a_group_that_began_before_stay_two(tmp_path: Path) -> None:
    drawing = f"""
    s20  kernel {REDUCE}     |......aa.bb.|
    t1   cuLaunchKernelEx    |...a...b....|
    t1   nvtx ncclAllReduce  |..xxx.yyy...|
    t1   nvtx ncclGroupEnd   |e...........|
    """

    (rows,) = collectives(tmp_path, drawing, {"ncclAllReduce": [Message(1000), Message(500)]})

    assert rows.bytes.tolist() == [1000, 500]


def test_older_versions_name_no_communicator(tmp_path: Path) -> None:
    """How many ranks one of them has is then nobody's."""
    path = picture(ALONE + "t1 nvtx ncclCommInitRank |...i..........|", column_us=10).export(
        tmp_path / "drawn.sqlite"
    )
    describe(path, MESSAGE, ((SIZE, SIZE_T, None),))
    describe(path, MAKING, ((RANKS, INT, None),))
    attach(path, "ncclAllReduce", [blob((MESSAGE, struct.pack("<Q", 1000)))])
    attach(path, "ncclCommInitRank", [blob((MAKING, struct.pack("<i", 8)))])

    (device,) = measure_file(path).devices

    assert device.collectives.bytes.tolist() == [1000, 1000, ABSENT]
    assert device.collectives.communicator.tolist() == [ABSENT] * 3
    assert device.collectives.ranks.tolist() == [ABSENT] * 3


def test_a_stream_is_free_though_its_communicator_works_on_another(tmp_path: Path) -> None:
    drawing = f"""
    s20  kernel {REDUCE}     |....aa.......|
    s24  kernel {REDUCE}     |.......bb....|
    t1   cuLaunchKernelEx    |.a.b.........|
    t1   nvtx ncclAllReduce  |xxxyy........|
    """

    (rows,) = collectives(tmp_path, drawing, {"ncclAllReduce": [Message(1)]})

    # Each is ready when its launch has returned.
    assert rows.ready_ns.tolist() == [20_000, 40_000]
    assert rows.since_ns.tolist() == [40_000, 60_000]
