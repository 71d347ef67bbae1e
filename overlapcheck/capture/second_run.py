"""Running a program again that has been recorded: with NVTX ranges alone, at its own pace."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from pathlib import Path

from overlapcheck.capture.discovery import Nsys
from overlapcheck.capture.outside_repair import OutsideRepair
from overlapcheck.capture.profile import profile
from overlapcheck.capture.spec import CaptureSpec, control_spec
from overlapcheck.captured import CapturedReport, name_of_second_run
from overlapcheck.errors import CaptureFailed, Interrupted, OverlapcheckError, PolicyInvalid
from overlapcheck.quantities import duration

TIMES_AS_LONG, ALLOWANCE_S = 3.0, 60.0
"""A second run may take so many times the first one, and so many seconds more."""

_RANKS = {
    "RANK": "WORLD_SIZE",
    "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK": "PMI_SIZE",
    "MV2_COMM_WORLD_RANK": "MV2_COMM_WORLD_SIZE",
    "SLURM_PROCID": "SLURM_STEP_NUM_TASKS",
}
"""Variables that launchers set in a rank, and those that say how many there are."""
CONTROL_COMMAND = "nsys profile --trace=nvtx"
"""What records a control by hand."""
_ASKED = "--control asks for it"
_AGENT_STORE = "TORCHELASTIC_USE_AGENT_STORE"
_PORTS, _SPAN = 1 << 16, 1 << 14


class When(StrEnum):
    """Whether a program runs again."""

    AUTO = "auto"
    """Where that would settle something."""
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True)
class ControlPlan:
    """What `--control` asks for.

    >>> ControlPlan.of("auto")
    ControlPlan(when=<When.AUTO: 'auto'>, runs=1)
    >>> ControlPlan.of(3)
    ControlPlan(when=<When.ALWAYS: 'always'>, runs=3)
    """

    when: When = When.AUTO
    runs: int = 1
    """Control runs, in turns with as many recordings."""

    @classmethod
    def of(cls, asked: str | int) -> ControlPlan:
        """What `auto`, `always`, `never` or a number asks for.

        Raises:
            PolicyInvalid: it is none of them.
        """
        text = str(asked)
        if text in tuple(When):
            return cls(When(text))
        if text.isdecimal() and int(text) > 0:
            return cls(When.ALWAYS, int(text))
        raise PolicyInvalid(f"--control {text}: not auto, always, never or a number of runs")


class SecondRuns:
    """One program as it is run now and will be run again. Made before its first run.

    Args:
        command: program and arguments.
        spec: what its first run records.
        nsys: the one to record with.
        progress: told what begins.
        warn: told at once what the user should know.
    """

    def __init__(
        self,
        command: Sequence[str],
        spec: CaptureSpec,
        nsys: Nsys,
        *,
        progress: Callable[[str], None],
        warn: Callable[[str], None],
    ) -> None:
        self._command, self._spec, self._nsys = command, spec, nsys
        self._program = command[0]
        self._progress, self._warn = progress, warn
        self._stdin_at = _stdin_position()
        self._runs = 0

    def first(self) -> CapturedReport:
        """Run and record it for the first time; raises as `profile`."""
        return profile(
            self._spec, self._command, self._nsys, progress=self._progress, warn=self._warn
        )

    @property
    def to_its_end(self) -> bool:
        """Whether all of the program is recorded: then each run must have as many steps."""
        return not (self._spec.delay_s or self._spec.duration_s or self._spec.capture_range)

    def announced(
        self, plan: ControlPlan, first: CapturedReport, wanted: str | None, *, has_steps: bool
    ) -> bool:
        """Say that the program runs again and why, or why not; whether it does.

        Args:
            plan: what was asked for.
            first: its first run.
            wanted: what a control would settle, as a clause; None where it would settle nothing.
            has_steps: whether it is judged by steps that NVTX ranges mark: a control has no others.
        """
        asked = plan.when is When.ALWAYS
        if plan.when is When.NEVER or first.program_failed or not (asked or wanted):
            return False
        if not has_steps:
            self._warn(
                "--control: no steps were judged that NVTX ranges mark, and a control has nothing"
                " else to time; mark them (PyTorch: --mark-steps)"
            )
            return False
        if first.stopped_by_signal:
            self._warn(f"{self._program} was stopped, so it does not run again: {wanted or _ASKED}")
            return False
        if not asked and (rank := rank_of_several(os.environ)):
            self._warn(
                f"{rank} does not run again by itself, though {wanted}: --control always runs all"
                f" ranks again, analyze --control takes a recording of {CONTROL_COMMAND}"
            )
            return False
        how = f"{plan.runs} times, in turns with recordings," if plan.runs > 1 else "again"
        self._warn(
            f"running {self._program} {how} with NVTX ranges alone recorded: {wanted or _ASKED}"
        )
        return True

    def controls(self, plan: ControlPlan, first: CapturedReport) -> CapturedReport:
        """Run the program as often as planned: a control, a recording, a control, ...

        What goes wrong is told, and ends it: then there are fewer.

        Returns:
            The first run, with the others.
        """
        runs = first
        try:
            for number in range(1, plan.runs + 1):
                if number > 1:
                    again = self._again(first, self._spec, "again", number - 1)
                    runs = replace(runs, repeats=(*runs.repeats, again))
                control = self._again(first, control_spec(self._spec), "control", number)
                runs = replace(runs, controls=(*runs.controls, control))
        except (OverlapcheckError, KeyboardInterrupt) as error:
            why = getattr(error, "message", "") or "interrupted"
            if runs.controls:
                self._warn(f"{why}: judging with what there is")
            else:
                self.keep_first(why, runs)
        return runs

    def keep_first(self, why: str, runs: CapturedReport) -> None:
        """Say that the verdict on the recording alone is kept, and what to do."""
        self._warn(
            f"{why}: the verdict is as recorded; if you know how long a step takes,"
            f" overlapcheck analyze {runs.report} --step-time MS, else --control never"
        )

    def may_prove(self, first: CapturedReport) -> bool:
        """Whether its first run lets the program run again; where somebody ended it, say so."""
        if first.stopped_by_signal:
            self._warn(
                f"{self._program} was stopped, so it does not run again: --prove asks for it"
            )
        return not (first.program_failed or first.stopped_by_signal)

    def repaired(self, first: CapturedReport, repair: OutsideRepair) -> Path:
        """Record the program with a cause repaired, after saying so.

        Raises:
            Interrupted: it was stopped.
            OverlapcheckError: it ended otherwise than it did first, or not in time.
        """
        self._warn(f"running {self._program} again, --prove {repair.cause}: {repair.what}")
        spec = repair.into(self._spec, os.environ)
        return self._again(first, spec, f"prove-{repair.cause}", 1)

    def control_of_repaired(
        self, first: CapturedReport, repaired: Path, repair: OutsideRepair
    ) -> Path:
        """Record its NVTX ranges alone, as of `repaired`."""
        spec = control_spec(repair.into(self._spec, os.environ))
        return self._again(replace(first, report=repaired), spec, "control", 1)

    def not_proved(self, repair: OutsideRepair, why: str) -> None:
        """Say that there is no proof of a repair, and that the verdict stands."""
        self._warn(f"--prove {repair.cause}: {why}: nothing proved, the verdict stands")

    def tell_spread(self, others_ns: Sequence[float | None], first_ns: float | None) -> None:
        """Say how long steps took in further recordings, beside the one that is judged."""
        known = [ns for ns in others_ns if ns is not None]
        if known and first_ns is not None:
            told = ", ".join(duration(ns) for ns in known)
            self._warn(f"steps took {duration(first_ns)} as judged, and {told} when recorded again")

    def _again(self, first: CapturedReport, spec: CaptureSpec, kind: str, number: int) -> Path:
        """Record once more, beside the first recording.

        Raises:
            OverlapcheckError: the program ended otherwise than it did first, or not in time.
        """
        self._runs += 1
        if self._stdin_at is not None:
            os.lseek(0, self._stdin_at, os.SEEK_SET)
        self._progress("")
        spec = replace(
            spec,
            exactly=free_name(first.report, kind, number),
            limit_s=TIMES_AS_LONG * first.seconds + ALLOWANCE_S,
            variables={**spec.variables, **_to_meet_anew(self._runs, os.environ)},
        )
        captured = profile(
            spec, self._command, self._nsys, progress=self._progress, warn=self._warn
        )
        for warning in captured.warnings:
            if warning not in first.warnings:
                self._warn(warning)
        if captured.program_failed:
            raise CaptureFailed(f"{self._program} {captured.ending} when it ran again")
        if captured.stopped_by_signal:
            raise Interrupted(f"stopped by {captured.stopped_by} while {self._program} ran again")
        return captured.report


def free_name(first: Path, kind: str, number: int) -> Path:
    """The first free name beside a report: train.control.nsys-rep, train.control-2.nsys-rep ..."""
    names = (name_of_second_run(first, kind, n) for n in count(number))
    return next(name for name in names if not name.exists())


def rank_of_several(environment: Mapping[str, str]) -> str:
    """Which rank of a job we are ourselves, "rank 3 of 8"; "" where we are not one of several.

    Such a program cannot run again unless all of them do.
    """
    for rank, size in _RANKS.items():
        count = environment.get(size, "")
        if environment.get(rank, "").isdecimal() and count.isdecimal() and int(count) > 1:
            return f"rank {environment[rank]} of {count}"
    return ""


def _to_meet_anew(run: int, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables by which ranks that torchrun started meet in a further run.

    Its own store still holds what they told each other in the first one: the first rank opens
    another, at a port that all of them can tell.
    """
    port = environment.get("MASTER_PORT", "")
    if environment.get(_AGENT_STORE) != "True" or not port.isdecimal():
        return {}
    other = int(port) + run
    return {_AGENT_STORE: "False", "MASTER_PORT": str(other if other < _PORTS else other - _SPAN)}


def _stdin_position() -> int | None:
    """Where standard input stands, if it can be put back there: in a file, not in a pipe."""
    try:
        return os.lseek(0, 0, os.SEEK_CUR) if stat.S_ISREG(os.fstat(0).st_mode) else None
    except OSError:
        return None
