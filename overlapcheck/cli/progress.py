"""Progress on stderr, for whatever takes longer than a second: what, and of a file how much."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from overlapcheck.cli.messages import say, say_live

PATIENCE_S = 1.0
LIVE_S = 0.5
QUIET_S = 10.0
"""Between lines where stderr is no terminal, as in the log of a job."""
_WIDTH = 78
_COUNTED = Path("/proc/self/io")
"""What this process has read, on Linux. Without it there are no percentages."""
_LEAST_SHARE = 0.02
_MOST_SHARE = 0.99
"""A file is read once, and a little of it twice."""


class Stages:
    """Told what begins; each stage is named once it has lasted a second."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._size = self._before = 0
        self._opened_at = 0.0

    def __call__(self, what: str) -> None:
        """A stage begins, and the one before is over."""
        self.end()
        self._over = threading.Event()
        threading.Thread(target=self._tell, args=(what, self._over), daemon=True).start()

    def opens(self, path: Path) -> None:
        """A file or folder of tables is read in this stage."""
        with suppress(OSError):
            files = path.iterdir() if path.is_dir() else (path,)
            self._before, self._opened_at = _bytes_read(), time.monotonic()
            self._size = sum(file.stat().st_size for file in files)

    def end(self) -> None:
        """The stage is over."""
        self._over.set()
        self._size = 0

    def _tell(self, what: str, over: threading.Event) -> None:
        if over.wait(PATIENCE_S):
            return
        say(f"{what} ...")
        live = sys.stderr.isatty()
        shown = False
        while not over.wait(LIVE_S if live else QUIET_S):
            if how_far := self._how_far():
                shown = live
                text = f"{what}: {how_far}"
                say_live(text, _WIDTH) if live else say(text)
        if shown:
            say_live("", _WIDTH)

    def _how_far(self) -> str:
        """Share of the file that has been read, and the time left for the rest; "" if unknown."""
        share = (_bytes_read() - self._before) / self._size if self._size else 0.0
        if share < _LEAST_SHARE:
            return ""
        share = min(share, _MOST_SHARE)
        left_s = (time.monotonic() - self._opened_at) * (1 - share) / share
        return f"{share * 100:.0f} %, about {left_s:.0f} s left"


@contextmanager
def shown() -> Iterator[Stages]:
    """Yield what is told of stages; nothing is shown any more when the block ends."""
    stages = Stages()
    try:
        yield stages
    finally:
        stages.end()


def _bytes_read() -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(_COUNTED.read_text(encoding="ascii").split()[1])
    return 0
