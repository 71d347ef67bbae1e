"""From what happened to one line and an exit code: the only place where either is decided."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import click

from overlapcheck.capture.interruption import stopped_once
from overlapcheck.cli.messages import say, say_usage
from overlapcheck.cli.stopping import end_soon
from overlapcheck.errors import ExitCode, Interrupted, foreseen

_TRACEBACK = "OVERLAPCHECK_TRACEBACK"
"""Variable that asks for the whole traceback of an error."""


class Commands(click.Group):
    """Commands whose errors reach us.

    By itself click exits with 1 at any broken pipe of ours, and breaks the line at a Ctrl-C.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """See click."""
        try:
            return super().invoke(ctx)
        except (OSError, EOFError, SystemExit) as error:
            raise foreseen(error) from error
        except KeyboardInterrupt as error:
            raise click.Abort from error


def exit_code_of(command: Callable[[], int | None]) -> int:
    """Run a command; what it raises becomes one line on stderr and an exit code.

    Args:
        command: returns its exit code, None for 0; raises whatever it likes.
    """
    with stopped_once() as received:
        try:
            return _exit_code_of(command, received)
        except KeyboardInterrupt as error:
            # While something else was told.
            return _told(error, received)


def _exit_code_of(command: Callable[[], int | None], received: Sequence[int]) -> int:
    try:
        return int(command() or 0)
    except click.ClickException as error:
        say_usage(error)
        return error.exit_code
    except SystemExit:
        # click's answer to a shell that completes a command line.
        raise
    except BaseException as error:
        return _told(error, received)


def leave(code: int) -> None:
    """Exit; one that was stopped waits for no thread that is still at work."""
    if code > ExitCode.PROGRAM_FAILED and any(_holds_up(one) for one in threading.enumerate()):
        os._exit(code)
    sys.exit(code)


def _told(error: BaseException, received: Sequence[int]) -> int:
    """Tell an error, in time where a signal has asked for it."""
    if os.environ.get(_TRACEBACK):
        traceback.print_exception(error)
    is_stop = isinstance(error, KeyboardInterrupt | click.Abort)
    if is_stop or (received and not isinstance(error, Interrupted)):
        signum = signal.Signals(received[0] if received else signal.SIGINT)
        what = "interrupted" if signum == signal.SIGINT else f"stopped by {signum.name}"
        error = Interrupted(what, signum=signum)
    told = foreseen(error)
    if received:
        end_soon(told.exit_code)
    say(str(told))
    return told.exit_code


def _holds_up(thread: threading.Thread) -> bool:
    return not thread.daemon and thread is not threading.main_thread()
