"""Running nsys and its helpers as short commands: own session, nothing on our streams."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from overlapcheck.errors import CaptureFailed

# Progress bars and the announcements around them; what is left is what nsys has to say.
_CHATTER = re.compile(
    r"^(\[\d+/\d+\]|Processing \d+ events|Generat(ing|ed)\b|Collecting data|Importing)"
)


@dataclass(frozen=True)
class ToolRun:
    """How a command ended."""

    exit_code: int
    output: str
    """stdout and stderr in the order in which they were written."""

    @property
    def said(self) -> tuple[str, ...]:
        """Lines of the output without progress bars."""
        return spoken_lines(self.output)


def spoken_lines(output: str) -> tuple[str, ...]:
    """Non-empty lines of nsys output without progress bars and file announcements."""
    lines = (line.strip() for line in re.split(r"[\r\n]+", output))
    return tuple(line for line in lines if line and not _CHATTER.match(line))


def run_tool(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> ToolRun:
    """Run a command to its end.

    It has its own session, so a Ctrl-C in the terminal reaches only us; whatever interrupts the
    wait kills the command with all its children first.

    Raises:
        CaptureFailed: the command cannot be started or took longer than timeout_s.
    """
    try:
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=None if environment is None else dict(environment),
            start_new_session=True,
        )
    except OSError as error:
        raise CaptureFailed(f"cannot start {argv[0]}: {error.strerror}") from error
    try:
        output, _ = child.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise CaptureFailed(f"{argv[0]} did not end within {timeout_s:g} s") from error
    finally:
        if child.returncode is None:
            kill_session(child)
        if child.stdout:
            child.stdout.close()
    return ToolRun(child.returncode, output.decode("utf-8", "replace"))


def kill_session(child: subprocess.Popen[bytes]) -> None:
    """Kill a command started in its own session, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
