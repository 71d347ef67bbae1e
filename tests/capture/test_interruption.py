"""Stop signals become an error with a name; handlers are put back; ignored signals stay ignored."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from overlapcheck.capture.interruption import STOP_SIGNALS, handling, interruptible
from overlapcheck.errors import Interrupted


@pytest.fixture(autouse=True)
def _nothing_is_ignored() -> Iterator[None]:
    """As in a terminal: whoever runs the tests (nohup, a job in the background) may ignore some."""
    before = {signum: signal.getsignal(signum) for signum in STOP_SIGNALS}
    for signum in STOP_SIGNALS:
        signal.signal(signum, signal.SIG_DFL)
    yield
    for signum, handler in before.items():
        signal.signal(signum, handler)


@pytest.fixture(autouse=True)
def _handlers_are_put_back(_nothing_is_ignored: None) -> Iterator[None]:
    before = [signal.getsignal(signum) for signum in STOP_SIGNALS]
    yield
    assert [signal.getsignal(signum) for signum in STOP_SIGNALS] == before


@pytest.mark.parametrize("signum", STOP_SIGNALS)
def test_signal_ends_the_block_after_its_clean_up(signum: signal.Signals) -> None:
    cleaned = []
    with (
        pytest.raises(Interrupted, match=f"stopped by {signum.name} while analysing x") as caught,
        interruptible("analysing x", "overlapcheck analyze x"),
    ):
        try:
            os.kill(os.getpid(), signum)
            signal.sigtimedwait([], 5)
        finally:
            cleaned.append(True)
    assert cleaned == [True]
    assert caught.value.exit_code == 128 + signum
    assert caught.value.hint == "overlapcheck analyze x"


def test_a_library_that_makes_another_error_of_it_is_stopped_all_the_same() -> None:
    def called_back() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.sigtimedwait([], 5)

    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(Interrupted, match="stopped by SIGTERM while analysing x"),
        interruptible("analysing x"),
    ):
        connection.create_function("called_back", 0, called_back)
        connection.execute("SELECT called_back()")


def test_without_a_signal_nothing_happens() -> None:
    with interruptible("analysing x"):
        pass


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), interruptible("analysing x"):
        raise ZeroDivisionError


def test_ignored_signal_stays_ignored() -> None:
    previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    received: list[int] = []
    try:
        with handling(STOP_SIGNALS, received.append):
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGHUP, previous)
    assert received == [signal.SIGTERM]


def test_other_threads_do_without() -> None:
    done = []

    def work() -> None:
        with interruptible("analysing x"):
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
