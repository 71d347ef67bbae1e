"""The life of a worker process: it ends when it is told to, and never outlives its parent."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import NoReturn, TypeVar

from overlapcheck.errors import ExitCode, Interrupted

Given = TypeVar("Given")
Made = TypeVar("Made")

GRACE_S = 3.0
"""For a worker to put away what it had begun: a half-made export, an nsys that makes it."""
SHORT_GRACE_S = 0.5
"""The same, where a second signal says that it is meant."""
_STOP_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class _Ended(BaseException):
    """We have been told to end; whatever is under way cleans up."""


# ---- in the parent


def submit(pool: ProcessPoolExecutor, work: Callable[[Given], Made], given: Given) -> Future[Made]:
    """Hand work to a pool whose workers have `become_worker`; it may start one.

    A signal that comes meanwhile waits: a worker that is not yet ready for it would be in its way.
    """
    if threading.current_thread() is not threading.main_thread():
        return pool.submit(_until_told, work, given)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    try:
        return pool.submit(_until_told, work, given)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_workers(pool: ProcessPoolExecutor) -> None:
    """End a pool's workers in an orderly way, by force where that takes too long.

    Raises:
        KeyboardInterrupt: a further signal came meanwhile; the workers have ended all the same.
    """
    # NOTE: Python 3.14 has pool.terminate_workers(); it waits for none of them.
    workers = list((pool._processes or {}).values())
    try:
        for worker in workers:
            worker.terminate()
        _await_end(workers, GRACE_S)
    except KeyboardInterrupt:
        _await_end(workers, SHORT_GRACE_S)
        raise
    finally:
        for worker in workers:
            worker.kill()


def _await_end(workers: Sequence[BaseProcess], patience_s: float) -> None:
    running = {worker.sentinel for worker in workers}
    deadline = time.monotonic() + patience_s
    while running and (left_s := deadline - time.monotonic()) > 0:
        running.difference_update(wait(list(running), left_s))


# ---- in a worker


def become_worker() -> None:
    """Prepare a process that has just been started.

    The terminal's Ctrl-C reaches it too, but it is the parent that decides what that means.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)


def _until_told(work: Callable[[Given], Made], given: Given) -> Made:
    global _busy
    try:
        _busy = True
        return work(given)
    except (_Ended, Interrupted):
        # Not back to the pool, which would hand out the next piece of work.
        os._exit(ExitCode.TERMINATED)
    finally:
        _busy = False


_busy = False


def _end(_: int, __: FrameType | None) -> NoReturn:
    if _busy:
        raise _Ended
    os._exit(ExitCode.TERMINATED)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is None:
        return
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    # Still here: in a library that does not come back to Python.
    os._exit(ExitCode.TERMINATED)
