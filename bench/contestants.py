"""Who takes part: ours, the scan it is measured by, and the peers that are installed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.inputs import KERNEL, RUNTIME
from overlapcheck.capture.discovery import find_nsys
from overlapcheck.errors import NsysNotFound

OURS, SCAN = "overlapcheck", "SQLite scan"
PANDAS, NSYS, HTA = "pandas.read_sql", "nsys analyze", "HTA"
HOW_TO_GET = {
    PANDAS: "pip install pandas",
    NSYS: "package nsight-systems-cli of NVIDIA",
    HTA: "pip install HolisticTraceAnalysis",
}
# The least that any analysis has to do: read the times of all rows and join them.
_SCAN = """
import sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro&immutable=1", uri=True)
for table in sys.argv[2].split():
    has = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    sums = ", ".join(f'sum("{name}")' for name in ("start", "end", "correlationId") if name in has)
    if sums:
        connection.execute(f"SELECT {sums} FROM {table}").fetchone()
"""
_READ_SQL = """
import sqlite3, sys, pandas
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro&immutable=1", uri=True)
for table in sys.argv[2].split():
    pandas.read_sql(f"SELECT * FROM {table}", connection)
"""
# What it has on our question: copies under kernels, idle time, its reasons, collectives.
_HTA = """
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_dir=sys.argv[1])
analysis.get_gpu_kernel_breakdown(visualize=False, include_memory_kernels=True)
analysis.get_temporal_breakdown(visualize=False)
analysis.get_idle_time_breakdown(visualize=False)
analysis.get_comm_comp_overlap(visualize=False)
"""
_RULES = ("cuda_memcpy_async", "cuda_memcpy_sync", "cuda_memset_sync", "cuda_api_sync", "gpu_gaps")


@dataclass(frozen=True)
class Contestant:
    """A command that is measured."""

    who: str
    command: tuple[str, ...]
    finished: tuple[int, ...] = (0,)
    """Exit codes after all of its work."""
    peer: bool = False
    """Somebody else's program: the table does without it where it fails."""
    once: bool = False
    """Runs in the first round only, for it takes minutes."""


def ours(export: Path, who: str = OURS) -> Contestant:
    """The whole analysis with all causes; pass, fail and inconclusive are judgements."""
    command = (sys.executable, "-m", "overlapcheck", "analyze", str(export), "--format", "json")
    return Contestant(who, command, finished=(0, 1, 3))


def scan(export: Path, tables: Sequence[str]) -> Contestant:
    """Sums start, end and correlationId of these tables inside SQLite."""
    return Contestant(SCAN, (sys.executable, "-c", _SCAN, str(export), " ".join(tables)))


def peers(export: Path, kineto: Path | None = None, *, once: bool = False) -> list[Contestant]:
    """The installed ones that can read an export, and HTA where there is a folder for it."""
    found: list[Contestant] = []

    def invite(who: str, *command: str) -> None:
        found.append(Contestant(who, command, peer=True, once=once))

    if nsys := _nsys():
        invite(NSYS, nsys, "analyze", "--quiet", "--rule", ",".join(_RULES), str(export))
    if _importable("pandas"):
        tables = f"{KERNEL} {RUNTIME}"
        invite(PANDAS, sys.executable, "-c", _READ_SQL, str(export), tables)
    if kineto and _importable("hta"):
        invite(HTA, sys.executable, "-c", _HTA, str(kineto))
    return found


def absent() -> list[str]:
    """Peers that are not installed here."""
    here = {PANDAS: _importable("pandas"), NSYS: bool(_nsys()), HTA: _importable("hta")}
    return [who for who, installed in here.items() if not installed]


def _importable(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _nsys() -> str:
    try:
        return str(find_nsys().path)
    except NsysNotFound:
        return ""
