"""A recording that was made just now, and how the program under it ended."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from pathlib import Path

# A program ends with 128 plus the signal that ended it, as a shell has it.
SIGNAL_BASE = 128
DURATION = "--duration "
"""Begins what `stopped_by` says of a program that was to run so many seconds."""
_SECOND_RUN = re.compile(r"(\.(control|again|prove-[a-z-]*[a-z])(-\d+)?)+$")


def name_of_second_run(first: Path, kind: str, number: int) -> Path:
    """What a further recording of a program is called, beside its first one.

    >>> name_of_second_run(Path("train.nsys-rep"), "control", 2).name
    'train.control-2.nsys-rep'
    """
    counted = kind if number == 1 else f"{kind}-{number}"
    return first.with_name(f"{first.stem}.{counted}{first.suffix}")


def first_run_of(stem: Path) -> Path | None:
    """The first recording beside a further one, both without suffix; None for a first one."""
    name = _SECOND_RUN.sub("", stem.name)
    return stem.with_name(name) if name not in ("", stem.name) else None


@dataclass(frozen=True)
class CapturedReport:
    """A report in its place, and how the program ended."""

    report: Path
    program_exit: int
    """The program's exit code; 128 plus the number of the signal that ended it."""
    stopped_by: str
    """What ended the program early and is no fault of it: a signal to us, or --duration."""
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    """How long the program ran."""
    controls: tuple[Path, ...] = ()
    """Of the same program, run again: NVTX ranges alone, which tell its own pace."""
    repeats: tuple[Path, ...] = ()
    """Further recordings, made in turns with the controls."""
    repaired: tuple[Path, ...] = ()
    """Recordings of the program with a cause repaired from outside."""

    @property
    def signal_name(self) -> str:
        """Signal that ended the program, such as SIGSEGV; empty for an ordinary exit."""
        try:
            return signal.Signals(self.program_exit - SIGNAL_BASE).name
        except ValueError:
            return ""

    @property
    def program_failed(self) -> bool:
        """Whether it ended by itself with an error."""
        return self.program_exit != 0 and not self.stopped_by

    @property
    def stopped_by_signal(self) -> bool:
        """Whether somebody ended it, rather than --duration."""
        return self.stopped_by in signal.Signals.__members__

    @property
    def ending(self) -> str:
        """How the program ended, as a clause."""
        if self.stopped_by.startswith(DURATION):
            return f"was stopped after {self.stopped_by.removeprefix(DURATION)} s, as asked"
        if self.signal_name:
            return f"was ended by {self.signal_name} (exit code {self.program_exit})"
        return f"ended with exit code {self.program_exit}"
