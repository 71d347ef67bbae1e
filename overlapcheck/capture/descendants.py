"""What the program started and left behind.

A launcher that ends before its workers ends the recording, too; what they do afterwards is in no
report. A process that lost its parent does not say whose it was, so the family is looked at while
the program runs.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections import defaultdict
from pathlib import Path

from overlapcheck.capture.processes import RunningProcess, parents, process

LOOK_EVERY_S = 1.0


class Descendants:
    """The processes below one program, as often as they are looked at."""

    def __init__(self, program: RunningProcess) -> None:
        self._program = program
        self._known: set[RunningProcess] = set()
        self._looked_at = -LOOK_EVERY_S

    def look(self) -> None:
        """Note who is there, now and then; cheap enough to be called at every poll."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_EVERY_S:
            return
        self._looked_at = now
        children: defaultdict[int, list[int]] = defaultdict(list)
        for pid, parent in parents():
            children[parent].append(pid)
        self._known = {one for one in self._known if one.is_running}
        to_visit = [self._program.pid, *(one.pid for one in self._known)]
        while to_visit:
            for pid in children.pop(to_visit.pop(), ()):
                to_visit.append(pid)
                if (found := process(pid)) is not None:
                    self._known.add(found)

    def living(self) -> tuple[str, ...]:
        """Those that still run: "python3 (4711)"."""
        living = sorted(one.pid for one in self._known if one.is_running)
        return tuple(f"{_name(pid)} ({pid})" for pid in living)

    def end(self) -> None:
        """Kill those that still run; of a program that hangs nothing may be left."""
        for one in self._known:
            one.send(signal.SIGKILL)


def _name(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    return "process"
