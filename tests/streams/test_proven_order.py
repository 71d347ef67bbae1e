"""Proven order never contradicts time: what must have ended before, had ended before."""

from __future__ import annotations

import numpy as np
import pytest

from overlapcheck.columns import ABSENT_TIME
from overlapcheck.measurements import Measurements
from overlapcheck.stream_waits import StreamWaits
from overlapcheck.streams.happens_before import HappensBefore
from tests.export import RealExport
from tests.pictures import picture
from tests.streams.programs import DOUBLE_BUFFER, SHARED, measured_export, unpacked

TRACES = sorted((SHARED / "traces").glob("*.sqlite.xz"))
FIXTURES = ("cu_double_buffer", "cu_legacy_default", "cu_sync_memcpy", "ddp_bucketed", "pt_graph")


def assert_in_time(measured: Measurements) -> None:
    for waits in measured.waits:
        latest = HappensBefore(waits).latest_ends()
        start = waits.operations.start_ns
        held = latest != ABSENT_TIME
        assert (latest[held] <= start[held]).all()


@pytest.mark.parametrize("name", FIXTURES)
def test_no_ordered_pair_of_a_real_program_overlaps(name: str, real_export: RealExport) -> None:
    assert_in_time(measured_export(real_export(name)))


@pytest.mark.skipif(not TRACES, reason="../shared with the recordings is not here")
def test_no_ordered_pair_of_any_recording_overlaps(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("traces")
    for path in TRACES:
        export = unpacked(path, folder)
        assert_in_time(measured_export(export))
        export.unlink()


def rows_of(waits: StreamWaits, stream_id: int) -> list[int]:
    """Rows of the operations of a stream, in order of hand-over."""
    rows = np.flatnonzero(waits.operations.stream_id == stream_id)
    ordered = rows[np.argsort(waits.operations.launch_start_ns[rows])]
    return [int(row) for row in ordered]


def test_order_goes_over_several_waits_and_no_further() -> None:
    (waits,) = (
        picture(
            DOUBLE_BUFFER,
            column_us=10,
            repeat=4,
            streams={"7": "non-blocking", "13": "non-blocking"},
            records=[{"call": "r", "stream": 13}, {"call": "d", "stream": 7}],
            waits=[
                {"call": "u", "stream": 13, "record": "d", "back": 2},
                {"call": "w", "stream": 7, "record": "r"},
            ],
        )
        .measure(stream_waits=True)
        .waits
    )
    order = HappensBefore(waits)
    kernels, copies = rows_of(waits, 7), rows_of(waits, 13)

    assert order.before(copies[0], kernels[0])
    assert order.before(copies[0], kernels[7])
    assert not order.before(copies[1], kernels[1])  # of the step before
    assert order.before(kernels[1], copies[2])
    assert not order.before(kernels[3], copies[2])
    assert order.before(copies[0], copies[3])  # its own stream
    assert not order.before(kernels[0], kernels[0])
    # By way of the kernels of step 0 to the copy of step 2, and on to its kernels.
    (link,) = order.chain(copies[0], kernels[1]) or []
    assert link.how == "event"


def test_what_a_thread_waited_for_orders_what_it_hands_over_next_and_nothing_of_others() -> None:
    measured = picture(
        """
        s7  kernel k              |.kkkk......mmmm..|
        s13 h2d pinned 64MiB      |........cccc.....|
        s14 d2h pinned 64MiB      |...........dddd..|
        t1  cudaLaunchKernel      |k.........m......|
        t1  cudaStreamSynchronize |.wwwww...........|
        t1  cudaMemcpyAsync       |.......c.........|
        t2  cudaMemcpyAsync       |.........d.......|
        """,
        waits=[{"call": "w", "stream": 7}],
        column_us=10,
    ).measure(stream_waits=True)
    (waits,) = measured.waits
    (first, _), (copy,), (other,) = rows_of(waits, 7), rows_of(waits, 13), rows_of(waits, 14)

    assert HappensBefore(waits).before(first, copy)
    assert not HappensBefore(waits).before(first, other)
    assert not HappensBefore(waits, host=False).before(first, copy)


def test_a_stream_that_runs_nothing_hands_order_on() -> None:
    measured = picture(
        """
        s7  kernel k              |.kkkk............|
        s13 h2d pinned 64MiB      |........cccc.....|
        t1  cudaLaunchKernel      |k................|
        t1  cudaEventRecord       |.r..s............|
        t1  cudaStreamWaitEvent   |..v..w...........|
        t1  cudaMemcpyAsync       |.......c.........|
        """,
        records=[{"call": "r", "stream": 7}, {"call": "s", "stream": 19}],
        waits=[
            {"call": "v", "stream": 19, "record": "r"},
            {"call": "w", "stream": 13, "record": "s"},
        ],
        column_us=10,
    ).measure(stream_waits=True)
    (waits,) = measured.waits

    assert HappensBefore(waits).before(rows_of(waits, 7)[0], rows_of(waits, 13)[0])
