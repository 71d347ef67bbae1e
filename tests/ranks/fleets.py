"""Jobs of many ranks, drawn once and written once per rank with a clock of its own.

Every rank computes, meets the others in an all-reduce and computes on; ranks of a host share a
clock. One may come late to every all-reduce, one may load from pageable memory.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from overlapcheck import pipeline
from overlapcheck.report import Report
from tests.export import edit
from tests.pictures import picture

STEPS = 6
STEP_US = 1200
COLUMN_US = 100
PER_HOST = 8
HOST_SHIFT_NS = 37_000_000
"""Clocks of different hosts are this far apart."""
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"

# One column is 100 us, one picture a step. All all-reduces end in column 11.
USUAL = f"""
s7   kernel fwd              |aaaaaa......|
s20  kernel {ALL_REDUCE}     |......bbbbb.|
s7   kernel opt              |...........c|
t1   cudaLaunchKernel        |ac..........|
t1   cuLaunchKernelEx        |.b..........|
t1   nvtx step               |000000000000|
"""
LATE = f"""
s7   kernel fwd              |aaaaaaaaa...|
s20  kernel {ALL_REDUCE}     |.........bb.|
s7   kernel opt              |...........c|
t1   cudaLaunchKernel        |ac..........|
t1   cuLaunchKernelEx        |.b..........|
t1   nvtx step               |000000000000|
"""
PAGEABLE = f"""
s13  h2d pageable 64MiB      |ddd.........|
s7   kernel fwd              |...aaa......|
s20  kernel {ALL_REDUCE}     |......bbbbb.|
s7   kernel opt              |...........c|
t1   cudaMemcpyAsync         |ddd.........|
t1   cudaLaunchKernel        |...a.c......|
t1   cuLaunchKernelEx        |....b.......|
t1   nvtx step               |000000000000|
"""


def write_rank(drawing: str, path: Path, utc_ns: int, **options: object) -> Path:
    """One rank's export."""
    export = picture(drawing, column_us=COLUMN_US, repeat=STEPS, **options).export(path)
    return edit(
        export,
        f"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ({utc_ns}, '', '')",
    )


def write_fleet(
    folder: Path, ranks: int, *, late: int | None = None, pageable: int | None = None
) -> list[Path]:
    """A job's reports, rank_0.sqlite and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for rank in range(ranks):
        drawing = LATE if rank == late else PAGEABLE if rank == pageable else USUAL
        utc = 1_800_000_000_000_000_000 + rank // PER_HOST * HOST_SHIFT_NS
        paths.append(write_rank(drawing, folder / f"rank_{rank}.sqlite", utc))
    return paths


# ---- how workers judge, importable by processes that are spawned


def judge(path: Path) -> Report:
    """As the command line does."""
    return pipeline.analyze(path)


def judge_and_note(path: Path) -> Report:
    """The same, leaving a note of it in the folder."""
    with (path.parent / "judged").open("a") as notes:
        notes.write(f"{path.name}\n")
    return pipeline.analyze(path)


def die_once_at_3(path: Path) -> Report:
    """The worker that first reads rank 3 is killed."""
    if path.stem == "rank_3":
        try:
            (path.parent / "died").touch(exist_ok=False)
        except FileExistsError:
            return pipeline.analyze(path)
        os.kill(os.getpid(), signal.SIGKILL)
    return pipeline.analyze(path)


def die_always_at_3(path: Path) -> Report:
    """Every worker that reads rank 3 is killed."""
    if path.stem == "rank_3":
        os.kill(os.getpid(), signal.SIGKILL)
    return pipeline.analyze(path)


def fail_at_3(path: Path) -> Report:
    """A defect of ours that only rank 3 meets."""
    if path.stem == "rank_3":
        raise ZeroDivisionError("a defect")
    return pipeline.analyze(path)


def ranks_of(text: str) -> list[str]:
    """Labels of all ranks in a JSON report."""
    return [row["rank"] for row in json.loads(text)["ranks"]]
