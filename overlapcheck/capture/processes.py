"""Which processes live, and ending those that nsys may have left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

POLL_S = 0.05
_STATE, _PARENT, _CPU_TICKS, _START_TICKS, _EXIT_STATUS = 0, 1, slice(11, 15), 19, 49


@dataclass(frozen=True)
class RunningProcess:
    """A process id that cannot be mistaken for a later process with the same number."""

    pid: int
    start_ticks: int

    @property
    def is_running(self) -> bool:
        """Whether it lives; a zombie does not."""
        return _running(self.pid) == self

    @property
    def was_killed(self) -> bool:
        """Whether a signal ended it; seen while its own parent has not taken note of that."""
        fields = _fields(self.pid)
        if fields is None or fields[_STATE] != "Z" or int(fields[_START_TICKS]) != self.start_ticks:
            return False
        return os.WIFSIGNALED(int(fields[_EXIT_STATUS]))

    @property
    def cpu_s(self) -> float:
        """Processor time of it and of the children that it has waited for."""
        fields = _fields(self.pid)
        ticks = sum(map(int, fields[_CPU_TICKS])) if fields else 0
        return ticks / os.sysconf("SC_CLK_TCK")

    def send(self, signum: int, *, whole_group: bool = False) -> None:
        """Send a signal to it, or to its process group when it leads one; gone is no error."""
        if not self.is_running:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if whole_group and os.getpgid(self.pid) == self.pid:
                os.killpg(self.pid, signum)
            else:
                os.kill(self.pid, signum)


def process(pid: int) -> RunningProcess | None:
    """The process with this id, or None when it is gone."""
    return _running(pid)


def process_or_zombie(pid: int) -> RunningProcess | None:
    """The process with this id, dead or alive, until its parent has taken note of its end."""
    fields = _fields(pid)
    return RunningProcess(pid, int(fields[_START_TICKS])) if fields else None


def parents() -> Iterator[tuple[int, int]]:
    """Every process, and its parent."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))) is not None:
            yield int(entry.name), int(fields[_PARENT])


def processes_with_tmpdir(directory: Path) -> Iterator[RunningProcess]:
    """Processes started with TMPDIR at this directory: nsys's own ones, never the program's."""
    wanted = f"TMPDIR={directory}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found = _running(int(entry.name))
                if found is not None and found.pid != os.getpid():
                    yield found


def end_process(running: RunningProcess, *, grace_s: float) -> None:
    """Ask a process group to end, and kill it when it has not after grace_s."""
    running.send(signal.SIGTERM, whole_group=True)
    deadline = time.monotonic() + grace_s
    while running.is_running and time.monotonic() < deadline:
        time.sleep(POLL_S)
    running.send(signal.SIGKILL, whole_group=True)


def _running(pid: int) -> RunningProcess | None:
    fields = _fields(pid)
    if fields is None or fields[_STATE] in "ZX":
        return None
    return RunningProcess(pid, int(fields[_START_TICKS]))


def _fields(pid: int) -> list[str] | None:
    """What /proc says of a process from its state on; proc(5) counts from the process id."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command name before the last parenthesis may contain anything.
    return stat.rpartition(")")[2].split()
