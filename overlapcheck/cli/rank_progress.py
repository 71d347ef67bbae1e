"""Progress over many reports, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from overlapcheck.cli.messages import say, say_live

LIVE_S = 0.2
QUIET_S = 10.0
"""Between lines where stderr is no terminal, as in the log of a job."""
_WIDTH = 78


@contextmanager
def counted() -> Iterator[Callable[[int, int, str], None]]:
    """Yield a callback for each result: a line that counts up, or a line now and then."""
    live = sys.stderr.isatty()
    began = said_at = time.monotonic()

    def arrived(done: int, total: int, name: str) -> None:
        nonlocal said_at
        now = time.monotonic()
        if now - said_at < (LIVE_S if live else QUIET_S):
            return
        said_at = now
        left_s = (now - began) / done * (total - done)
        text = f"{done} of {total} reports, about {left_s:.0f} s left ({name})"
        if live:
            say_live(text, _WIDTH)
        else:
            say(text)

    try:
        yield arrived
    finally:
        if live:
            say_live("", _WIDTH)
