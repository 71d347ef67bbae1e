"""The part of nsys that waits for the program's end: without it nsys waits for ever."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from overlapcheck.capture.processes import process_or_zombie, processes_with_tmpdir

LOOK_EVERY_S = 2.0
QUIET_S = 10.0
"""Without work for so long, nsys is not at work on the report."""
_BUSY_SHARE = 0.02


class Launcher:
    """nsys's launcher, as long as one program runs under it and after."""

    def __init__(self, scratch: Path) -> None:
        pid = int((scratch / "launcher").read_text(encoding="ascii"))
        self._process = process_or_zombie(pid)
        self._scratch = scratch
        self._looked_at = self._busy_at = time.monotonic()
        self._cpu_s = 0.0
        self.is_lost = False
        """It was gone before it could tell nsys of the program's end."""

    def look(self, *, program_runs: bool) -> None:
        """Look whether it is still there."""
        if self._process is None or self.is_lost or self._process.is_running:
            return
        # NOTE: of a program that a signal ends the launcher dies by that signal, too, and all is
        # well; only what nsys does then tells that from a launcher killed just before the end.
        self.is_lost = program_runs or (self._process.was_killed and self._is_quiet())

    def wake(self) -> None:
        """Let it go on where the program has stopped it: it would never tell of the end."""
        if self._process is not None:
            self._process.send(signal.SIGCONT)

    def _is_quiet(self) -> bool:
        now = time.monotonic()
        if now - self._looked_at >= LOOK_EVERY_S:
            used_s = sum(one.cpu_s for one in list(processes_with_tmpdir(self._scratch)))
            if abs(used_s - self._cpu_s) > _BUSY_SHARE * (now - self._looked_at):
                self._busy_at = now
            self._looked_at, self._cpu_s = now, used_s
        return now - self._busy_at >= QUIET_S
