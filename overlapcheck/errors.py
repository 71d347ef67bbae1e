"""Everything that can stop overlapcheck, as one tree: what happened, what to do next, exit code.

The library raises these; only the command line prints them (one line, on stderr) and exits.
"""

from __future__ import annotations

import signal
import traceback
from enum import IntEnum
from pathlib import Path

from overlapcheck.clean import clean


class ExitCode(IntEnum):
    """Exit codes of every command; a CI job can branch on them."""

    PASS = 0
    FAIL = 1
    USAGE = 2
    INCONCLUSIVE = 3
    COULD_NOT_RUN = 4
    PROGRAM_FAILED = 5
    # As a shell tells it: 128 and the number of the signal that stopped us.
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


TRACEBACK = "OVERLAPCHECK_TRACEBACK"
"""Variable that asks for the whole traceback of an error."""
_SIGNAL_BASE = 128
_MOST_TOLD = 200
"""Characters of a message that we did not write."""


class OverlapcheckError(Exception):
    """Something the user can act on.

    Args:
        message: what happened, naming the file or program concerned; one line, no full stop.
        hint: what to do next, ideally the command to type; one line, may be empty.
    """

    exit_code: ExitCode = ExitCode.COULD_NOT_RUN

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


class NoSteadySteps(OverlapcheckError):
    """What would be compared is the pace of steps, and the recording has none."""

    exit_code = ExitCode.INCONCLUSIVE


class NsysNotFound(OverlapcheckError):
    """No usable nsys on this machine."""


class CaptureFailed(OverlapcheckError):
    """Nsys ran but left no usable report."""


class ExportFailed(OverlapcheckError):
    """The report could not be turned into SQLite."""


class Interrupted(OverlapcheckError):
    """A signal stopped us before there was a result; nothing half-made is left.

    Args:
        message: as of every error.
        hint: as of every error.
        signum: the signal's number.
    """

    def __init__(self, message: str, hint: str = "", signum: int = signal.SIGINT) -> None:
        super().__init__(message, hint)
        self.exit_code = ExitCode(_SIGNAL_BASE + signum)


# ---- reading the input


class InputUnreadable(OverlapcheckError):
    """The input is missing, not a file, or not permitted to be read."""


class NotAReport(OverlapcheckError):
    """The input is no Nsight Systems report or export; the message says what it is instead."""


class SourceUnusable(OverlapcheckError):
    """A source of another package does not load, or is none."""


class ReportDamaged(OverlapcheckError):
    """The input began as a report but is truncated or corrupt."""


class TooLarge(OverlapcheckError):
    """The input needs more memory than there is."""


class NotTrimmed(OverlapcheckError):
    """No part of a recording that could be shared gives the answer of the whole."""


# ---- writing results


class OutputUnwritable(OverlapcheckError):
    """A result file could not be written."""


# ---- what nobody foresaw


class Unforeseen(OverlapcheckError):
    """A defect of ours, or a failure of the system that nothing was written for."""


def foreseen(error: BaseException) -> OverlapcheckError:
    """Any exception as an error of this tree: what came, where, and what to do about it."""
    if isinstance(error, OverlapcheckError):
        return error
    if isinstance(error, MemoryError):
        return TooLarge(
            "out of memory", "judge a part: --window or --device, or give it more memory"
        )
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return Unforeseen(
            f"{_printable(error.filename)}: {error.strerror}", "check the path and its permissions"
        )
    said = _printable(error)
    what = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return Unforeseen(
        f"an error of our own, {what}{_place(error)}",
        f"please report it, with what it prints after: export {TRACEBACK}=1",
    )


def _printable(text: object) -> str:
    """A text that we did not write, as one line that is no more than that."""
    return clean(" ".join(str(text).split()), _MOST_TOLD)


def _place(error: BaseException) -> str:
    """Our own line that it came through last."""
    package = Path(__file__).parent
    own = [
        f"{path.relative_to(package)}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (path := Path(frame.f_code.co_filename)).is_relative_to(package)
    ]
    return f" ({own[-1]})" if own else ""
