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
from overlapcheck.errors import TRACEBACK, ExitCode, Interrupted, foreseen

_DEFAULT = "analyze"
_SUFFIXES = (".nsys-rep", ".qdrep", ".qdstrm", ".sqlite")


class Commands(click.Group):
    """Commands whose errors reach us.

    By itself click exits with 1 at any broken pipe of ours, and breaks the line at a Ctrl-C.
    What is no command but a recording is one to analyse.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See click."""
        if args and args[0] not in self.commands and _is_recording(args[0]):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

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
    if os.environ.get(TRACEBACK):
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


def _is_recording(word: str) -> bool:
    """Whether a word names a report, a folder of them, a list or a pattern."""
    if word.startswith("-"):
        return False
    return word.endswith(_SUFFIXES) or word.startswith("@") or os.path.exists(word)  # noqa: PTH110  # Path raises at a NUL


def _holds_up(thread: threading.Thread) -> bool:
    return not thread.daemon and thread is not threading.main_thread()
