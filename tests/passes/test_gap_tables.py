"""Gaps of a device and of its streams, from tables made by hand."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import ComputeGaps, StreamRole, StreamTimeline
from overlapcheck.passes.ledger.compute_gaps import compute_gaps
from overlapcheck.trace_tables import Kernels

Row = tuple[int, int, int, int, int, int, int]
"""Begin, end, context, stream, name before, name after, and time of copies."""
Kernel = tuple[int, int, int, int]
"""Begin, end, stream and name; of context 3."""


def rows(gaps: ComputeGaps) -> list[Row]:
    return list(zip(*(column.tolist() for column in gaps.columns), strict=True))


def found(
    *kernels: Kernel,
    idle: Intervals | None = None,
    communication: tuple[int, ...] = (),
    role: StreamRole = StreamRole.COMPUTE,
    copies: Intervals | None = None,
) -> tuple[list[Row], list[list[Row]]]:
    """Gaps of the device, and of each stream, in a window from 0 to 100."""
    start, end, stream, name = (np.array(column) for column in zip(*kernels, strict=True))
    table = Kernels.filled(
        len(kernels), start_ns=start, end_ns=end, stream_id=stream, name_id=name, context_id=3
    )
    told = np.isin(np.arange(len(kernels)), communication)
    none, streams = Intervals.empty(), []
    for number in np.unique(stream)[::-1].tolist():
        compute = Intervals.of(start[(stream == number) & ~told], end[(stream == number) & ~told])
        streams.append(
            StreamTimeline(3, number, role, "null", None, compute, compute, none, {}, none, 1)
        )
    compute = Intervals.of(start[~told], end[~told])
    given = compute.complement(0, 100) if idle is None else idle
    device, of_streams = compute_gaps(table, told, given, tuple(streams), copies or none)
    return rows(device), [rows(one) for one in of_streams]


ONE = ((10, 20, 7, 1), (30, 40, 7, 2), (60, 70, 7, 4))


def test_the_only_streams_gaps_are_the_devices_without_its_edges() -> None:
    device, (stream,) = found(*ONE, copies=Intervals.span(25, 50))

    assert device == [
        (0, 10, ABSENT, ABSENT, ABSENT, 1, 0),
        (20, 30, ABSENT, ABSENT, 1, 2, 5),
        (40, 60, ABSENT, ABSENT, 2, 4, 10),
        (70, 100, ABSENT, ABSENT, 4, ABSENT, 0),
    ]
    assert stream == [(20, 30, 3, 7, 1, 2, 5), (40, 60, 3, 7, 2, 4, 10)]


def test_a_stream_has_its_own_gaps_where_those_are_not_the_devices() -> None:
    """Of a device that is said to have none, or others."""
    for idle in (Intervals.empty(), Intervals.of([20, 41], [30, 60]), Intervals.span(20, 60)):
        _, (stream,) = found(*ONE, idle=idle)
        assert stream == [(20, 30, 3, 7, 1, 2, 0), (40, 60, 3, 7, 2, 4, 0)]


def test_streams_come_by_number_each_with_its_names() -> None:
    device, streams = found((10, 20, 9, 1), (15, 40, 7, 2), (50, 60, 9, 4), (70, 80, 7, 5))

    assert [row[:2] for row in device] == [(0, 10), (40, 50), (60, 70), (80, 100)]
    assert streams == [[(40, 70, 3, 7, 2, 5, 0)], [(20, 50, 3, 9, 1, 4, 0)]]


def test_one_piece_of_compute_and_streams_of_other_roles_have_no_table() -> None:
    assert found((10, 20, 7, 1), (20, 30, 7, 2))[1] == []
    assert found(*ONE, role=StreamRole.COPY)[1] == []


def test_communication_is_no_compute() -> None:
    device, streams = found(*ONE, communication=(1,))

    assert [row[:2] for row in device] == [(0, 10), (20, 60), (70, 100)]
    assert streams == [[(20, 60, 3, 7, 1, 4, 0)]]
    together, _ = found((5, 20, 8, 9), (10, 20, 7, 1), (30, 40, 7, 2), communication=(0,))
    assert together[1] == (20, 30, ABSENT, ABSENT, 1, 2, 0)


def test_of_kernels_that_end_at_once_and_out_of_order_the_gap_names_one_that_did() -> None:
    """The first ends last."""
    device, _ = found((10, 40, 7, 1), (12, 20, 8, 2), (50, 60, 8, 4))

    assert device[1] == (40, 50, ABSENT, ABSENT, 1, 4, 0)
