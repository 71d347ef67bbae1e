"""All edges of a process with their proof, drawn and on real traces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, constant
from overlapcheck.order import Order, Relation
from overlapcheck.passes.order.event_waits import latest_records, records_of, sync_rows
from overlapcheck.passes.order.process_order import Orders
from overlapcheck.passes.process import process_tables
from overlapcheck.selection import Selection
from overlapcheck.sources.nsys.read import read_trace
from overlapcheck.trace import Trace, processes_of
from overlapcheck.trace_tables import EventRecords, Syncs
from tests.conftest import EXPORTS
from tests.export import RealExport, edit
from tests.pictures import picture

NAMES = sorted(path.name.split(".")[0] for path in EXPORTS.glob("*.sqlite*"))


def order_of(text: str, **options: Any) -> tuple[Trace, Order]:
    trace = picture(text, column_us=10, **options).trace()
    (process,) = process_tables(trace, processes_of((trace.kernels, trace.copies)))
    return trace, Orders(Selection()).of(process)


def told(trace: Trace, order: Order, *relations: Relation) -> list[tuple[str, str]]:
    """Edges as names of operations: kernels by theirs, others by their kind of work."""
    ops = order.operations

    def name(row: int) -> str:
        known = trace.strings.text(int(ops.name_id[row]))
        return known or f"s{ops.stream_id[row]}"

    edges = order.edges.of(*relations)
    return sorted(
        (name(b), name(a)) for b, a in zip(edges.before.tolist(), edges.after.tolist(), strict=True)
    )


PREFETCH = """
s7   kernel fwd               |.aaa.....bbb|
s13  h2d pinned 64MiB         |....cccc....|
t1   cudaLaunchKernel         |a.......b...|
t1   cudaMemcpyAsync          |..c.........|
t1   cudaEventRecord          |.r.x........|
t1   cudaStreamWaitEvent      |.....w......|
"""


def test_an_operation_keeps_all_its_predecessors_not_only_the_one_that_held_it() -> None:
    trace, order = order_of(
        PREFETCH,
        records=[{"call": "x", "stream": 13}, {"call": "r", "stream": 7}],
        waits=[{"call": "w", "stream": 7, "record": "x"}],
    )

    assert told(trace, order, Relation.STREAM) == [("fwd", "fwd")]
    assert told(trace, order, Relation.EVENT) == [("s13", "fwd")]


def test_an_event_edge_names_the_call_that_made_the_stream_wait() -> None:
    trace, order = order_of(
        PREFETCH,
        records=[{"call": "x", "stream": 13}, {"call": "r", "stream": 7}],
        waits=[{"call": "w", "stream": 7, "record": "x"}],
    )
    (call,) = order.edges.of(Relation.EVENT).call.tolist()
    names = [trace.strings.text(i) for i in trace.api_calls.name_id.tolist()]  # type: ignore[union-attr]

    assert names[call] == "cudaStreamWaitEvent"
    assert set(order.edges.of(Relation.STREAM).call.tolist()) == {ABSENT}


def test_an_event_of_another_device_orders_the_operations_of_both() -> None:
    trace, order = order_of(
        """
gpu0 s13  kernel produce      |.aaa........|
gpu1 s14  kernel consume      |.....bbb....|
t1   cudaLaunchKernel         |a...b.......|
t1   cudaEventRecord          |.r..........|
t1   cudaStreamWaitEvent      |..w.........|
""",
        records=[{"call": "r", "stream": 13, "gpu": 0}],
        waits=[{"call": "w", "stream": 14, "gpu": 1, "record": "r"}],
    )

    assert order.operations.device_id.tolist() == [0, 1]
    assert told(trace, order, Relation.EVENT) == [("produce", "consume")]


def test_a_host_wait_orders_what_the_thread_submits_next() -> None:
    trace, order = order_of(
        """
s13  kernel one               |.aaaa.......|
s14  kernel two               |..bbbbb.....|
s15  kernel three             |.........ccc|
t1   cudaLaunchKernel         |ab......c...|
t1   cudaDeviceSynchronize    |..xxxxx.....|
"""
    )

    assert told(trace, order, Relation.HOST) == [("one", "three"), ("two", "three")]


def test_a_host_wait_for_one_stream_orders_only_that_one() -> None:
    trace, order = order_of(
        """
s13  kernel one               |.aaaa.......|
s14  kernel two               |..bbbbbbbbbb|
s15  kernel three             |.........ccc|
t1   cudaLaunchKernel         |ab......c...|
t1   cudaStreamSynchronize    |..xxx.......|
""",
        waits=[{"call": "x", "stream": 13}],
    )

    assert told(trace, order, Relation.HOST) == [("one", "three")]


def test_what_another_thread_submits_is_not_ordered_by_a_wait() -> None:
    trace, order = order_of(
        """
