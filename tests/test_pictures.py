"""The builder itself: a wrong drawing machine would make every other test worthless."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlapcheck.columns import ABSENT
from overlapcheck.kinds import CopyKind, MemoryKind, StreamKind
from overlapcheck.trace import Missing, rows_or_none
from overlapcheck.trace_tables import (
    ApiCalls,
    Contexts,
    Copies,
    Directives,
    EventRecords,
    Kernels,
    MpiCalls,
    OsCalls,
    Overheads,
    Ranges,
    Streams,
    Syncs,
)
from tests.pictures import PictureError, load_pictures, parse, picture, size_of, tid_of

LINKED = """
s7   kernel fwd               |aaaa....bbbb....|
s13  h2d pageable 64MiB       |....cccc........|
t1   cudaLaunchKernel         |a...............|
t1   cudaMemcpyAsync          |..cccccc........|
"""


def test_a_run_of_one_letter_is_one_operation_of_its_columns() -> None:
    kernels = rows_or_none(picture(LINKED, column_us=100).trace().kernels, Kernels)

    assert kernels.start_ns.tolist() == [0, 800_000]
    assert kernels.end_ns.tolist() == [400_000, 1_200_000]


def test_the_same_letter_links_a_call_and_its_operation() -> None:
    trace = picture(LINKED).trace()
    calls, copies = rows_or_none(trace.api_calls, ApiCalls), rows_or_none(trace.copies, Copies)
    kernels = rows_or_none(trace.kernels, Kernels)
    by_name = {
        trace.strings.text(int(n)): int(c)
        for n, c in zip(calls.name_id, calls.correlation_id, strict=True)
    }

    assert copies.correlation_id.tolist() == [by_name["cudaMemcpyAsync"]]
    assert int(kernels.correlation_id[0]) == by_name["cudaLaunchKernel"]
    assert int(kernels.correlation_id[1]) not in by_name.values()


def test_copies_have_direction_size_and_memory() -> None:
    copies = rows_or_none(
        picture("""
        s7 h2d pageable 4B       |a.....|
        s7 d2h pinned 1KiB       |.b....|
        s7 d2d 2MB               |..c...|
        gpu1 s7 p2p 5 from gpu2  |...d..|
        gpu1 s7 p2p 6 to gpu3    |....e.|
        uvm h2d 32KiB            |.....f|
        """)
        .trace()
        .copies,
        Copies,
    )

    assert copies.kind.tolist() == [
        CopyKind.HOST_TO_DEVICE,
        CopyKind.DEVICE_TO_HOST,
        CopyKind.DEVICE_TO_DEVICE,
        CopyKind.PEER_TO_PEER,
        CopyKind.PEER_TO_PEER,
        CopyKind.UNIFIED_HOST_TO_DEVICE,
    ]
    assert copies.bytes.tolist() == [4, 1024, 2_000_000, 5, 6, 32768]
    assert copies.source[:2].tolist() == [MemoryKind.PAGEABLE, MemoryKind.DEVICE]
    assert copies.destination[:2].tolist() == [MemoryKind.DEVICE, MemoryKind.PINNED]
    assert copies.source_device_id[3:5].tolist() == [2, 1]
    assert copies.destination_device_id[3:5].tolist() == [1, 3]
    assert (copies.stream_id[5], copies.correlation_id[5]) == (ABSENT, ABSENT)


def test_repeating_shifts_times_renews_ids_and_numbers_ranges_on() -> None:
    trace = picture(
        """
        s7 kernel k         |.aa.|
        t1 cudaLaunchKernel |a...|
        t1 nvtx step        |0011|
        t1 nvtx epoch       |xxxx|
        """,
        repeat=3,
    ).trace()
    kernels, ranges = rows_or_none(trace.kernels, Kernels), rows_or_none(trace.ranges, Ranges)
    names = [trace.strings.text(int(i)) for i in ranges.name_id]

    assert kernels.start_ns.tolist() == [1000, 5000, 9000]
    assert len(set(kernels.correlation_id.tolist())) == 3
    assert [n for n in names if n != "epoch"] == [f"step {n}" for n in range(6)]
    assert names.count("epoch") == 3


def test_waits_name_their_record_and_the_waiting_stream() -> None:
    drawing = picture(
        """
        s7 kernel k            |aa.....|
        t1 cudaEventRecord     |.e.....|
        t1 cudaStreamWaitEvent |..w.v..|
        t1 cudaStreamSynchronize |......s|
        """,
        repeat=2,
        records=[{"call": "e", "stream": 14}],
        waits=[
            {"call": "w", "stream": 13, "record": "e"},
            {"call": "v", "stream": 13},
            {"call": "s", "stream": 7},
        ],
    )
    trace = drawing.trace()
    records = rows_or_none(trace.event_records, EventRecords)
    syncs = rows_or_none(trace.syncs, Syncs)

    assert records.stream_id.tolist() == [14, 14]
    assert syncs.stream_id.tolist() == [13, 13, 7] * 2
    assert syncs.event_sync_id[[0, 3]].tolist() == records.event_sync_id.tolist()
    assert syncs.never_recorded.tolist() == [False, True, False] * 2
    assert syncs.event_sync_id[[2, 5]].tolist() == [ABSENT, ABSENT]


def test_a_wait_can_name_the_record_of_the_repetition_before() -> None:
    trace = picture(
        """
        t1 cudaEventRecord     |e..|
        t1 cudaStreamWaitEvent |.w.|
        """,
        repeat=3,
        records=[{"call": "e", "stream": 14}],
        waits=[{"call": "w", "stream": 13, "record": "e", "back": 1}],
    ).trace()

    assert rows_or_none(trace.syncs, Syncs).event_sync_id.tolist() == [ABSENT, 1, 2]


def test_without_event_rows_nothing_pairs_waits_with_records() -> None:
    trace = picture(
        """
        t1 cudaEventRecord     |e..|
        t1 cudaStreamWaitEvent |.w.|
        """,
        event_rows=False,
        records=[{"call": "e", "stream": 14}],
        waits=[{"call": "w", "stream": 13, "record": "e"}],
    ).trace()

    assert isinstance(trace.event_records, Missing)
    assert rows_or_none(trace.syncs, Syncs).event_sync_id.tolist() == [ABSENT]


def test_streams_have_kind_and_priority_per_context() -> None:
    trace = picture(
        """
        s7 kernel k       |a...|
        gpu1 s15 kernel k |.b..|
        """,
        streams={"7": "null", "14": "blocking", "gpu1 s15": "null"},
        priorities={"14": -5},
    ).trace()
    streams = rows_or_none(trace.streams, Streams)
    contexts = rows_or_none(trace.contexts, Contexts)
    kinds = {
        (int(c), int(s)): StreamKind(int(k))
        for c, s, k in zip(streams.context_id, streams.stream_id, streams.kind, strict=True)
    }

    assert kinds[1, 14] is StreamKind.BLOCKING
    assert kinds[2, 15] is StreamKind.NULL
    assert (1, 15) not in kinds
    assert set(streams.priority.tolist()) == {0, -5}
    assert contexts.context_id.tolist() == [1, 2]


def test_host_rows_become_os_calls_and_overheads_of_their_thread() -> None:
    trace = picture(
        """
        t1 cudaLaunchKernel     |a....|
        t1 os pthread_cond_wait |.xx..|
        t2 overhead CUPTI flush |..yy.|
        """,
        threads={"t2": "pt_autograd_0"},
    ).trace()
    os_calls = rows_or_none(trace.os_calls, OsCalls)
    overheads = rows_or_none(trace.overheads, Overheads)

    assert [trace.strings.text(int(i)) for i in os_calls.name_id] == ["pthread_cond_wait"]
    assert os_calls.tid.tolist() == [tid_of(1, 1)]
    assert [trace.strings.text(int(i)) for i in overheads.name_id] == ["CUPTI flush"]
    assert trace.thread_names[0, tid_of(1, 2)] == "pt_autograd_0"


def test_host_rows_become_mpi_calls_and_directives() -> None:
    trace = picture(
        """
        t1 cudaLaunchKernel      |a....|
        t1 mpi MPI_Waitall       |.xx..|
        t1 acc Enter data fv.F90:27 |...yy|
        """
    ).trace()
    mpi_calls = rows_or_none(trace.mpi_calls, MpiCalls)
    directives = rows_or_none(trace.directives, Directives)

    assert [trace.strings.text(int(i)) for i in mpi_calls.name_id] == ["MPI_Waitall"]
    assert (mpi_calls.end_ns - mpi_calls.start_ns).tolist() == [2_000]
    assert [trace.strings.text(int(i)) for i in directives.name_id] == ["Enter data"]
    assert [trace.strings.text(int(i)) for i in directives.file_id] == ["fv.F90"]
    assert directives.line.tolist() == [27]
    assert directives.tid.tolist() == [tid_of(1, 1)]


def test_two_processes_share_correlation_ids() -> None:
    kernels = rows_or_none(
        picture("""
        p1 s7 kernel k |aa..|
        p2 s7 kernel k |..bb|
        """)
        .trace()
        .kernels,
        Kernels,
    )

    assert kernels.correlation_id.tolist() == [1, 1]
    assert kernels.process.tolist() == [0, 1]


def test_exact_times_replace_columns_for_one_kind_of_row() -> None:
    trace = picture(
        """
        s7 kernel k         |.aa.|
        t1 cudaLaunchKernel |a...|
        """,
        column_us=100,
        repeat=2,
        host_us={"a": [3, 4.5]},
    ).trace()

    assert rows_or_none(trace.api_calls, ApiCalls).end_ns.tolist() == [4_500, 404_500]
    assert rows_or_none(trace.kernels, Kernels).start_ns.tolist() == [100_000, 500_000]


def test_scale_divides_columns() -> None:
    kernels = rows_or_none(picture("s7 kernel k |.a|", scale=1000).trace().kernels, Kernels)

    assert kernels.start_ns.tolist() == [1]


def test_a_graph_launch_may_launch_several_operations_as_nodes() -> None:
    trace = picture("""
        s7 kernel k        |.a.a|
        s7 h2d pinned 4KiB |..a.|
        t1 cudaGraphLaunch |a...|
        """).trace()
    kernels = rows_or_none(trace.kernels, Kernels)

    assert len(set(kernels.correlation_id.tolist())) == 1
    assert (kernels.graph_node_id > 0).all()
    assert not kernels.opaque.any()


def test_a_graph_row_is_an_opaque_block() -> None:
    kernels = rows_or_none(picture("s7 graph |aa|").trace().kernels, Kernels)

    assert kernels.opaque.tolist() == [True]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("s7 kernel k |aa|\ns8 kernel k |bbb|", "different"),
        ("s7 kernel k |aa.a|", "'a' is drawn more than once"),
        ("t1 cudaMalloc |a.|\nt1 cudaFree |.a|", "'a' is drawn more than once"),
        ("kernel k |aa|", "kernel k"),
        ("s7 kernel k aa", "kernel k"),
        ("s7 kernel k |11|", "letters, not '1'"),
        ("p1 s7 kernel k |a.|\np2 t1 cudaLaunchKernel |.a|", "links two processes"),
        ("", "no width"),
    ],
)
def test_a_malformed_picture_names_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(PictureError, match=complaint):
        picture(text)


def test_an_unknown_kind_of_work_is_an_error() -> None:
    with pytest.raises(PictureError, match="unknown kind of GPU row: s7 kernle k"):
        picture("s7 kernle k |aa|").trace()


def test_a_misspelt_key_is_an_error_unless_the_reader_knows_it() -> None:
    options = {"picture": "s7 kernel k |a|", "colum_us": 3}

    with pytest.raises(PictureError, match="colum_us"):
        parse("p", options)
    assert parse("p", options, extra_keys=["colum_us"]).options["colum_us"] == 3


def test_a_file_holds_many_pictures_and_their_common_keys(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text("""
        column_us = 10
        streams = { 7 = "null" }
        [first]
        picture = "s7 kernel k |a|"
        [second]
        column_us = 20
        picture = "s7 kernel k |b|"
    """)
    found = load_pictures(file)

    assert {name: p.column_ns for name, p in found.items()} == {"first": 10_000, "second": 20_000}
    assert found["second"].options["streams"] == {"7": "null"}


@pytest.mark.parametrize(
    ("text", "size"),
    [("4", 4), ("4B", 4), ("1.5KiB", 1536), ("64MiB", 64 << 20), ("12.5MB", 12_500_000)],
)
def test_sizes_are_read_with_their_units(text: str, size: int) -> None:
    assert size_of(text) == size


def test_a_picture_prints_as_it_was_drawn() -> None:
    assert "|aaaa....bbbb....|" in str(picture(LINKED, column_us=100))
    assert "one column = 100000 ns" in str(picture(LINKED, column_us=100))
