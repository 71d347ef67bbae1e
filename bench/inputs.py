"""Made-up exports in the real schema, the same on every machine: one per way to be large."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

SCHEMA = Path(__file__).parents[1] / "tests" / "schema.sql"
VM = 1 << 24
US = 1_000
Values = npt.NDArray[np.int64]
Table = dict[str, Values | int]

KERNEL, MEMCPY = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY"
RUNTIME, SYNC = "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
EVENT, NVTX, OSRT = "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "NVTX_EVENTS", "OSRT_API"
STREAM = "TARGET_INFO_CUDA_STREAM"
LARGE = (KERNEL, RUNTIME, MEMCPY, SYNC, OSRT, NVTX)
SMALLEST = 10_000
_NAMES = (
    "cudaLaunchKernel",
    "cudaMemcpyAsync",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaEventRecord",
    "poll",
    "gemm",
    "relu",
    "add",
    "copy",
)
_ID = {name: number for number, name in enumerate(_NAMES, 1)}
_KERNELS_PER_STEP = 1000
# Rows that are Python objects at a time; all of a large input would take gigabytes.
BLOCK = 100_000


@dataclass(frozen=True)
class Input:
    """One way to be large."""

    name: str
    what: str
    rows: int
    """Of `table`, at full size."""
    make: Callable[[int], Mapping[str, Table]]
    """Tables for a number of rows of `table`."""
    table: str = KERNEL
    scanned: tuple[str, ...] = LARGE
    """Tables that the scan reads."""

    def rows_at(self, scale: float) -> int:
        """Rows at a share of the full size; fewer than ten thousand would measure nothing."""
        return max(round(self.rows * scale), SMALLEST)


def write(path: Path, tables: Mapping[str, Table]) -> Path:
    """An export with these tables; columns that are not given get a harmless value."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(SCHEMA.read_text(encoding="utf-8"))
        texts = [*_NAMES, *(f"step {i}" for i in range(_most_steps(tables)))]
        connection.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(texts, 1))
        for name, table in tables.items():
            _insert(connection, name, table)
        connection.commit()
    return path


def _most_steps(tables: Mapping[str, Table]) -> int:
    ids = tables.get(NVTX, {}).get("textId", 0)
    return max(0, int(np.max(ids)) - len(_NAMES))


def _insert(connection: sqlite3.Connection, name: str, table: Table) -> None:
    described = connection.execute(f"PRAGMA table_info({name})").fetchall()
    needed = {row[1]: 0 for row in described if row[3]} | table
    columns = [value for value in needed.values() if isinstance(value, np.ndarray)]
    chosen = ", ".join(f'"{column}"' for column in needed)
    values = ", ".join("?" if isinstance(v, np.ndarray) else str(v) for v in needed.values())
    statement = f"INSERT INTO {name} ({chosen}) VALUES ({values})"
    for begin in range(0, row_count(table), BLOCK):
        block = [column[begin : begin + BLOCK].tolist() for column in columns]
        connection.executemany(statement, zip(*block, strict=True))


def row_count(table: Table) -> int:
    """Rows of a table; a column that is one number has as many as the others."""
    return max(value.size for value in table.values() if isinstance(value, np.ndarray))


def _program(count: int, *, streams: int = 1, pid: int = 1, gap_us: int = 3) -> dict[str, Table]:
    """A launch-bound training loop: kernels of 7 us, launched one by one, in steps."""
    number = np.arange(count)
    start = 1_000_000 + number * (7 + gap_us) * US
    kernels: Table = {
        "start": start,
        "end": start + 7 * US - number % 5 * 100,
        "deviceId": 0,
        "contextId": 1,
        "streamId": 7 + number % streams,
        "correlationId": 10 + 2 * number,
        "globalPid": (VM | pid) << 24,
        "shortName": _ID["gemm"] + number % 3,
        "demangledName": _ID["gemm"],
        "gridX": 64 + number % 7,
        "gridY": 1,
        "gridZ": 1,
        "blockX": 256,
        "blockY": 1,
        "blockZ": 1,
    }
    thread = (VM | pid) << 24 | pid
    calls = _calls(start - 4 * US, start - US, thread, 10 + 2 * number, "cudaLaunchKernel")
    steps = number[::_KERNELS_PER_STEP]
    ranges: Table = {
        "start": start[steps] - 5 * US,
        "end": np.append(start[steps][1:] - 5 * US, start[-1] + 20 * US),
        "eventType": 59,
        "globalTid": thread,
        "textId": len(_NAMES) + 1 + np.arange(steps.size),
    }
    described: Table = {
        "streamId": 7 + np.arange(streams),
        "hwId": 0,
        "vmId": 1,
        "processId": pid,
        "contextId": 1,
        "priority": 0,
        "flag": 1,
    }
    return {KERNEL: kernels, RUNTIME: calls, NVTX: ranges, STREAM: described}


