"""From what happened to one line and an exit code: the only place where either is decided."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import click

from overlapcheck.cli.messages import say, say_usage
from overlapcheck.errors import ExitCode, foreseen

_TRACEBACK = "OVERLAPCHECK_TRACEBACK"
"""Variable that asks for the whole traceback of an error."""


class Commands(click.Group):
    """Commands whose errors reach us: click would exit with 1 at any broken pipe of ours."""

    def invoke(self, ctx: click.Context) -> Any:
        """See click."""
        try:
            return super().invoke(ctx)
        except (OSError, EOFError, SystemExit) as error:
            raise foreseen(error) from error


def exit_code_of(command: Callable[[], int | None]) -> int:
    """Run a command; what it raises becomes one line on stderr and an exit code.

    Args:
        command: returns its exit code, None for 0; raises whatever it likes.
    """
    try:
        return int(command() or 0)
    except click.ClickException as error:
        say_usage(error)
        return error.exit_code
    except SystemExit:
        # click's answer to a shell that completes a command line.
        raise
    except BaseException as error:
        return _told(error)


def leave(code: int) -> None:
    """Exit; one that was stopped waits for no thread that is still at work."""
    if code > ExitCode.PROGRAM_FAILED and any(_holds_up(one) for one in threading.enumerate()):
        os._exit(code)
    sys.exit(code)


def _told(error: BaseException) -> int:
    if os.environ.get(_TRACEBACK):
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        say("interrupted")
        return ExitCode.INTERRUPTED
    told = foreseen(error)
    say(str(told))
    return told.exit_code


def _holds_up(thread: threading.Thread) -> bool:
    return not thread.daemon and thread is not threading.main_thread()
