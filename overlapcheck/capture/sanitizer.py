"""Running a program once more, without nsys, under PyTorch's own CUDA sanitizer."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from overlapcheck.capture.sanitizer_log import unordered_in
from overlapcheck.captured import SIGNAL_BASE
from overlapcheck.errors import CaptureFailed
from overlapcheck.sanitizer_run import SanitizerRun

VARIABLE = "TORCH_CUDA_SANITIZER"
MOST_CHARACTERS = 8 << 20
"""Of stderr that are kept to be read; the sanitizer ends a program at its first report."""
_TIMES_SLOWER = 10
"""A program that --duration ends gets so many times as long: the sanitizer looks at every call."""
_GRACE_S = 5
_STDERR = 2


def sanitize(command: Sequence[str], *, at_most_s: int = 0) -> SanitizerRun:
    """Run a program under the sanitizer and read what that says.

    The program's stdout is not shown again; its stderr goes to ours as it comes.

    Args:
        command: program and arguments.
        at_most_s: seconds after which the recorded run was ended; 0 waits for the end.

    Raises:
        CaptureFailed: the program cannot be started.
    """
    try:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=os.environ | {VARIABLE: "1"},
            start_new_session=True,
        )
    except OSError as error:
        raise CaptureFailed(f"cannot start {command[0]}: {error.strerror}") from error
    assert child.stderr is not None
    heard: list[str] = []
    listener = threading.Thread(target=_listen, args=(child.stderr, heard), daemon=True)
    listener.start()
    stopped_by = ""
    try:
        child.wait(at_most_s * _TIMES_SLOWER or None)
    except subprocess.TimeoutExpired:
        stopped_by = f"{at_most_s * _TIMES_SLOWER} s under the sanitizer"
    finally:
        _end(child)
        listener.join(_GRACE_S)
        child.stderr.close()
    code = child.returncode
    found = unordered_in("".join(heard), Path.cwd())
    return SanitizerRun(found, SIGNAL_BASE - code if code < 0 else code, stopped_by)


def _listen(stream: IO[bytes], heard: list[str]) -> None:
    """Pass on what comes, and keep it as long as it is not too much."""
    kept = 0
    for line in stream:
        with contextlib.suppress(OSError):
            os.write(_STDERR, line)
        text = line.decode("utf-8", "replace")
        if kept < MOST_CHARACTERS:
            heard.append(text)
            kept += len(text)


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the program's whole group where it still runs."""
    for signum in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is not None:
            return
        try:
            os.killpg(child.pid, signum)
            child.wait(_GRACE_S)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