def _calls(start: Values, end: Values, thread: int, correlation: Values, name: str) -> Table:
    return {
        "start": start,
        "end": end,
        "eventClass": 0,
        "globalTid": thread,
        "correlationId": correlation,
        "nameId": np.full(start.size, _ID[name]),
        "returnValue": 0,
    }


def _joined(*tables: Table) -> Table:
    """The rows of several tables; a column that is one number in all of them stays that."""
    whole: Table = {}
    for name, first in tables[0].items():
        values = [table[name] for table in tables]
        if isinstance(first, int) and all(isinstance(v, int) and v == first for v in values):
            whole[name] = first
        else:
            whole[name] = np.concatenate(
                [np.broadcast_to(table[name], row_count(table)) for table in tables]
            )
    return whole


def _together(programs: list[dict[str, Table]]) -> dict[str, Table]:
    return {name: _joined(*(program[name] for program in programs)) for name in programs[0]}


def _copies(start: Values, length: Values, stream: Values | int, correlation: Values) -> Table:
    return {
        "start": start,
        "end": start + length,
        "deviceId": 0,
        "contextId": 1,
        "streamId": stream if isinstance(stream, np.ndarray) else np.full(start.size, stream),
        "correlationId": correlation,
        "globalPid": (VM | 1) << 24,
        "bytes": 1 << 20,
        "copyKind": 1,
        "srcKind": 1,
        "dstKind": 2,
    }


def steps(count: int) -> dict[str, Table]:
    """Kernels and twice as many calls."""
    made = _program(count)
    start = made[RUNTIME]["start"]
    assert isinstance(start, np.ndarray)
    other = _calls(start + 3_200, start + 3_900, (VM | 1) << 24 | 1, np.arange(count) * 2 + 11,
                   "cudaEventRecord")  # fmt: skip
    return made | {RUNTIME: _joined(made[RUNTIME], other)}


def shuffled(count: int) -> dict[str, Table]:
    """The same rows in no order at all."""
    random = np.random.default_rng(0)
    made = steps(count)
    for name in (KERNEL, RUNTIME):
        order = random.permutation(row_count(made[name]))
        made[name] = {
            column: value[order] if isinstance(value, np.ndarray) else value
            for column, value in made[name].items()
        }
    return made


def streams(count: int) -> dict[str, Table]:
    """Kernels on 200 streams."""
    return _program(count, streams=200)