s13  kernel one               |.aaaa.......|
s15  kernel three             |.........ccc|
t1   cudaLaunchKernel         |a...........|
t1   cudaDeviceSynchronize    |..xxx.......|
t2   cudaLaunchKernel         |........c...|
"""
    )

    assert told(trace, order, Relation.HOST) == []


WAITING = """
s7   kernel fwd               |.aaaa.......bbb|
s13  h2d pinned 64MiB         |.....ccccccc...|
t1   cudaLaunchKernel         |a......b.......|
t1   cudaMemcpyAsync          |..c............|
t1   cudaEventRecord          |...r...........|
t1   cudaStreamWaitEvent      |.....w.........|
"""
PAIRED: dict[str, Any] = {
    "records": [{"call": "r", "stream": 13}],
    "waits": [{"call": "w", "stream": 7, "record": "r"}],
}


def test_without_event_rows_an_edge_is_inferred() -> None:
    _, proven = order_of(WAITING, **PAIRED)
    _, inferred = order_of(WAITING, event_rows=False, **PAIRED)

    assert proven.edges.of(Relation.EVENT).inferred.tolist() == [False]
    assert inferred.edges.of(Relation.EVENT).inferred.tolist() == [True]


def test_without_ids_that_pair_them_a_wait_takes_the_latest_record_of_its_event() -> None:
    trace = picture(
        PREFETCH,
        column_us=10,
        records=[{"call": "x", "stream": 13}, {"call": "r", "stream": 7}],
        waits=[{"call": "w", "stream": 7, "record": "x"}],
    ).trace()
    assert isinstance(trace.event_records, EventRecords)
    assert isinstance(trace.syncs, Syncs)
    unpaired = constant(ABSENT, len(trace.event_records))
    records = replace(trace.event_records, event_sync_id=unpaired)
    syncs = replace(trace.syncs, event_sync_id=constant(ABSENT, len(trace.syncs)))
    older = replace(trace, event_records=records, syncs=syncs)
    (process,) = process_tables(older, processes_of((older.kernels,)))
    order = Orders(Selection()).of(process)

    assert told(older, order, Relation.EVENT) == [("s13", "fwd")]
    assert order.edges.of(Relation.EVENT).inferred.tolist() == [False]


@pytest.mark.parametrize("name", NAMES)
def test_edges_are_linear_in_the_rows_and_lie_within_them(
    name: str, real_export: RealExport
) -> None:
    trace = read_trace(real_export(name))
    for process in process_tables(trace, processes_of((trace.kernels, trace.copies))):
        order = Orders(Selection()).of(process)
        rows, edges = len(order.operations), order.edges
        threads = np.unique(process.calls.tid).size

        assert len(edges) <= (4 + threads) * rows + len(process.calls)
        for column in (edges.before, edges.after):
            assert ((column >= 0) & (column < rows)).all()
        assert (edges.before != edges.after).all()
        assert (np.diff(order.operations.start_ns) >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_latest_record_of_the_event_is_the_one_that_the_sync_id_names(
    name: str, real_export: RealExport
) -> None:
    trace = read_trace(real_export(name))
    for process in process_tables(trace, processes_of((trace.kernels, trace.copies))):
        records, syncs = process.event_records, process.syncs
        waits = np.flatnonzero(syncs.event_sync_id != ABSENT)
        by_id = records_of(records, syncs, waits)
        known = by_id != ABSENT
        if known.any():
            assert latest_records(records, syncs, waits)[known].tolist() == by_id[known].tolist()


def test_a_peer_copy_that_is_recorded_twice_is_one_operation(tmp_path: Path) -> None:
    """Two that differ stay two."""
    text = """
        gpu0 s7  kernel k            |aaaaaa....|
        gpu1 s15 p2p 64MiB from gpu0 |....cccc..|
        gpu1 s16 p2p 4KiB from gpu0  |.....dddd.|
        """
    table = "CUPTI_ACTIVITY_KIND_MEMCPY"
    path = picture(text).export(tmp_path / "peer.sqlite")
    for repeated in (False, True):
        if repeated:
            edit(path, f"INSERT INTO {table} SELECT * FROM {table} WHERE streamId = 15")
        trace = read_trace(path)
        (process,) = process_tables(trace, processes_of((trace.kernels, trace.copies)))

        assert Orders(Selection()).of(process).operations.stream_id.tolist() == [7, 15, 16]


@pytest.mark.parametrize(
    ("event", "made", "found"),
    [
        (5, 12, 0),  # of two records of event 5, the one made before
        (5, 30, 2),
        (5, 10, ABSENT),  # made with the first, not before
        (5, 7, ABSENT),
        (6, 12, ABSENT),  # recorded later
        (6, 30, 1),
        (7, 30, ABSENT),
        (ABSENT, 30, ABSENT),
        (8, 1, 3),  # calls are numbered from 0
        (8, 0, ABSENT),
    ],
)
def test_the_latest_record_is_of_the_event_and_was_made_before(
    event: int, made: int, found: int
) -> None:
    records = EventRecords.filled(4, event_id=[5, 6, 5, 8], correlation_id=[10, 15, 20, 0])
    syncs = Syncs.filled(1, event_id=event, correlation_id=made)
    wait = np.zeros(1, dtype=np.intp)

    assert latest_records(records, syncs, wait).tolist() == [found]
    assert latest_records(records, syncs, wait - 1).tolist() == [ABSENT]


def test_a_wait_for_an_event_that_is_not_named_takes_no_record_of_one_that_is_not() -> None:
    records = EventRecords.filled(1, correlation_id=10)
    wait = np.zeros(1, dtype=np.intp)

    assert latest_records(records, Syncs.filled(1, correlation_id=12), wait).tolist() == [ABSENT]


def test_a_call_without_an_id_takes_no_row_that_has_none() -> None:
    """Rows are matched by their start then, and this one starts elsewhere."""
    trace = picture(PREFETCH, waits=[{"call": "w", "stream": 7}]).trace()
    (process,) = process_tables(trace, processes_of((trace.kernels,)))
    calls = np.flatnonzero(process.call_kind == ApiKind.WAIT_EVENT)
    unnumbered = replace(
        process,
        calls=replace(process.calls, correlation_id=constant(ABSENT, len(process.calls))),
        syncs=replace(process.syncs, correlation_id=constant(ABSENT, 1)),
    )
    elsewhere = replace(
        unnumbered, syncs=replace(unnumbered.syncs, start_ns=process.syncs.start_ns + 1)
    )

    assert sync_rows(process, calls).tolist() == [0]
    assert sync_rows(unnumbered, calls).tolist() == [0]
    assert sync_rows(elsewhere, calls).tolist() == [ABSENT]


def test_a_host_wait_orders_only_the_last_operation_of_each_stream() -> None:
    trace, order = order_of(
        """
