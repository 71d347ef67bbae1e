"""Signals that ask us to stop: turned into exceptions, or handed on to the program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from overlapcheck.errors import Interrupted

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Sent by job schedulers and terminals to tell the program something.
MESSAGE_SIGNALS = (
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGQUIT,
    signal.SIGWINCH,
    signal.SIGTSTP,
)


@contextmanager
def handling(signals: tuple[signal.Signals, ...], handler: Callable[[int], None]) -> Iterator[None]:
    """Call handler for these signals while the block runs.

    A signal that was ignored when we started (nohup, a background job) stays ignored, one that is
    handled by something else than Python stays with that. Outside the main thread Python cannot
    handle signals, and nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(signum: int, _: FrameType | None) -> None:
        handler(signum)

    previous = {
        signum: signal.signal(signum, handle)
        for signum in signals
        if signal.getsignal(signum) not in (signal.SIG_IGN, None)
    }
    try:
        yield
    finally:
        for signum, old in previous.items():
            signal.signal(signum, old)


@contextmanager
def interruptible(stage: str, hint: str = "") -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP end the block in an orderly way.

    Args:
        stage: what is interrupted, such as "exporting train.nsys-rep".
        hint: what to do next.

    Raises:
        Interrupted: one of them came; everything under the block has cleaned up.
    """
    received: list[int] = []

    def stop(signum: int) -> None:
        received.append(signum)
        raise KeyboardInterrupt

    try:
        with handling(STOP_SIGNALS, stop):
            yield
    except KeyboardInterrupt as error:
        signum = signal.Signals(received[0] if received else signal.SIGINT)
        raise Interrupted(f"stopped by {signum.name} while {stage}", hint, signum) from error
