from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck.copies import Direction
from overlapcheck.order import Work
from tests.export import RealExport, edit
from tests.pictures import measure_file, picture


def test_hidden_is_copy_time_under_compute_and_the_rest_is_exposed() -> None:
    h2d = (
        picture("""
        s7  kernel k      |aaaa....bbbb|
        s13 h2d pinned 1B |..cccccc....|
        """)
        .device()
        .copies[Direction.H2D]
    )

    assert (h2d.copy_ns, h2d.hidden_ns, h2d.exposed_ns) == (6_000, 2_000, 4_000)
    assert h2d.overlap == pytest.approx(1 / 3)
    assert h2d.ceiling == 1.0


def test_three_kernels_at_once_hide_a_copy_once() -> None:
    device = picture("""
        s7  kernel k      |aaaaaaaa|
        s8  kernel l      |.bbbbbb.|
        s9  kernel m      |..cccc..|
        s13 h2d pinned 1B |..dddd..|
        """).device()

    assert device.compute_ns == 8_000
    assert device.copies[Direction.H2D].hidden_ns == 4_000
    assert device.copies[Direction.H2D].overlap == 1.0


def test_copies_at_once_in_one_direction_count_their_union() -> None:
    h2d = (
        picture("""
        s7  kernel k      |aaaa....|
        s13 h2d pinned 1B |..bbbb..|
        s14 h2d pinned 2B |...ccccc|
        """)
        .device(window_ns=(0, 8_000))
        .copies[Direction.H2D]
    )

    assert (h2d.count, h2d.bytes, h2d.copy_ns, h2d.hidden_ns) == (2, 3, 6_000, 2_000)


def test_directions_are_measured_apart() -> None:
    copies = (
        picture("""
        s7  kernel k      |aaaa....|
        s13 h2d pinned 1B |bbbb....|
        s14 d2h pinned 1B |....cccc|
        s7  d2d 1B        |......dd|
        """)
        .device(window_ns=(0, 8_000))
        .copies
    )

    assert {d.value: c.overlap for d, c in copies.items()} == {"h2d": 1.0, "d2h": 0.0, "d2d": 0.0}


def test_communication_hides_nothing() -> None:
    device = picture("""
        s7  kernel k                 |aa......dd|
        s8  kernel ncclDevKernel_Sum |..bbbbbb..|
        s13 h2d pinned 1B            |..cccccc..|
        """).device()

    assert device.communication.total_ns == 6_000
    assert device.copies[Direction.H2D].hidden_ns == 0
    assert device.compute_ns == 4_000


def test_a_graph_block_counts_as_compute() -> None:
    device = picture("""
        s7  graph         |aaaa..|
        s13 h2d pinned 1B |..bbbb|
        """).device(window_ns=(0, 6_000))

    assert device.copies[Direction.H2D].hidden_ns == 2_000
    assert device.opaque.total_ns == 4_000


def test_memsets_are_no_compute() -> None:
    device = picture("""
        s7  kernel k      |aa......bb|
        s7  memset 1MiB   |..cccccc..|
        s13 h2d pinned 1B |..dddddd..|
        """).device()

    assert device.copies[Direction.H2D].hidden_ns == 0


def test_the_ceiling_is_compute_over_copy() -> None:
    h2d = (
        picture("""
        s7  kernel k      |aaa.......|
        s13 h2d pinned 1B |bbbbbbbbbb|
        """)
        .device(window_ns=(0, 10_000))
        .copies[Direction.H2D]
    )

    assert h2d.ceiling == pytest.approx(0.3)
    assert h2d.could_win_ns == 0


@pytest.mark.parametrize(
    ("row", "pageable", "pinned"),
    [
        ("h2d pageable 1B", 1, 0),
        ("h2d pinned 1B", 0, 1),
        ("d2h pageable 1B", 1, 0),
        ("d2h pinned 1B", 0, 1),
        ("h2d managed 1B", 0, 0),
        ("h2d unknown 1B", 0, 0),
    ],
)
def test_the_host_side_decides_whether_a_copy_is_pageable(
    row: str, pageable: int, pinned: int
) -> None:
    (copies,) = picture(f"s7 kernel k |aaaa|\ns13 {row} |.bb.|").device().copies.values()

    assert copies.pageable_count == pageable
    assert copies.pageable.total_ns == pageable * 2_000
    assert copies.pinned.total_ns == pinned * 2_000


def test_a_copy_outside_the_window_is_not_counted() -> None:
    device = picture("""
        s7  kernel k      |..aaaa..|
        s13 h2d pinned 1B |bb....cc|
        """).device(window_ns=(2_000, 6_000))

    assert device.copies == {}


def test_only_copies_that_touch_the_window_have_a_direction() -> None:
    device = picture("""
        s7  kernel k      |..aaaa..|
        s13 h2d pinned 1B |bbb.....|
        s13 d2h pinned 1B |......cc|
        """).device(window_ns=(2_000, 6_000))

    assert list(device.copies) == [Direction.H2D]


PEER = """
gpu0 s7  kernel k            |aaaaaa....|
gpu1 s7  kernel k            |bbbbbb....|
gpu1 s15 p2p 64MiB from gpu0 |....cccc..|
"""


def test_a_peer_copy_occupies_both_devices() -> None:
    devices = picture(PEER).measure(window_ns=(0, 10_000)).devices

    assert len(devices) == 2
    for device in devices:
        p2p = device.copies[Direction.P2P]
        assert (p2p.count, p2p.bytes, p2p.copy_ns, p2p.hidden_ns) == (1, 64 << 20, 4_000, 2_000)


