"""Ending a recording before the disk is full.

NOTE: a full temporary directory crashes the program under nsys 2023.4.4, for its buffers are files
mapped into the program's memory.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from overlapcheck.capture.early_end import EarlyEnd
from overlapcheck.capture.scratch import free_bytes

LOOK_EVERY_S = 1.0
LEAST_FREE_BYTES = 128 << 20
LARGE_RECORDING_BYTES = 2 << 30


class DiskGuard:
    """Looks at the room for one recording now and then."""

    def __init__(self, end: EarlyEnd, scratch: Path, warn: Callable[[str], None]) -> None:
        self._end = end
        self._scratch = scratch
        self._warn = warn
        self._looked_at = 0.0
        self._warned_of_size = False

    def look(self) -> None:
        """Warn of a large recording; end it where room runs out. The program goes on."""
        if self._end.has_begun or time.monotonic() - self._looked_at < LOOK_EVERY_S:
            return
        self._looked_at = time.monotonic()
        recorded = recorded_bytes(self._scratch)
        free = free_bytes(self._scratch)
        # Writing the report takes room, too.
        if free < max(LEAST_FREE_BYTES, recorded // 2):
            self._warn(
                f"only {free >> 20} MB free in {self._scratch.parent}: the recording ends here "
                "and the program goes on; set TMPDIR to a directory with more room"
            )
            self._end.begin()
        elif recorded > LARGE_RECORDING_BYTES and not self._warned_of_size:
            self._warned_of_size = True
            self._warn(
                f"the recording is larger than {LARGE_RECORDING_BYTES >> 30} GB by now and will be "
                "slow to read: shorten it with --duration or --capture-range"
            )


def recorded_bytes(scratch: Path) -> int:
    """What the files of a recording take on the disk."""
    total = 0
    for directory, _, names in os.walk(scratch):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(directory) / name).stat().st_blocks * 512
    return total
