"""Runs contestants in turns, in processes of their own, and takes the ratios."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.contestants import Contestant

ROOT = Path(__file__).parents[1]
# A bare Python between us and the contestant: its peak memory begins with that of its parent.
_LAUNCHER = """
import os, sys, time
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
begin = time.perf_counter()
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
_, status, used = os.wait4(pid, 0)
print(time.perf_counter() - begin, used.ru_maxrss, os.waitstatus_to_exitcode(status))
"""


class DidNotFinish(RuntimeError):
    """A contestant ended before it had done its work."""


@dataclass(frozen=True)
class Usage:
    """What one run of one contestant took."""

    wall_s: float
    rss_mib: float


@dataclass
class Runs:
    """All runs of one contestant on one input; none of a peer that failed."""

    who: str
    usages: list[Usage] = field(default_factory=list)

    @property
    def rss_mib(self) -> float:
        """The most memory of any run."""
        return max(usage.rss_mib for usage in self.usages)

    @property
    def wall_s(self) -> float:
        """The median."""
        return statistics.median(usage.wall_s for usage in self.usages)


@dataclass(frozen=True)
class Ratio:
    """A ratio of two contestants that ran in turns, round by round."""

    median: float
    low: float
    high: float
    rounds: int


def contest(contestants: Sequence[Contestant], rounds: int) -> dict[str, Runs]:
    """Every contestant once per round, so that all meet the same state of the machine.

    Raises:
        DidNotFinish: one that is no peer did not.
    """
    runs = {one.who: Runs(one.who) for one in contestants}
    failed: set[str] = set()
    for number in range(rounds):
        for one in contestants:
            if one.who in failed or (one.once and number > 0):
                continue
            try:
                runs[one.who].usages.append(usage(one))
            except DidNotFinish as error:
                if not one.peer:
                    raise
                print(error, file=sys.stderr)
                failed.add(one.who)
                runs[one.who].usages.clear()
    return runs


def usage(one: Contestant) -> Usage:
    """Run a contestant to its end.

    Raises:
        DidNotFinish: it ended otherwise than by finishing its work.
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    launcher = (sys.executable, "-S", "-c", _LAUNCHER, *one.command)
    ended = subprocess.run(launcher, capture_output=True, check=True, env=environment, cwd=ROOT)
    wall, rss_kib, code = ended.stdout.split()
    if int(code) not in one.finished or b"Traceback" in ended.stderr:
        last = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise DidNotFinish(f"{one.who} ended with exit code {int(code)}: {last}")
    return Usage(float(wall), int(rss_kib) / 1024)


def ratio(one: Runs, other: Runs) -> Ratio:
    """How many times as long one took, round by round; rounds that one sat out do not count."""
    pairs = zip(one.usages, other.usages, strict=False)
    each = [a.wall_s / b.wall_s for a, b in pairs]
    return Ratio(statistics.median(each), min(each), max(each), len(each))


def machine() -> str:
    """What the figures depend on."""
    model = "unknown processor"
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = (line for line in info.read_text().splitlines() if line.startswith("model name"))
        model = next(lines, f": {model}").split(":", 1)[1].strip()
    versions = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    return f"{model}, {os.cpu_count()} cores, {versions}"
