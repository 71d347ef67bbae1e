"""One run of nsys: how it is started, and how it ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from overlapcheck.capture import program_start
from overlapcheck.capture.early_end import EarlyEnd
from overlapcheck.capture.interruption import MESSAGE_SIGNALS, STOP_SIGNALS, handling
from overlapcheck.capture.tool import spoken_lines, tail_of
from overlapcheck.capture.watch import Watch
from overlapcheck.errors import CaptureFailed

# Clear of the numbers that nsys gives to its own standard streams.
LOWEST_COPY = 10


@dataclass(frozen=True)
class Recording:
    """How nsys and the program under it ended."""

    exit_code: int
    """nsys's own, which is the program's when that was started; 0 where nsys lost sight of it."""
    started: bool
    not_started: str
    """Why the system refused to run the program; empty when it did not."""
    overran: bool
    """The program ran for longer than it may, and has been ended."""
    outlived_nsys: bool
    """nsys was gone while the program still ran; the program has been ended."""
    lost_launcher: bool
    """nsys's launcher was gone before the program: nobody knows how that ended."""
    lived_on: tuple[str, ...]
    """Processes that the program started and that outlived it: "python3 (4711)"."""
    stopped_by: str
    """First signal that was handed on to end the program; empty when none was."""
    program_seconds: float
    said: tuple[str, ...]
    """What nsys printed, without progress bars."""


def record(
    argv_for: Callable[[Sequence[str]], Sequence[str]],
    scratch: Path,
    environment: Mapping[str, str],
    watch: Watch,
) -> Recording:
    """Run nsys to its end.

    Args:
        argv_for: nsys's command line, given the words to put before the program.
        scratch: private directory; nsys's temporary files go there, too.
        environment: variables to add.
        watch: of the same scratch, not used before.

    Raises:
        CaptureFailed: nsys cannot be started, or does not start the program.
        Interrupted: a second signal while the report was being written.
    """
    log_path = scratch / "nsys.log"
    own = {**_environment(), **environment, "TMPDIR": str(scratch)}
    with (
        _own_streams() as streams,
        # Appended to, so that it can be cut while nsys writes it.
        log_path.open("ab") as log,
        handling((*STOP_SIGNALS, *MESSAGE_SIGNALS), watch.receive),
    ):
        argv = argv_for(_launcher(scratch, streams))
        nsys = _start(argv, own, streams, log.fileno())
        watch.run(nsys, EarlyEnd(nsys, argv[0], own, scratch / "stop.log"))
    return Recording(
        exit_code=0 if watch.lost_launcher and not watch.outlived_nsys else nsys.returncode,
        started=(scratch / "started").exists(),
        not_started=_text(scratch / "not_started"),
        overran=watch.overran,
        outlived_nsys=watch.outlived_nsys,
        lost_launcher=watch.lost_launcher,
        lived_on=watch.lived_on,
        stopped_by=watch.stopped_by,
        program_seconds=watch.program_seconds,
        said=spoken_lines(tail_of(log_path)),
    )


def _launcher(scratch: Path, streams: Sequence[int]) -> list[str]:
    """The words that go before the program: see program_start.py."""
    tmpdir = f"={os.environ['TMPDIR']}" if "TMPDIR" in os.environ else ""
    script = [sys.executable, "-I", "-S", program_start.__file__]
    return [*script, str(scratch), tmpdir, *map(str, streams), "--"]


def _start(
    argv: Sequence[str], environment: Mapping[str, str], streams: Sequence[int], log: int
) -> subprocess.Popen[bytes]:
    try:
        # Its own session: a Ctrl-C in the terminal must not reach nsys, which may lose the report.
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(environment),
            pass_fds=tuple(streams),
            start_new_session=True,
        )
    except OSError as error:
        raise CaptureFailed(f"cannot start {argv[0]}: {error.strerror}") from error


@contextlib.contextmanager
def _own_streams() -> Iterator[tuple[int, ...]]:
    """Copies of our standard streams for the program; a closed one becomes /dev/null."""
    copies: list[int] = []
    try:
        for descriptor, stream in enumerate((sys.__stdin__, sys.__stdout__, sys.__stderr__)):
            # None: closed when we started; by now the number may mean another file.
            source = os.open(os.devnull, os.O_RDWR) if stream is None else descriptor
            copies.append(fcntl.fcntl(source, fcntl.F_DUPFD_CLOEXEC, LOWEST_COPY))
            if source != descriptor:
                os.close(source)
        yield tuple(copies)
    finally:
        for copy in copies:
            os.close(copy)


def _environment() -> dict[str, str]:
    """Our environment as we were given it: without what Python added for itself."""
    environment = dict(os.environ)
    with contextlib.suppress(OSError):
        if b"LC_CTYPE=" not in Path("/proc/self/environ").read_bytes():
            environment.pop("LC_CTYPE", None)
    return environment


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
