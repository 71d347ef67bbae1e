"""Running nsys and its helpers as short commands: own session, nothing on our streams."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from overlapcheck.errors import CaptureFailed
from overlapcheck.redaction import message_text

# Progress bars and the announcements around them; what is left is what nsys has to say.
_CHATTER = re.compile(
    r"^(\[\d+/\d+\]|Processing \d+ events|Generat(ing|ed)\b|Collecting data|Importing)"
)
MOST_OUTPUT_BYTES = 64 << 20
"""More than any nsys says; one that is broken may fill a disk."""
READ_OUTPUT_BYTES = 1 << 20
"""Of the end of an output: what went wrong is said last."""
STALL_S = 900.0
"""How long a tool that reads gigabytes may show no sign of life."""
_POLL_S = 0.05
_LOOK_AT_FILES_S = 1.0


@dataclass(frozen=True)
class ToolRun:
    """How a command ended."""

    exit_code: int
    output: str
    """stdout and stderr in the order in which they were written; of much, the end."""

    @property
    def said(self) -> tuple[str, ...]:
        """Lines of the output without progress bars."""
        return spoken_lines(self.output)

    @property
    def last_words(self) -> str:
        """The last line as it may be shown, or how the command ended where it said nothing."""
        return message_text(self.said[-1]) if self.said else f"exit code {self.exit_code}"


def spoken_lines(output: str) -> tuple[str, ...]:
    """Non-empty lines of nsys output without progress bars and file announcements."""
    lines = (line.strip() for line in re.split(r"[\r\n]+", output))
    return tuple(line for line in lines if line and not _CHATTER.match(line))


def tail_of(file: Path) -> str:
    """The end of a tool's output; empty where there is none."""
    try:
        with file.open("rb") as opened:
            opened.seek(max(0, opened.seek(0, os.SEEK_END) - READ_OUTPUT_BYTES))
            return opened.read(READ_OUTPUT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def run_tool(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    fills: Path | None = None,
) -> ToolRun:
    """Run a command to its end.

    It has its own session, so a Ctrl-C in the terminal reaches only us; whatever interrupts the
    wait kills the command with all its children first.

    Args:
        argv: the command.
        environment: its variables; None takes ours.
        timeout_s: how long it may take; None is as long as it shows signs of life.
        fills: folder whose files grow while it works, as a sign of life.

    Raises:
        CaptureFailed: the command cannot be started, takes too long, or says too much.
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
    assert child.stdout is not None
    with child.stdout as pipe:
        output = _Output(pipe.fileno(), argv[0])
        try:
            _wait(child, output, argv[0], timeout_s, fills)
        finally:
            if child.returncode is None:
                kill_session(child)
    return ToolRun(child.returncode, output.text)


class _Output:
    """What a command has printed so far, the end of it kept."""

    def __init__(self, pipe: int, name: str) -> None:
        os.set_blocking(pipe, False)
        self._pipe = pipe
        self._name = name
        self._kept = bytearray()
        self.length = 0

    @property
    def text(self) -> str:
        return self._kept[-READ_OUTPUT_BYTES:].decode("utf-8", "replace")

    def read(self, patience_s: float) -> bool:
        """Take what is there, after waiting for some; False at the end."""
        select.select([self._pipe], [], [], patience_s)
        with contextlib.suppress(BlockingIOError):
            while part := os.read(self._pipe, READ_OUTPUT_BYTES):
                self._kept += part
                self.length += len(part)
                if self.length > MOST_OUTPUT_BYTES:
                    raise CaptureFailed(f"{self._name} prints without end")
                if len(self._kept) > 2 * READ_OUTPUT_BYTES:
                    del self._kept[:-READ_OUTPUT_BYTES]
            return False
        return True


def _wait(
    child: subprocess.Popen[bytes],
    output: _Output,
    name: str,
    timeout_s: float | None,
    fills: Path | None,
) -> None:
    begun = moved = looked = time.monotonic()
    last = (0, 0)
    printing = True
    while child.poll() is None:
        if printing:
            printing = output.read(_POLL_S)
        else:
            time.sleep(_POLL_S)
        now = time.monotonic()
        if timeout_s is not None and now - begun > timeout_s:
            raise CaptureFailed(f"{name} did not end within {timeout_s:g} s")
        if timeout_s is None and now - looked > _LOOK_AT_FILES_S:
            looked, seen = now, (output.length, _bytes_in(fills))
            if seen != last:
                last, moved = seen, now
            if now - moved > STALL_S:
                raise CaptureFailed(f"{name} hangs: it has done nothing for {STALL_S:g} s")
    # Not to the end of the pipe: whatever the command left running may keep it open.
    output.read(0)


def _bytes_in(folder: Path | None) -> int:
    total = 0
    if folder is not None:
        with contextlib.suppress(OSError):
            total = sum(path.stat().st_size for path in folder.iterdir())
    return total


def kill_session(child: subprocess.Popen[bytes]) -> None:
    """Kill a command started in its own session, and wait until it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
