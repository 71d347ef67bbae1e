"""One run of nsys: started, watched, and cleaned up after."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from overlapcheck.capture import program_start
from overlapcheck.capture.interruption import MESSAGE_SIGNALS, STOP_SIGNALS, handling
from overlapcheck.capture.processes import (
    POLL_S,
    RunningProcess,
    end_process,
    process,
    processes_with_tmpdir,
)
from overlapcheck.capture.tool import kill_session, spoken_lines
from overlapcheck.errors import CaptureFailed, Interrupted

START_TIMEOUT_S = 120.0
GRACE_S = 5.0
# Clear of the numbers that nsys gives to its own standard streams.
LOWEST_COPY = 10
# The third request to stop is meant.
KILL_AFTER_SIGNALS = 3
# From a terminal these reach every process of the foreground group.
_GROUP_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH)

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Recording:
    """How nsys and the program under it ended."""

    exit_code: int
    """nsys's own, which is the program's when that was started."""
    started: bool
    not_started: str
    """Why the system refused to run the program; empty when it did not."""
    outlived_nsys: bool
    """nsys was gone while the program still ran; the program has been ended."""
    stopped_by: str
    """First signal that we were sent; empty when none was."""
    program_seconds: float
    said: tuple[str, ...]
    """What nsys printed, without progress bars."""


def record(
    argv_for: Callable[[Sequence[str]], Sequence[str]],
    scratch: Path,
    environment: Mapping[str, str],
    *,
    progress: Tell,
    warn: Tell,
) -> Recording:
    """Run nsys to its end.

    Args:
        argv_for: nsys's command line, given the words to put before the program.
        scratch: private directory; nsys's temporary files go there, too.
        environment: variables to add.
        progress: told when the report is being written.
        warn: told what a signal did.

    Raises:
        CaptureFailed: nsys cannot be started.
        Interrupted: a second signal while the report was being written.
    """
    with _own_streams() as streams:
        descriptors = [str(stream) for stream in streams]
        tmpdir = f"={os.environ['TMPDIR']}" if "TMPDIR" in os.environ else ""
        launcher = [sys.executable, "-I", "-S", program_start.__file__, str(scratch), tmpdir]
        argv = argv_for([*launcher, *descriptors, "--"])
        watch = _Watch(scratch, progress, warn)
        with handling((*STOP_SIGNALS, *MESSAGE_SIGNALS), watch.receive):
            return watch.run(argv, {**_environment(), **environment}, streams)


class _Watch:
    """The state of one recording, changed by signals and by the program's life."""

    def __init__(self, scratch: Path, progress: Tell, warn: Tell) -> None:
        self._scratch = scratch
        self._progress = progress
        self._warn = warn
        self._program: RunningProcess | None = None
        self._started_at = self._ended_at = time.monotonic()
        self._pending: list[int] = []
        self._stops: list[int] = []
        self._importing = False
        self._warned_of_import = False
        self._abandoned = False

    def receive(self, signum: int) -> None:
        """Hand a signal on to the program, or protect the report that is being written."""
        if signum in STOP_SIGNALS:
            self._stops.append(signum)
        if self._importing:
            self._while_importing(signum)
        elif self._program is None:
            self._pending.append(signum)
        else:
            self._hand_on(signum)

    def run(
        self, argv: Sequence[str], environment: Mapping[str, str], streams: Sequence[int]
    ) -> Recording:
        log_path = self._scratch / "nsys.log"
        with log_path.open("wb") as log:
            nsys = _start(
                argv, {**environment, "TMPDIR": str(self._scratch)}, streams, log.fileno()
            )
        try:
            while nsys.poll() is None and not self._abandoned:
                self._look_for_the_program()
                time.sleep(POLL_S)
            outlived = self._abandoned is False and self._program_runs()
        finally:
            self._clean_up(nsys)
        if self._abandoned:
            raise Interrupted("given up while nsys was writing the report", "run it again")
        self._look_for_the_program()
        return Recording(
            exit_code=nsys.returncode,
            started=(self._scratch / "started").exists(),
            not_started=_text(self._scratch / "not_started"),
            outlived_nsys=outlived,
            stopped_by=signal.Signals(self._stops[0]).name if self._stops else "",
            program_seconds=self._ended_at - self._started_at,
            said=spoken_lines(_text(log_path)),
        )

    def _look_for_the_program(self) -> None:
        if self._importing:
            return
        if self._program is None:
            pid = _text(self._scratch / "started")
            if not pid:
                if time.monotonic() - self._started_at > START_TIMEOUT_S:
                    raise CaptureFailed(
                        f"nsys did not start the program within {START_TIMEOUT_S:g} s",
                        "overlapcheck doctor shows what is wrong",
                    )
                return
            self._started_at = self._ended_at = time.monotonic()
            self._program = process(int(pid)) or RunningProcess(int(pid), -1)
            while self._pending:
                self._hand_on(self._pending.pop(0))
        self._ended_at = time.monotonic()
        if not self._program.is_running:
            self._importing = True
            self._progress("writing the report")

    def _program_runs(self) -> bool:
        return self._program is not None and self._program.is_running

    def _hand_on(self, signum: int) -> None:
        assert self._program is not None
        if len(self._stops) >= KILL_AFTER_SIGNALS and signum in STOP_SIGNALS:
            self._warn("killing the program; what it recorded is still judged")
            signum = signal.SIGKILL
        self._program.send(signum, whole_group=signum in (*_GROUP_SIGNALS, signal.SIGKILL))

    def _while_importing(self, signum: int) -> None:
        if signum not in STOP_SIGNALS:
            return
        # The signal that ended the program was the first; only later ones mean the report.
        if self._warned_of_import:
            self._abandoned = True
        else:
            self._warned_of_import = True
            self._warn("the report is being written; once more gives it up")

    def _clean_up(self, nsys: subprocess.Popen[bytes]) -> None:
        if self._program is not None and self._program.is_running:
            end_process(self._program, grace_s=GRACE_S)
        kill_session(nsys)
        for left_over in list(processes_with_tmpdir(self._scratch)):
            left_over.send(signal.SIGKILL)
        for name in _text(self._scratch / "config_files").splitlines():
            with contextlib.suppress(OSError):
                Path(name).unlink()


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
