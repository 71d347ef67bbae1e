"""A recording that was made just now, and how the program under it ended."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

# A program ends with 128 plus the signal that ended it, as a shell has it.
SIGNAL_BASE = 128
DURATION = "--duration "
"""Begins what `stopped_by` says of a program that was to run so many seconds."""


@dataclass(frozen=True)
class CapturedReport:
    """A report in its place, and how the program ended."""

    report: Path
    program_exit: int
    """The program's exit code; 128 plus the number of the signal that ended it."""
    stopped_by: str
    """What ended the program early and is no fault of it: a signal to us, or --duration."""
    warnings: tuple[str, ...] = ()

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
    def ending(self) -> str:
        """How the program ended, as a clause."""
        if self.stopped_by.startswith(DURATION):
            return f"was stopped after {self.stopped_by.removeprefix(DURATION)} s, as asked"
        if self.signal_name:
            return f"was ended by {self.signal_name} (exit code {self.program_exit})"
        return f"ended with exit code {self.program_exit}"
