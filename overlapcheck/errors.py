"""Everything that can stop overlapcheck, as one tree: what happened, what to do next, exit code.

The library raises these; only the command line prints them (one line, on stderr) and exits.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """Exit codes of every command; a CI job can branch on them."""

    PASS = 0
    FAIL = 1
    USAGE = 2
    INCONCLUSIVE = 3
    COULD_NOT_RUN = 4
    PROGRAM_FAILED = 5


class OverlapcheckError(Exception):
    """Something the user can act on.

    Args:
        message: what happened, naming the file or program concerned; one line, no full stop.
        hint: what to do next, ideally the command to type; one line, may be empty.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.COULD_NOT_RUN

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


# ---- options and policy


class PolicyInvalid(OverlapcheckError):
    """An option or limit makes no sense."""

    exit_code = ExitCode.USAGE


# ---- finding and running nsys


class NsysNotFound(OverlapcheckError):
    """No usable nsys on this machine."""


class CaptureFailed(OverlapcheckError):
    """Nsys ran but left no usable report."""


class ExportFailed(OverlapcheckError):
    """The report could not be turned into SQLite."""


class Interrupted(OverlapcheckError):
    """A signal stopped us before there was a result; nothing half-made is left."""


# ---- reading the input


class InputUnreadable(OverlapcheckError):
    """The input is missing, not a file, or not permitted to be read."""


class NotAReport(OverlapcheckError):
    """The input is no Nsight Systems report or export; the message says what it is instead."""


class ReportDamaged(OverlapcheckError):
    """The input began as a report but is truncated or corrupt."""


class TooLarge(OverlapcheckError):
    """The input needs more memory than there is."""


# ---- writing results


class OutputUnwritable(OverlapcheckError):
    """A result file could not be written."""
