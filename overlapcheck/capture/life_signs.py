"""Whether nsys still does something while it records and writes the report."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from overlapcheck.capture.disk_guard import recorded_bytes
from overlapcheck.capture.tool import MOST_OUTPUT_BYTES, STALL_S

LOOK_EVERY_S = 1.0


class LifeSigns:
    """Looks at the files of one recording now and then."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._bytes = -1
        self._looked_at = 0.0
        self._moved_at = time.monotonic()

    def hangs(self, *, writing: bool) -> bool:
        """Whether nothing has changed for long; what nsys prints is cut where it is too much.

        Args:
            writing: nsys is writing the report; before, it may wait for the program.
        """
        now = time.monotonic()
        if now - self._looked_at < LOOK_EVERY_S:
            return False
        self._looked_at = now
        for log in self._scratch.glob("*.log"):
            with contextlib.suppress(OSError):
                if log.stat().st_size > MOST_OUTPUT_BYTES:
                    # The file is appended to, so that nsys goes on at its new end.
                    os.truncate(log, 0)
        if not writing:
            self._moved_at = now
            return False
        seen = recorded_bytes(self._scratch)
        if seen != self._bytes:
            self._bytes, self._moved_at = seen, now
        return now - self._moved_at > STALL_S