def test_a_peer_copy_recorded_twice_counts_once(tmp_path: Path) -> None:
    path = picture(PEER).export(tmp_path / "peer.sqlite")
    edit(path, "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY")

    for device in measure_file(path, window_ns=(0, 10_000)).devices:
        p2p = device.copies[Direction.P2P]
        assert (p2p.count, p2p.bytes, p2p.copy_ns) == (1, 64 << 20, 4_000)


def test_a_peer_copy_occupies_the_device_that_it_goes_to_as_well() -> None:
    text = PEER.replace("gpu1 s15 p2p 64MiB from gpu0", "gpu0 s15 p2p 64MiB to gpu1  ")
    devices = picture(text).measure(window_ns=(0, 10_000)).devices

    assert [device.copies[Direction.P2P].count for device in devices] == [1, 1]


def test_other_copies_stay_beside_one_that_is_recorded_twice(tmp_path: Path) -> None:
    text = (
        PEER
        + "gpu1 s16 p2p 4KiB from gpu0  |.......dd.|\ngpu1 s17 h2d pinned 4KiB      |ee........|"
    )
    path = picture(text).export(tmp_path / "peer.sqlite")
    table = "CUPTI_ACTIVITY_KIND_MEMCPY"
    edit(path, f"INSERT INTO {table} SELECT * FROM {table} WHERE streamId = 15")
    device = measure_file(path, window_ns=(0, 10_000)).devices[1]

    assert (device.copies[Direction.P2P].count, device.copies[Direction.H2D].count) == (2, 1)


def test_a_peer_copy_does_not_concern_a_third_device() -> None:
    devices = picture(PEER + "gpu2 s7 kernel k |dddddddddd|\n").measure().devices

    assert devices[2].key.device_id == 2
    assert devices[2].copies == {}


def test_other_devices_copies_are_not_pooled() -> None:
    one, two = (
        picture("""
        gpu0 s7  kernel k      |aaaa....|
        gpu1 s7  kernel k      |....bbbb|
        gpu0 s13 h2d pinned 1B |cc......|
        gpu1 s13 h2d pinned 1B |....dd..|
        """)
        .measure()
        .devices
    )

    assert one.copies[Direction.H2D].count == two.copies[Direction.H2D].count == 1
    assert one.copies[Direction.H2D].overlap == two.copies[Direction.H2D].overlap == 1.0


def test_unified_memory_migrations_are_listed_apart() -> None:
    device = picture("""
        s7  kernel k      |aaaaaa..dd|
        uvm h2d 32KiB     |..bb......|
        uvm d2h 4KiB      |......cc..|
        """).device()

    assert device.copies == {}
    assert device.migrations.count == 2
    assert device.migrations.bytes == 36 << 10
    assert device.migrations.busy.total_ns == 4_000


def test_migrations_outside_the_window_are_not_counted() -> None:
    device = picture("""
        s7  kernel k      |aaaaaa..dd|
        uvm h2d 32KiB     |..bb......|
        uvm d2h 4KiB      |......cc..|
        """).device(window_ns=(4_000, 10_000))

    assert (device.migrations.count, device.migrations.bytes) == (1, 4 << 10)


@pytest.mark.parametrize(
    ("name", "communicates"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", True),
        ("ncclKernel_AllGather", True),
        ("nvshmemi_put_kernel", True),
        ("cross_device_reduce_1stage", True),
        ("AllReduceKernel", True),
        ("all_gather_copy", True),
        ("reduce_scatter_kernel", True),
        ("alltoall_dispatch", True),
        ("all2all_kernel", True),
        ("dispatch", True),
        ("Combine", True),
        ("notify_dispatch", True),
        ("cached_notify_combine", True),
        ("dispatch_experts", False),
        ("fused_combine", False),
        ("vectorized_elementwise_kernel", False),
        ("reduce_kernel", False),
        ("gather_kernel", False),
    ],
)
def test_communication_is_told_by_the_kernels_name(name: str, communicates: bool) -> None:
    device = picture(f"s7 kernel {name} |aa..|\ns7 kernel k |..bb|").device()

    assert bool(device.communication) is communicates


def test_users_can_name_further_communication_kernels() -> None:
    device = picture("s7 kernel my_exchange |aa..|\ns7 kernel k |..bb|").device(
        communication=("MY_EX",)
    )

    assert device.communication.total_ns == 2_000
    assert device.compute_ns == 2_000


def test_communication_under_compute_is_hidden() -> None:
    device = picture("""
        s7 kernel k         |aaaa....bb|
        s8 kernel ncclKernel |..cccc....|
        """).device()

    assert device.communication_hidden_ns == 2_000


def test_hidden_and_exposed_add_up_on_a_real_trace(real_export: RealExport) -> None:
    for device in measure_file(real_export("cu_double_buffer")).devices:
        for copies in device.copies.values():
            assert (copies.copy - device.compute).total_ns == copies.exposed_ns
        assert device.compute_ns + device.idle.total_ns == device.window.length_ns


@pytest.mark.parametrize(
    ("number", "direction"), [(3, Direction.H2D), (4, Direction.D2H), (6, Direction.D2D)]
)
def test_copies_into_and_out_of_arrays_use_the_link(
    number: int, direction: Direction, tmp_path: Path
) -> None:
    drawing = picture("""
        s7  kernel k         |.aa......bb|
        s7  h2d pinned 1MiB  |....ccccc..|
        t1  cudaLaunchKernel |ab.........|
        t1  cudaMemcpyAsync  |..c........|
        """)
    path = drawing.export(tmp_path / "array.sqlite")
    edit(path, f"UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = {number}")
    (device,) = measure_file(path).devices

    assert list(device.copies) == [direction]
    assert Work[direction.name] in device.ledger.work.tolist()
