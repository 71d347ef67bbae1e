"""Watching nsys and the program under it: signals, disk space, and a clean end."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from overlapcheck.capture.descendants import Descendants
from overlapcheck.capture.disk_guard import DiskGuard
from overlapcheck.capture.early_end import EarlyEnd
from overlapcheck.capture.interruption import STOP_SIGNALS
from overlapcheck.capture.launcher import Launcher
from overlapcheck.capture.life_signs import LifeSigns
from overlapcheck.capture.processes import (
    POLL_S,
    RunningProcess,
    end_process,
    process,
    processes_with_tmpdir,
)
from overlapcheck.capture.tool import kill_session
from overlapcheck.errors import CaptureFailed, Interrupted

START_TIMEOUT_S = 120.0
GRACE_S = 5.0
# The third request to stop is meant.
KILL_AFTER_SIGNALS = 3
# From a terminal these reach every process of the foreground group.
_GROUP_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH, signal.SIGKILL)


class Watch:
    """The state of one recording, changed by signals and by the program's life."""

    def __init__(
        self,
        scratch: Path,
        progress: Callable[[str], None],
        warn: Callable[[str], None],
        limit_s: float = math.inf,
    ) -> None:
        self._limit_s = limit_s
        self._scratch = scratch
        self._progress = progress
        self._warn = warn
        self._program: RunningProcess | None = None
        self._launcher: Launcher | None = None
        self._descendants: Descendants | None = None
        self._received: deque[int] = deque()
        self._held: list[int] = []
        self._stops: list[int] = []
        self._importing = False
        self._warned_of_import = False
        self._abandoned = 0
        self._started_at = self._ended_at = time.monotonic()
        self.overran = False
        """The program ran for longer than it may, and has been ended."""
        self.outlived_nsys = False
        """nsys was gone while the program still ran."""
        self.lived_on: tuple[str, ...] = ()
        """Processes that the program started and that still ran when nsys was done."""

    @property
    def stopped_by(self) -> str:
        """First signal that was handed on to end the program; empty when none was."""
        return signal.Signals(self._stops[0]).name if self._stops else ""

    @property
    def lost_launcher(self) -> bool:
        """The part of nsys that waits for the program was gone before it."""
        return self._launcher is not None and self._launcher.is_lost

    @property
    def program_seconds(self) -> float:
        """How long the program ran."""
        return self._ended_at - self._started_at

    def receive(self, signum: int) -> None:
        """Take a signal; it is dealt with at the next look."""
        self._received.append(signum)

    def run(self, nsys: subprocess.Popen[bytes], end: EarlyEnd) -> None:
        """Watch until nsys is gone, and leave none of its processes.

        Args:
            nsys: `nsys profile`, just started.
            end: how to end its recording before the program.

        Raises:
            CaptureFailed: the program was never started.
            Interrupted: a second signal while the report was being written.
        """
        guard = DiskGuard(end, self._scratch, self._warn)
        signs = LifeSigns(self._scratch)
        try:
            while (nsys.poll() is None or end.is_writing) and not self._abandoned:
                self._look_for_the_program()
                if self._importing and self._nsys_waits_in_vain(end):
                    break
                self._deal_with_signals(end)
                if not self._importing:
                    guard.look()
                    if self.program_seconds > self._limit_s:
                        self.overran = True
                        break
                if signs.hangs(writing=self._importing):
                    self._warn("nsys hangs while it writes the report, and has been ended")
                    break
                time.sleep(POLL_S)
            self._look_for_the_program()
            self.outlived_nsys = not (self._abandoned or self.overran) and self._program_runs()
            if self._descendants is not None and not (self.outlived_nsys or self.overran):
                self.lived_on = self._descendants.living()
        finally:
            self._clean_up(nsys)
        if self._abandoned:
            raise Interrupted(
                "given up while nsys was writing the report", "run it again", self._abandoned
            )

    def _deal_with_signals(self, end: EarlyEnd) -> None:
        """Hand signals on to the program, or protect the report that is being written."""
        program = self._program
        if program is None:
            return
        while self._received:
            signum = self._received.popleft()
            if self._importing:
                self._while_importing(signum)
            elif signum in STOP_SIGNALS:
                self._stops.append(signum)
                self._held.append(signum)
                end.begin()
            elif signum == signal.SIGTSTP:
                self._pause(program)
            else:
                self._hand_on(signum, program)
        # The first request waits until the recording is safe, a second one does not.
        if self._held and (end.has_collected or len(self._stops) > 1):
            for signum in self._held:
                self._hand_on(signum, program)
            self._held.clear()

    def _nsys_waits_in_vain(self, end: EarlyEnd) -> bool:
        """Whether nsys will never hear that the program is over, and has been told to write."""
        if self._launcher is None:
            return False
        self._launcher.look(program_runs=False)
        self._launcher.wake()
        if self._launcher.is_lost:
            end.begin()
            return not end.is_writing
        return False

    def _look_for_the_program(self) -> None:
        if self._importing:
            return
        if self._program is None:
            self._program = self._started()
            if self._program is None:
                return
            self._launcher = Launcher(self._scratch)
            self._descendants = Descendants(self._program)
            self._started_at = time.monotonic()
        self._ended_at = time.monotonic()
        program_runs = self._program.is_running
        if self._launcher is not None:
            self._launcher.look(program_runs=program_runs)
        if program_runs and self._descendants is not None:
            self._descendants.look()
        if not program_runs:
            self._importing = True
            self._progress("writing the report")

    def _started(self) -> RunningProcess | None:
        try:
            pid = int((self._scratch / "started").read_text(encoding="ascii"))
        except FileNotFoundError:
            if time.monotonic() - self._started_at > START_TIMEOUT_S:
                raise CaptureFailed(
                    f"nsys did not start the program within {START_TIMEOUT_S:g} s",
                    "overlapcheck doctor shows what is wrong",
                ) from None
            return None
        return process(pid) or RunningProcess(pid, start_ticks=-1)

    def _program_runs(self) -> bool:
        return self._program is not None and self._program.is_running

    def _hand_on(self, signum: int, program: RunningProcess) -> None:
        if len(self._stops) >= KILL_AFTER_SIGNALS and signum in STOP_SIGNALS:
            self._warn("killing the program; what it recorded is still judged")
            signum = signal.SIGKILL
        program.send(signum, whole_group=signum in _GROUP_SIGNALS)

    def _pause(self, program: RunningProcess) -> None:
        # The program is in another session, where a terminal's Ctrl-Z does not reach it.
        program.send(signal.SIGSTOP, whole_group=True)
        os.kill(os.getpid(), signal.SIGSTOP)
        program.send(signal.SIGCONT, whole_group=True)

    def _while_importing(self, signum: int) -> None:
        if signum not in STOP_SIGNALS:
            return
        if self._warned_of_import:
            self._abandoned = signum
        else:
            self._warned_of_import = True
            self._warn("the report is being written; once more gives it up")

    def _clean_up(self, nsys: subprocess.Popen[bytes]) -> None:
        if self._program is not None and self._program.is_running:
            end_process(self._program, grace_s=GRACE_S)
        if self.overran and self._descendants is not None:
            self._descendants.end()
        kill_session(nsys)
        for left_over in list(processes_with_tmpdir(self._scratch)):
            left_over.send(signal.SIGKILL)
        with contextlib.suppress(OSError):
            for name in (self._scratch / "config_files").read_text(encoding="utf-8").splitlines():
                Path(name).unlink(missing_ok=True)
