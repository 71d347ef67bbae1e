from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck.copies import Direction
from overlapcheck.measurements import DeviceMeasurements, StreamRole, StreamTimeline
from tests.export import edit
from tests.pictures import measure_file, picture


def stream(device: DeviceMeasurements, stream_id: int) -> StreamTimeline:
    (found,) = [s for s in device.streams if s.stream_id == stream_id]
    return found


def test_a_stream_has_its_busy_time_by_kind_of_work() -> None:
    device = picture("""
        s7 kernel k          |aaaa..........|
        s7 kernel ncclKernel |....bb........|
        s7 h2d pinned 1B     |......cc......|
        s7 memset 1KiB       |.........d....|
        s8 kernel l          |.............e|
        """).device()
    mixed = stream(device, 7)

    assert mixed.compute.total_ns == 4_000
    assert mixed.communication.total_ns == 2_000
    assert mixed.copies[Direction.H2D].total_ns == 2_000
    assert mixed.memset.total_ns == 1_000
    assert list(mixed.busy) == [(0, 8_000), (9_000, 10_000)]
    assert mixed.kernels == 2


@pytest.mark.parametrize(
    ("row", "role"),
    [
        ("kernel k", StreamRole.COMPUTE),
        ("graph", StreamRole.COMPUTE),
        ("kernel ncclKernel", StreamRole.COMMUNICATION),
        ("h2d pinned 1B", StreamRole.COPY),
        ("d2d 1B", StreamRole.COPY),
        ("memset 1B", StreamRole.MEMSET),
    ],
)
def test_a_streams_role_is_what_it_does_most_of_the_time(row: str, role: StreamRole) -> None:
    device = picture(f"""
        s7  kernel k        |aa......bb|
        s13 {row} |cccc......|
        s13 kernel l        |....d.....|
        """).device()

    assert stream(device, 13).role is role


def test_busiest_streams_come_first_and_idle_ones_not_at_all() -> None:
    device = picture(
        """
        s7  kernel k |aa......bb|
        s13 kernel k |.cccccc...|
        s14 kernel k |..ddddd...|
        """,
        streams={"7": "null", "99": "non-blocking"},
    ).device()

    assert [s.stream_id for s in device.streams] == [13, 14, 7]


def test_a_stream_idle_in_the_window_is_not_listed() -> None:
    device = picture("""
        s7  kernel k      |..aaaa..|
        s13 h2d pinned 1B |bb......|
        """).device(window_ns=(2_000, 6_000))

    assert [s.stream_id for s in device.streams] == [7]


def test_kind_and_priority_are_those_of_the_export() -> None:
    device = picture(
        """
        s7  kernel k |aa......bb|
        s13 kernel k |.cccccc...|
        s14 kernel k |..ddddd...|
        """,
        streams={"7": "null", "13": "blocking", "14": "non-blocking"},
        priorities={"14": -5},
    ).device()

    assert [stream(device, s).kind for s in (7, 13, 14)] == ["null", "blocking", "non-blocking"]
    assert [stream(device, s).priority for s in (13, 14)] == [0, -5]


NULL_ON_15 = """
gpu0 s7  kernel k |aaaa......|
gpu0 s13 kernel k |..bbbb....|
gpu1 s7  kernel k |cccc......|
gpu1 s15 kernel k |..dddd....|
"""
NULL_STREAMS = {"gpu0 s7": "null", "gpu1 s7": "non-blocking", "gpu1 s15": "null"}
NO_CONTEXTS = "DROP TABLE TARGET_INFO_CUDA_CONTEXT_INFO"


def kinds(path: Path) -> list[dict[int, str]]:
    devices = measure_file(path).devices
    return [{s.stream_id: s.kind for s in device.streams} for device in devices]


EXPECTED = [{7: "null", 13: "non-blocking"}, {7: "non-blocking", 15: "null"}]


def test_the_null_stream_is_the_one_that_the_export_names(tmp_path: Path) -> None:
    path = picture(NULL_ON_15, streams=NULL_STREAMS).export(tmp_path / "named.sqlite")
    edit(path, "UPDATE TARGET_INFO_CUDA_STREAM SET flag = 2 WHERE flag = 3")

    assert kinds(path) == EXPECTED


def test_the_null_stream_is_the_one_described_as_such(tmp_path: Path) -> None:
    path = picture(NULL_ON_15, streams=NULL_STREAMS).export(tmp_path / "flagged.sqlite")
    edit(path, NO_CONTEXTS)

    assert kinds(path) == EXPECTED


def test_the_null_stream_is_inferred_from_not_being_described(tmp_path: Path) -> None:
    """Trimmed exports name no null stream; on a second device it need not be number 7."""
    path = picture(NULL_ON_15, streams=NULL_STREAMS).export(tmp_path / "inferred.sqlite")
    edit(path, NO_CONTEXTS, "DELETE FROM TARGET_INFO_CUDA_STREAM WHERE flag = 3")

    assert kinds(path) == EXPECTED


def test_without_any_description_no_stream_is_called_null(tmp_path: Path) -> None:
    path = picture(NULL_ON_15, streams=NULL_STREAMS).export(tmp_path / "bare.sqlite")
    edit(path, NO_CONTEXTS, "DROP TABLE TARGET_INFO_CUDA_STREAM")

    assert kinds(path) == [{7: "unknown", 13: "unknown"}, {7: "unknown", 15: "unknown"}]


def test_a_named_null_stream_does_not_make_an_undescribed_one_null(tmp_path: Path) -> None:
    path = picture(NULL_ON_15, streams=NULL_STREAMS).export(tmp_path / "both.sqlite")
    edit(path, "DELETE FROM TARGET_INFO_CUDA_STREAM WHERE streamId = 13")

    assert kinds(path)[0] == {7: "null", 13: "unknown"}


def test_streams_of_equal_number_in_two_processes_stay_apart() -> None:
    one, two = (
        picture(
            """
        p1 s13 kernel k |aaaa....|
        p2 s13 kernel k |bb......|
        """,
            streams={"p1 gpu0 s13": "blocking", "p2 gpu0 s13": "non-blocking"},
        )
        .measure()
        .devices
    )

    assert [s.kind for s in one.streams] == ["blocking"]
    assert [s.kind for s in two.streams] == ["non-blocking"]
    assert (one.streams[0].busy.total_ns, two.streams[0].busy.total_ns) == (4_000, 2_000)


def test_unified_memory_migrations_are_no_stream() -> None:
    device = picture("""
        s7  kernel k  |aaaaaa..bb|
        uvm h2d 32KiB |..cc......|
        """).device()

    assert [s.stream_id for s in device.streams] == [7]


def test_a_stream_may_have_the_number_one() -> None:
    (stream,) = picture("s1 kernel k |aa|").device().streams

    assert stream.stream_id == 1


@pytest.mark.parametrize(("window", "kernels"), [((2_000, 5_000), 1), ((1_999, 5_001), 3)])
def test_kernels_that_only_touch_an_edge_of_the_window_are_not_in_it(
    window: tuple[int, int], kernels: int
) -> None:
    (stream,) = picture("s7 kernel k |aabbbcc|").device(window_ns=window).streams

    assert stream.kernels == kernels
