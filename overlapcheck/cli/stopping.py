"""Signals that stop a command: in an orderly way if that is quick, but in any case.

Python runs a signal's handler between two of its own instructions. A library that is at work for
minutes, or a query that never ends, keeps it from that; a thread that is told by the kernel is not.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from overlapcheck.capture.interruption import STOP_SIGNALS, interruptible

GRACE_S = 6.0
"""From the first signal on: longer than worker processes get to put their things away."""
SHORT_GRACE_S = 1.5
"""From the second one on."""


@contextmanager
def stoppable(stage: str, hint: str = "") -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP end the block, see `interruptible`, and soon.

    Args:
        stage: what is interrupted, such as "analysing train.sqlite".
        hint: what to do next.

    Raises:
        Interrupted: one of them came; everything under the block has cleaned up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    watch = threading.Thread(target=_enforce, args=(reading, stage), daemon=True)
    try:
        watch.start()
        with interruptible(stage, hint):
            yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)


def end_soon(code: int) -> None:
    """End the process with a code where it does not by itself: none reads what it says, say."""

    def end() -> None:
        time.sleep(GRACE_S)
        os._exit(code)

    threading.Thread(target=end, daemon=True).start()


def _enforce(reading: int, stage: str) -> None:
    """End the process where a signal has not ended the block in time; runs in a thread."""
    came: list[int] = []
    deadline = float("inf")
    while not came or select.select([reading], [], [], max(0.0, deadline - time.monotonic()))[0]:
        numbers = os.read(reading, 64)
        if not numbers:
            os.close(reading)
            return
        for number in numbers:
            if number in STOP_SIGNALS:
                grace_s = SHORT_GRACE_S if came else GRACE_S
                came.append(number)
                deadline = min(deadline, time.monotonic() + grace_s)
    said = f"overlapcheck: stopped by {signal.Signals(came[0]).name} while {stage}\n"
    with suppress(OSError):
        # Not where nobody reads: it would wait for ever.
        if select.select([], [2], [], 0)[1]:
            os.write(2, said.encode("utf-8", "replace"))
    os._exit(128 + came[0])