s13  kernel one               |.aa.........|
s13  kernel two               |...bb.......|
s14  kernel other             |.cc.........|
s14  kernel more              |...dd.......|
s15  kernel three             |.........eee|
t1   cudaLaunchKernel         |abcd....e...|
t1   cudaDeviceSynchronize    |....xx......|
"""
    )

    assert told(trace, order, Relation.HOST) == [("more", "three"), ("two", "three")]


def test_a_wait_orders_only_what_no_earlier_wait_of_its_thread_did() -> None:
    trace, order = order_of(
        """
s13  kernel one               |.aa.........|
s14  kernel two               |......bb....|
s15  kernel three             |....cc......|
s15  kernel four              |..........dd|
t1   cudaLaunchKernel         |a...bc...d..|
t1   cudaDeviceSynchronize    |..xx..yy....|
"""
    )

    assert told(trace, order, Relation.HOST) == [
        ("one", "two"),
        ("three", "four"),
        ("two", "four"),
    ]


TWO_DEVICES = """
gpu0 s13 kernel one           |.aaaa............|
gpu1 s14 kernel two           |..bbbbbbb........|
gpu0 s15 kernel late          |.........ccc.....|
gpu1 s14 kernel three         |..............ddd|
t1   cudaLaunchKernel         |ab.....c.....d...|
t1   cudaDeviceSynchronize    |...xxx....yy.....|
"""


@pytest.mark.parametrize(
    ("devices", "found"),
    [
        ((0, 1), [("one", "late"), ("two", "three")]),
        ((1, 0), [("late", "three"), ("one", "three"), ("two", "late")]),
        ((0, 0), [("late", "three"), ("one", "late")]),
    ],
)
def test_a_wait_for_a_device_orders_what_that_device_was_given(
    devices: tuple[int, int], found: list[tuple[str, str]]
) -> None:
    waits = [{"call": "xy"[n], "gpu": gpu} for n, gpu in enumerate(devices)]

    assert told(*order_of(TWO_DEVICES, waits=waits), Relation.HOST) == found


def test_where_it_is_not_known_for_which_of_several_devices_a_wait_orders_nothing() -> None:
    waits = [{"call": "x", "gpu": 0}]

    assert told(*order_of(TWO_DEVICES), Relation.HOST) == []
    assert told(*order_of(TWO_DEVICES, waits=waits), Relation.HOST) == [("one", "late")]


def test_of_one_device_it_is_known_whatever_moves_by_itself() -> None:
    """Migrations of unified memory are rows of no context."""
    text = TWO_DEVICES.replace("gpu1", "gpu0") + "uvm h2d 64KiB |.......mm........|\n"

    assert told(*order_of(text), Relation.HOST) == [
        ("late", "three"),
        ("one", "late"),
        ("two", "late"),
    ]
