"""Runs ours, the scan and whatever peers are installed, in turns, and takes the ratios."""

from __future__ import annotations

import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS, SCAN, PANDAS, NSYS = "overlapcheck", "SQLite scan", "pandas.read_sql", "nsys analyze"
# A trace is judged, whatever the judgement; so is a peer that finds something.
_FINISHED = (0, 1, 3)
_TABLES = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME")
_LARGE = (
    *_TABLES,
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "OSRT_API",
    "NVTX_EVENTS",
)
_SCAN = """
import sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro&immutable=1", uri=True)
for table in sys.argv[2].split():
    has = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    sums = ", ".join(f'sum("{name}")' for name in ("start", "end", "correlationId") if name in has)
    connection.execute(f"SELECT {sums} FROM {table}").fetchone()
"""
_READ_SQL = """
import sqlite3, sys, pandas
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro&immutable=1", uri=True)
for table in sys.argv[2].split():
    pandas.read_sql(f"SELECT * FROM {table}", connection)
"""
_RULES = ("cuda_memcpy_async", "cuda_memcpy_sync", "cuda_memset_sync", "cuda_api_sync", "gpu_gaps")


@dataclass(frozen=True)
class Usage:
    """What one run of one contestant took."""

    wall_s: float
    rss_mib: float


@dataclass
class Runs:
    """All runs of one contestant on one input."""

    who: str
    usages: list[Usage] = field(default_factory=list)

    @property
    def rss_mib(self) -> float:
        """The most memory of any run."""
        return max(usage.rss_mib for usage in self.usages)


@dataclass(frozen=True)
class Ratio:
    """A ratio of two contestants that ran in turns, round by round."""

    median: float
    low: float
    high: float


def contestants(export: Path, *, peers: bool) -> dict[str, list[str]]:
    """Command of each contestant that is installed."""
    large = " ".join(_LARGE)
    found = {
        OURS: [sys.executable, "-m", "overlapcheck", "analyze", str(export), "--format", "json"],
        SCAN: [sys.executable, "-c", _SCAN, str(export), large],
    }
    if peers and importlib.util.find_spec("pandas"):
        found[PANDAS] = [sys.executable, "-c", _READ_SQL, str(export), " ".join(_TABLES)]
    nsys = shutil.which("nsys") if peers else None
    if nsys:
        found[NSYS] = [nsys, "analyze", "--quiet", "--rule", ",".join(_RULES), str(export)]
    return found


def contest(commands: dict[str, list[str]], rounds: int) -> dict[str, Runs]:
    """Every contestant once per round, so that all meet the same state of the machine."""
    runs = {who: Runs(who) for who in commands}
    for _ in range(rounds):
        for who, command in commands.items():
            runs[who].usages.append(usage(command))
    return runs


def usage(command: Sequence[str]) -> Usage:
    """Run a command to its end.

    Raises:
        RuntimeError: it ended otherwise than by finishing its work.
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, cwd=ROOT
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, resources = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode not in _FINISHED or b"Traceback" in said:
        raise RuntimeError(f"{command[:4]} ended with {process.returncode}: {said[-300:]!r}")
    return Usage(wall, resources.ru_maxrss / 1024)


def ratio(one: Runs, other: Runs) -> Ratio:
    """How many times as long one took, round by round."""
    pairs = zip(one.usages, other.usages, strict=True)
    each = [a.wall_s / b.wall_s for a, b in pairs]
    return Ratio(statistics.median(each), min(each), max(each))


def machine() -> str:
    """Processor and cores, for the table."""
    model = "unknown processor"
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = (line for line in info.read_text().splitlines() if line.startswith("model name"))
        model = next(lines, f": {model}").split(":", 1)[1].strip()
    return f"{model}, {os.cpu_count()} cores, Python {sys.version.split()[0]}"