def processes(count: int) -> dict[str, Table]:
    """64 processes on 8 devices."""
    shares = [count // 64 + (pid <= count % 64) for pid in range(1, 65)]
    programs = [_program(share, pid=pid) for pid, share in enumerate(shares, 1)]
    for pid, program in enumerate(programs):
        program[KERNEL]["deviceId"] = pid % 8
    return _together(programs)


def os_calls(count: int) -> dict[str, Table]:
    """OS calls beside a twentieth as many kernels."""
    made = _program(max(count // 20, 2000))
    start = 900_000 + np.arange(count) * 500
    made[OSRT] = {
        "start": start,
        "end": start + 400,
        "eventClass": 27,
        "globalTid": (VM | 1) << 24 | 1,
        "nameId": _ID["poll"],
    }
    return made


def copies(count: int) -> dict[str, Table]:
    """Copies on a stream of their own, a tenth as many kernels."""
    made = _program(max(count // 10, 2000), streams=2, gap_us=40)
    number = np.arange(count)
    start = 1_000_500 + number * 4_700
    made[MEMCPY] = _copies(start, np.full(count, 4_000), 8, 1 << 25 | number)
    calls = _calls(start - 3_000, start - 2_500, (VM | 1) << 24 | 1, 1 << 25 | number,
                   "cudaMemcpyAsync")  # fmt: skip
    return made | {RUNTIME: _joined(made[RUNTIME], calls)}


def waits(count: int) -> dict[str, Table]:
    """Event waits with their records: each kernel waits for the other stream's last."""
    made = _program(2 * count, streams=2)
    start = made[KERNEL]["start"]
    assert isinstance(start, np.ndarray)
    start = start[::2]
    number = np.arange(start.size)
    thread = (VM | 1) << 24 | 1
    record = _calls(start - 900, start - 700, thread, 1 << 25 | number, "cudaEventRecord")
    wait = _calls(start - 600, start - 300, thread, 1 << 26 | number, "cudaStreamWaitEvent")
    common: Table = {"globalPid": (VM | 1) << 24, "contextId": 1, "eventId": 3}
    made[EVENT] = common | {
        "streamId": np.full(start.size, 7),
        "correlationId": 1 << 25 | number,
        "eventSyncId": 1 + number,
    }
    made[SYNC] = common | {
        "start": start - 600,
        "end": start - 300,
        "streamId": np.full(start.size, 8),
        "correlationId": 1 << 26 | number,
        "syncType": 3,
        "eventSyncId": 1 + number,
    }
    return made | {RUNTIME: _joined(made[RUNTIME], record, wait)}


def touching(count: int) -> dict[str, Table]:
    """Kernels that touch one another exactly."""
    made = _program(count, gap_us=0)
    start = made[KERNEL]["start"]
    assert isinstance(start, np.ndarray)
    made[KERNEL]["end"] = start + 7 * US
    return made


def instant(count: int) -> dict[str, Table]:
    """All kernels at one instant."""
    made = _program(count)
    made[KERNEL] |= {"start": np.full(count, 5_000_000), "end": np.full(count, 5_000_900)}
    return made


def spanning(count: int) -> dict[str, Table]:
    """One copy, one collective's worth of time, over everything."""
    made = _program(count)
    end = made[KERNEL]["end"]
    assert isinstance(end, np.ndarray)
    first = np.array([999_000])
    made[MEMCPY] = _copies(first, np.array([int(end[-1])]), 9, np.array([5]))
    return made


def nested(count: int) -> dict[str, Table]:
    """NVTX ranges nested as deep as they are many."""
    made = _program(2000)
    number = np.arange(count - row_count(made[NVTX]))
    deep: Table = {
        "start": number,
        "end": 10**10 - number,
        "eventType": 59,
        "globalTid": (VM | 1) << 24 | 1,
        "textId": _ID["add"],
    }
    return made | {NVTX: _joined(made[NVTX], deep)}


def chain(count: int) -> dict[str, Table]:
    """One idle piece that a chain of copies fills."""
    made = _program(4000)
    start = made[KERNEL]["start"]
    assert isinstance(start, np.ndarray)
    begin = int(start[1999]) + 9 * US
    number = np.arange(count)
    copied = begin + number * 5_000
    for name in (KERNEL, RUNTIME, NVTX):
        for column in ("start", "end"):
            value = made[name][column]
            assert isinstance(value, np.ndarray)
            made[name][column] = np.where(value > begin, value + count * 5_000, value)
    made[MEMCPY] = _copies(copied, np.full(count, 4_900), 7, 1 << 25 | number)
    early = int(start[1999]) - 3 * US
    calls = _calls(np.full(count, early), np.full(count, early + 100), (VM | 1) << 24 | 1,
                   1 << 25 | number, "cudaMemcpyAsync")  # fmt: skip
    return made | {RUNTIME: _joined(made[RUNTIME], calls)}


INPUTS = (
    Input("steps", "launch-bound steps", 2_000_000, steps, scanned=(KERNEL, RUNTIME)),
    Input("shuffled", "the same, rows in no order", 2_000_000, shuffled),
    Input("streams", "200 streams", 2_000_000, streams),
    Input("processes", "64 processes, 8 devices", 2_000_000, processes),
    Input("os-calls", "OS calls", 8_000_000, os_calls, OSRT),
    Input("copies", "copies", 2_000_000, copies, MEMCPY),
    Input("waits", "event waits", 500_000, waits, SYNC),
    Input("touching", "kernels that touch", 1_000_000, touching),
    Input("instant", "all at one instant", 1_000_000, instant),
    Input("spanning", "one copy over all", 1_000_000, spanning),
    Input("nested", "nested NVTX ranges", 1_000_000, nested, NVTX),
    Input("chain", "one gap, a chain of copies", 100_000, chain, MEMCPY),
)


def main() -> None:
    """`python -m bench.inputs NAME ROWS FILE`: a process of its own, for its memory is large."""
    name, rows, path = sys.argv[1:]
    made = {one.name: one.make for one in INPUTS}[name]
    write(Path(path), made(int(rows)))


if __name__ == "__main__":
    main()
