"""Bytes and bandwidth of collectives, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck import pipeline
from overlapcheck.causes.ranking.findings import findings
from overlapcheck.collective_speed import CollectiveSpeed, bus_factor, device_speeds
from overlapcheck.collectives import CollectiveKind
from overlapcheck.measurements import Measurements
from overlapcheck.renderers import renderers
from tests.export import RealExport, query
from tests.nccl_payloads import COMMUNICATOR, Message, with_payloads
from tests.pictures import measure_file, picture

BUCKET = 2 * 6144 * 6144 * 2
"""Two layers of 6144 x 6144 in bfloat16: what a bucket of 75 MB takes."""
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"


@pytest.mark.parametrize(
    ("kind", "two", "eight", "unknown"),
    [
        (CollectiveKind.ALL_REDUCE, 1.0, 1.75, None),
        (CollectiveKind.ALL_GATHER, 0.5, 0.875, None),
        (CollectiveKind.REDUCE_SCATTER, 0.5, 0.875, None),
        (CollectiveKind.ALL_TO_ALL, 0.5, 0.875, None),
        (CollectiveKind.BROADCAST, 1.0, 1.0, 1.0),
        (CollectiveKind.REDUCE, 1.0, 1.0, 1.0),
        (CollectiveKind.SEND_RECV, 1.0, 1.0, 1.0),
        (CollectiveKind.OTHER, None, None, None),
    ],
)
def test_the_factors_are_those_of_nccls_tests(
    kind: CollectiveKind, two: float | None, eight: float | None, unknown: float | None
) -> None:
    assert (bus_factor(kind, 2), bus_factor(kind, 8)) == (two, eight)
    assert bus_factor(kind, None) == unknown


KINDS = [
    # (kernel, call, bytes moved of 8 ranks at 1 MB a message in 100 us, bus factor)
    (REDUCE, "ncclAllReduce", 10.0, 17.5),
    ("ncclDevKernel_AllGather_RING_LL", "ncclAllGather", 80.0, 70.0),
    ("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "ncclReduceScatter", 80.0, 70.0),
    ("ncclDevKernel_SendRecv", "ncclAlltoAll", 80.0, 70.0),
    ("ncclDevKernel_Broadcast_RING_LL", "ncclBroadcast", 10.0, 10.0),
    ("ncclDevKernel_Reduce_Sum_f32_RING_LL", "ncclReduce", 10.0, 10.0),
    ("ncclDevKernel_SendRecv", "ncclSend", 10.0, 10.0),
]
MADE = "t1 nvtx ncclCommInitRank |.........i|"


def one_rank(folder: Path, kernel: str, call: str, size: int, *, made: int | None) -> Measurements:
    drawing = f"""
    s7   kernel k          |kk........|
    s20  kernel {kernel}   |...a......|
    t1   cuLaunchKernelEx  |k.a.......|
    t1   nvtx {call}       |.xxx......|
    {MADE if made else ""}
    """
    path = picture(drawing, column_us=100).export(folder / "drawn.sqlite")
    told = {COMMUNICATOR: made} if made else None
    return measure_file(with_payloads(path, {call: [Message(size)]}, ranks=told))


def speeds_of(measured: Measurements) -> tuple[CollectiveSpeed, ...]:
    return device_speeds(measured.devices[0].collectives)


@pytest.mark.parametrize(("kernel", "call", "algorithm", "bus"), KINDS)
def test_one_rank_tells_bandwidth_with_its_waiting(
    tmp_path: Path, kernel: str, call: str, algorithm: float, bus: float
) -> None:
    (one,) = speeds_of(one_rank(tmp_path, kernel, call, 1_000_000, made=8))

    assert (one.count, one.bytes, one.time_ns) == (1, 1_000_000, 100_000)
    assert (one.ranks, one.waits_included) == (8, True)
    assert one.communicator == "0xd9f7f697a93a5988"
    assert one.algorithm_gbs == pytest.approx(algorithm)
    assert one.bus_gbs == pytest.approx(bus)


@pytest.mark.parametrize(("kernel", "call", "algorithm", "bus"), KINDS)
def test_without_the_number_of_ranks_only_what_does_not_need_it(
    tmp_path: Path, kernel: str, call: str, algorithm: float, bus: float
) -> None:
    (one,) = speeds_of(one_rank(tmp_path, kernel, call, 1_000_000, made=None))

    assert one.ranks is None
    # What one rank contributes to 8 is not the array's size.
    assert one.algorithm_gbs == (pytest.approx(algorithm) if algorithm == 10.0 else None)
    assert one.bus_gbs == (pytest.approx(bus) if bus == 10.0 else None)


def evidence(measured: Measurements) -> list[str]:
    return [
        line
        for finding in findings(measured)
        if finding.cause == "exposed-collective"
        for line in finding.evidence
    ]


ONE = f"""
s7   kernel k              |kk..ll....|
s20  kernel {REDUCE}       |..aa......|
t1   cudaLaunchKernel      |k....l....|
t1   cuLaunchKernelEx      |.a........|
t1   cudaEventRecord       |..r.......|
t1   cudaStreamWaitEvent   |...w......|
t1   nvtx ncclAllReduce    |.x........|
t1   nvtx step             |0000000000|
"""
WAITS = {
    "records": [{"call": "r", "stream": 20}],
    "waits": [{"call": "w", "stream": 7, "record": "r"}],
}


def test_the_evidence_of_one_rank_says_what_it_includes(tmp_path: Path) -> None:
    path = picture(ONE + MADE, column_us=100, repeat=4, **WAITS).export(tmp_path / "one.sqlite")
    with_payloads(path, {"ncclAllReduce": [Message(1 << 20)]}, ranks={COMMUNICATOR: 8})

    # 1 048 576 bytes in 200 us are 5.24 GB/s, times 14 / 8.
    assert (
        "4 x all-reduce of 1.0 MiB at 9.2 GB/s bus bandwidth, waiting for other ranks included"
        in evidence(measure_file(path))
    )


def test_the_evidence_falls_back_to_what_is_known(tmp_path: Path) -> None:
    path = picture(ONE, column_us=100, repeat=4, **WAITS).export(tmp_path / "one.sqlite")
    with_payloads(path, {"ncclAllReduce": [Message(1 << 20)]})

    assert (
        "4 x all-reduce of 1.0 MiB at 5.2 GB/s algorithm bandwidth, waiting for other ranks"
        " included" in evidence(measure_file(path))
    )


def test_small_messages_say_nothing_about_links(tmp_path: Path) -> None:
    path = picture(ONE, column_us=100, repeat=4, **WAITS).export(tmp_path / "one.sqlite")
    with_payloads(path, {"ncclAllReduce": [Message(1000)]})
    measured = measure_file(path)

    assert len(speeds_of(measured)) == 1
    assert evidence(measured)
    assert not any("bandwidth" in line for line in evidence(measured))


TWO = f"""
p1 gpu0 s7  kernel k          |aaaa......|
p1 gpu0 s20 kernel {REDUCE}   |....bbbb..|
p2 gpu1 s7  kernel k          |cccccc....|
p2 gpu1 s20 kernel {REDUCE}   |......dd..|
p1 t1 cudaLaunchKernel        |a.........|
p1 t1 cuLaunchKernelEx        |.b........|
p2 t1 cudaLaunchKernel        |c.........|
p2 t1 cuLaunchKernelEx        |.d........|
p1 t1 nvtx ncclAllReduce      |.x........|
p2 t1 nvtx ncclAllReduce      |.y........|
p1 t1 nvtx step               |0000000000|
p2 t1 nvtx step               |0000000000|
"""


@pytest.mark.parametrize(
    ("made", "ranks", "bus", "included"),
    [
        # 2 MB in the 200 us from the second rank's start are 10 GB/s.
        (None, 2, 10.0, False),
        (2, 2, 10.0, False),
        # Six more ranks without a trace may have come later still.
        (8, 8, 17.5, True),
    ],
)
def test_the_time_begins_with_the_last_rank(
    tmp_path: Path, made: int | None, ranks: int, bus: float, included: bool
) -> None:
    path = picture(TWO + (f"p1 {MADE}\np2 {MADE}" if made else ""), column_us=100, repeat=5)
    export = path.export(tmp_path / "two.sqlite")
    told = {COMMUNICATOR: made} if made else None
    measured = measure_file(
        with_payloads(export, {"ncclAllReduce": [Message(2_000_000)]}, ranks=told)
    )

    for device in measured.devices:
        (one,) = device_speeds(device.collectives)
        assert (one.count, one.time_ns, one.ranks) == (5, 1_000_000, ranks)
        assert one.bus_gbs == pytest.approx(bus)
        assert one.waits_included is included
    assert device.collectives.met.tolist() == [2] * 5


def test_different_communicators_never_meet(tmp_path: Path) -> None:
    export = picture(TWO, column_us=100, repeat=5).export(tmp_path / "two.sqlite")
    with_payloads(
        export,
        {"ncclAllReduce": [Message(1, n % 2 + 1) for n in range(10)]},
    )

    assert measure_file(export).meetings == ()


def test_two_gpus_with_the_buckets_of_six_layers(real_export: RealExport) -> None:
    path = real_export("ddp_payload")
    rows = query(
        path,
        "SELECT deviceId, start, k.end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds"
        " ON id = shortName WHERE value LIKE 'nccl%' ORDER BY start",
    )
    pairs = [[r for r in rows if r[0] == device] for device in (0, 1)]
    assert [len(pair) for pair in pairs] == [12, 12]
    # Three buckets in each of four steps; the first step is warm-up here.
    moving = [
        max(int(str(a[2])), int(str(b[2]))) - max(int(str(a[1])), int(str(b[1])))
        for a, b in zip(*pairs, strict=True)
    ][3:]

    measured = measure_file(path, skip=1)

    for device in measured.devices:
        (one,) = device_speeds(device.collectives)
        assert (one.kind, one.count, one.ranks) == ("all-reduce", 9, 2)
        assert one.least_bytes == one.most_bytes == BUCKET
        assert one.bytes == 9 * BUCKET
        assert one.time_ns == sum(moving)
        # Two ranks: 2 (2 - 1) / 2 = 1.
        assert one.bus_gbs == one.algorithm_gbs == pytest.approx(9 * BUCKET / sum(moving))
        # Below what NVLink of an H200 carries one way.
        assert one.bus_gbs is not None
        assert 200 < one.bus_gbs < 450
        assert not one.waits_included
    (meeting,) = measured.meetings
    assert meeting.bytes.tolist() == [BUCKET] * 9
    assert meeting.ranks == 2
    said = f"9 x all-reduce of 144.0 MiB at {9 * BUCKET / sum(moving):.1f} GB/s bus bandwidth"
    assert any(said in line for line in evidence(measured))


def test_every_format_shows_it_and_the_result_comes_back(real_export: RealExport) -> None:
    report = pipeline.analyze(real_export("ddp_payload"))

    assert "GB/s bus" in " ".join(renderers()["terminal"].render(report).split())
    (one,) = report.devices[0].collective_speeds
    assert one.most_bytes == BUCKET
    assert '"communicator": "0xd9f7f697a93a5988"' in renderers()["json"].render(report)


def test_nothing_is_shown_where_nothing_is_recorded(real_export: RealExport) -> None:
    report = pipeline.analyze(real_export("ddp_bucketed"))

    assert all(device.collective_speeds == () for device in report.devices)
    assert "bus bandwidth" not in renderers()["terminal"].render(report)
