"""Signals that ask us to stop: turned into exceptions, or handed on to the program."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

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
_RECEIVED: ContextVar[list[int] | None] = ContextVar("_RECEIVED", default=None)
"""Signals that ended blocks of the command that is running, where it is `stopped_once`."""


@contextmanager
def handling(
    signals: tuple[signal.Signals, ...], handler: Callable[[int], None]
) -> Iterator[dict[signal.Signals, Any]]:
    """Call handler for these signals while the block runs.

    A signal that was ignored when we started (nohup, a background job) stays ignored, one that is
    handled by something else than Python stays with that. Outside the main thread Python cannot
    handle signals, and nothing is changed.

    Yields:
        The handlers that are put back at the end, by signal; may be changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield {}
        return

    def handle(signum: int, _: FrameType | None) -> None:
        handler(signum)

    previous = {
        signum: signal.signal(signum, handle)
        for signum in signals
        if signal.getsignal(signum) not in (signal.SIG_IGN, None)
    }
    try:
        yield previous
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
    around = _RECEIVED.get()
    received = [] if around is None else around
    before = len(received)

    def stop(signum: int) -> None:
        received.append(signum)
        raise KeyboardInterrupt

    try:
        with handling(STOP_SIGNALS, stop):
            yield
    except Interrupted:
        raise
    except (KeyboardInterrupt, Exception) as error:
        # A library that was calling us back makes an error of its own of the one we raised.
        if len(received) == before and not isinstance(error, KeyboardInterrupt):
            raise
        signum = signal.Signals(received[0] if received else signal.SIGINT)
        raise Interrupted(f"stopped by {signum.name} while {stage}", hint, signum) from error


@contextmanager
def stopped_once() -> Iterator[list[int]]:
    """Let the first SIGINT, SIGTERM or SIGHUP end a whole command, wherever it is.

    Outside of any `interruptible` block it raises KeyboardInterrupt. Later ones change nothing
    there, nor once the block is left: whoever repeats the signal gets the answer to the first.

    Yields:
        The signals that came, the first one first; filled.
    """
    received: list[int] = []

    def stop(signum: int) -> None:
        received.append(signum)
        if len(received) == 1:
            raise KeyboardInterrupt

    token = _RECEIVED.set(received)
    try:
        with handling(STOP_SIGNALS, stop) as put_back:
            try:
                yield received
            finally:
                if received:
                    put_back.update(dict.fromkeys(put_back, signal.SIG_IGN))
    finally:
        _RECEIVED.reset(token)
