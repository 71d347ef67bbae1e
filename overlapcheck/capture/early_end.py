"""Ending a recording while the program goes on."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from overlapcheck.capture.tool import tail_of

# How long the program may be kept waiting for its signal.
PATIENCE_S = 15.0


class EarlyEnd:
    """Tells nsys to collect what it has, by `nsys stop`.

    NOTE: measured on an H200 with nsys 2025.3.1: a program that a signal ends takes all recorded
    CUDA work with it, for its buffers are not flushed; after `nsys stop` nothing is missing.
    """

    def __init__(
        self, nsys: subprocess.Popen[bytes], tool: str, environment: Mapping[str, str], log: Path
    ) -> None:
        self._command = [tool, "stop", f"--session=profile-{nsys.pid}"]
        self._environment = dict(environment)
        self._log = log
        self._begun_at = 0.0
        self._stop: subprocess.Popen[bytes] | None = None

    @property
    def has_begun(self) -> bool:
        """Whether nsys has been told."""
        return self._begun_at > 0

    @property
    def is_writing(self) -> bool:
        """Whether nsys is still at it; it is this command that writes the report."""
        return self._stop is not None and self._stop.poll() is None

    @property
    def has_collected(self) -> bool:
        """Whether the program's buffers are safe, or waiting for them is in vain."""
        if not self.has_begun:
            return False
        if not self.is_writing or time.monotonic() - self._begun_at > PATIENCE_S:
            return True
        with contextlib.suppress(OSError):
            return "Generating" in tail_of(self._log)
        return False

    def begin(self) -> None:
        """Tell nsys, once."""
        if self.has_begun:
            return
        self._begun_at = time.monotonic()
        with contextlib.suppress(OSError), self._log.open("ab") as log:
            self._stop = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment,
                start_new_session=True,
            )
