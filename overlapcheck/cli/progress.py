"""Progress on stderr, for whatever takes longer than a second."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from overlapcheck.cli.messages import say

PATIENCE_S = 1.0


@contextmanager
def shown() -> Iterator[Callable[[str], None]]:
    """Yield a progress callback: each stage is named once it has lasted a second.

    "" ends a stage without another that would be worth a line.
    """
    timer: threading.Timer | None = None

    def begins(what: str) -> None:
        nonlocal timer
        if timer is not None:
            timer.cancel()
        if not what:
            return
        timer = threading.Timer(PATIENCE_S, _say, (what,))
        timer.daemon = True
        timer.start()

    try:
        yield begins
    finally:
        if timer is not None:
            timer.cancel()


def _say(what: str) -> None:
    say(f"{what} ...")
