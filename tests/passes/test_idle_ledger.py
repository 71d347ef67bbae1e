"""The ledger as a whole: whatever the trace, every idle nanosecond is given away exactly once."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.measurements import DeviceMeasurements, Measurements
from tests.conftest import EXPORTS
from tests.export import RealExport
from tests.pictures import Picture, measure_file, parse

NAMES = sorted(path.name.split(".")[0] for path in EXPORTS.glob("*.sqlite*"))
SHIFT_NS = 7_123_456_789
OTHER_PROCESS = 77 << 24
OTHER_DEVICE = 6
TIMES = ("start", "end", "timestamp")
COPIED = (
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    "OSRT_API",
)


def check(measured: Measurements) -> None:
    for device in measured.devices:
        ledger, idle = device.ledger, device.idle
        length = ledger.end_ns - ledger.start_ns

        assert (length > 0).all()
        assert (ledger.start_ns[1:] >= ledger.end_ns[:-1]).all()
        assert Intervals.of(ledger.start_ns, ledger.end_ns) == idle
        assert int(length.sum()) == device.idle_ns
        assert np.isin(ledger.reason, [int(reason) for reason in Reason]).all()


@pytest.mark.parametrize("skip", [0, 3])
@pytest.mark.parametrize("name", NAMES)
def test_the_pieces_are_disjoint_and_together_exactly_the_idle_time(
    name: str, skip: int, real_export: RealExport
) -> None:
    check(measure_file(real_export(name), skip=skip))


@st.composite
def drawings(draw: st.DrawFn) -> Picture:
    """Any operations at all, launched at any time, with any waits between two streams."""
    width = 40
    kinds = [
        ("s7 kernel fwd", "cudaLaunchKernel"),
        ("s13 kernel bwd", "cudaLaunchKernel"),
        ("s17 kernel ncclDevKernel_AllReduce", "cudaLaunchKernel"),
        ("s7 h2d pinned 2MiB", "cudaMemcpyAsync"),
        ("s13 h2d pageable 2MiB", "cudaMemcpyAsync"),
        ("s14 d2h pageable 4B", "cudaMemcpyAsync"),
        ("s14 h2d pinned 2MiB", "cudaMemcpy"),
        ("s7 memset 4B", "cudaMemsetAsync"),
        ("s7 d2d 2MiB", "cudaMemcpyAsync"),
    ]
    calls = ["cudaDeviceSynchronize", "cudaFree", "cuModuleLoadData", "cudaEventQuery"]
    rows = []
    for mark in "abcdefghij"[: draw(st.integers(1, 10))]:
        what, call = draw(st.sampled_from(kinds)) if mark != "a" else kinds[0]
        start = draw(st.integers(1, width - 2))
        end = draw(st.integers(start + 1, width - 1))
        launch = draw(st.integers(0, start - 1))
        # A copy of pageable memory is over when its call returns; others may be long before.
        back = draw(st.integers(launch + 1, end))
        rows.append(f"{what} |{_cells(mark, start, end, width)}|")
        if mark == "a" or draw(st.booleans()):
            thread = draw(st.sampled_from(["t1", "t2"]))
            rows.append(f"{thread} {call} |{_cells(mark, launch, back, width)}|")
    for mark in "uvwxyz"[: draw(st.integers(0, 6))]:
        start = draw(st.integers(0, width - 2))
        end = draw(st.integers(start + 1, width - 1))
        rows.append(f"t1 {draw(st.sampled_from(calls))} |{_cells(mark, start, end, width)}|")
    kind = draw(st.sampled_from(["blocking", "non-blocking"]))
    options = {"column_us": draw(st.sampled_from([1, 10, 60])), "streams": {"14": kind}}
    return parse("drawing", {"picture": "\n".join(rows), **options})


def _cells(mark: str, start: int, end: int, width: int) -> str:
    return ("." * start + mark * (end - start)).ljust(width, ".")


@settings(max_examples=80, deadline=None)
@given(drawings())
def test_however_operations_lie_every_idle_nanosecond_is_given_once(drawing: Picture) -> None:
    check(drawing.measure())


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_rows_does_not_matter(
    name: str, real_export: RealExport, tmp_path: Path
) -> None:
    export = real_export(name)
    shuffled = Path(shutil.copy(export, tmp_path / "shuffled.sqlite"))
    with closing(sqlite3.connect(shuffled)) as connection:
        for table in _tables(connection, TIMES):
            connection.execute(f"CREATE TEMP TABLE rows AS SELECT * FROM {table}")
            connection.execute(f"DELETE FROM {table}")
            # A fixed order that looks like none.
            connection.execute(
                f"INSERT INTO {table} SELECT * FROM rows ORDER BY (rowid * 7919) % 10007"
            )
            connection.execute("DROP TABLE rows")
        connection.commit()

    assert_same(measure_file(export, skip=3), measure_file(shuffled, skip=3))


@pytest.mark.parametrize("name", NAMES)
def test_the_time_of_day_does_not_matter(
    name: str, real_export: RealExport, tmp_path: Path
) -> None:
    export = real_export(name)
    shifted = Path(shutil.copy(export, tmp_path / "shifted.sqlite"))
    with closing(sqlite3.connect(shifted)) as connection:
        for table in _tables(connection, TIMES):
            for column in set(TIMES) & _columns(connection, table):
                connection.execute(
                    f'UPDATE {table} SET "{column}" = "{column}" + {SHIFT_NS}'
                    f' WHERE "{column}" IS NOT NULL'
                )
        connection.commit()

    assert_same(measure_file(export, skip=3), measure_file(shifted, skip=3), shift_ns=SHIFT_NS)


@pytest.mark.parametrize("name", NAMES)
def test_a_process_on_another_device_does_not_matter(
    name: str, real_export: RealExport, tmp_path: Path
) -> None:
    export = real_export(name)
    crowded = Path(shutil.copy(export, tmp_path / "crowded.sqlite"))
    with closing(sqlite3.connect(crowded)) as connection:
        for table in set(COPIED) & set(_tables(connection, TIMES)):
            columns = sorted(_columns(connection, table) - {"id"})
            moved = ", ".join(
                f'"{c}" + {OTHER_PROCESS}'
                if c in ("globalPid", "globalTid")
                else str(OTHER_DEVICE)
                if c == "deviceId"
                else f'"{c}" + 12345'
                if c in TIMES
                else f'"{c}"'
                for c in columns
            )
            names = ", ".join(f'"{c}"' for c in columns)
            connection.execute(f"INSERT INTO {table} ({names}) SELECT {moved} FROM {table}")
        connection.commit()
    before, after = measure_file(export, skip=3), measure_file(crowded, skip=3)

    assert len(after.devices) > len(before.devices)
    for device in before.devices:
        (same,) = (other for other in after.devices if other.key == device.key)
        assert_same_device(device, same)


def assert_same(left: Measurements, right: Measurements, shift_ns: int = 0) -> None:
    assert [d.key for d in left.devices] == [d.key for d in right.devices]
    for one, other in zip(left.devices, right.devices, strict=True):
        assert_same_device(one, other, shift_ns)


def assert_same_device(
    left: DeviceMeasurements, right: DeviceMeasurements, shift_ns: int = 0
) -> None:
    pd.testing.assert_frame_equal(_comparable(left, shift_ns), _comparable(right, 0))


def _comparable(device: DeviceMeasurements, shift_ns: int) -> Any:
    frame = device.ledger.frame().drop(columns="operation")
    for column in ("start_ns", "end_ns", "call_start_ns"):
        frame[column] = frame[column].where(frame[column] == -1, frame[column] + shift_ns)
    return frame


def _tables(connection: sqlite3.Connection, columns: tuple[str, ...]) -> list[str]:
    tables = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    return [table for table in tables if set(columns) & _columns(connection, table)]


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")}
