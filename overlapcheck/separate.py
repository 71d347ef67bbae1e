"""Reports that are judged each alone: a line a report."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.errors import ExitCode

SCHEMA = 1
"""Version of the JSON form."""
ERROR = "ERROR"
"""Beside the outcomes: the report could not be judged."""
_WORST_FIRST = (ExitCode.FAIL, ExitCode.COULD_NOT_RUN, ExitCode.INCONCLUSIVE)


@dataclass(frozen=True)
class SeparateReport:
    """One report."""

    report: str
    """Where it is."""
    program: str
    outcome: str
    """"PASS", "FAIL", "INCONCLUSIVE", or "ERROR"."""
    exit_code: int
    """That `analyze` of it alone ends with."""
    first_cause: str
    """"" where none matters."""
    share: float
    """Of the window, what that costs."""
    why: str
    """What is behind an outcome that is not PASS, in a clause."""
    hint: str = ""
    """What to do about an error."""


@dataclass(frozen=True)
class SeparateReports:
    """All reports, in order."""

    tool_version: str
    reports: tuple[SeparateReport, ...]

    @property
    def exit_code(self) -> ExitCode:
        """The worst: 1 where one failed, else 4 where one could not be judged, else 3, else 0."""
        codes = {self._code(one) for one in self.reports}
        return next((code for code in _WORST_FIRST if code in codes), ExitCode.PASS)

    @staticmethod
    def _code(one: SeparateReport) -> int:
        # Whatever kept it from being judged.
        return int(ExitCode.COULD_NOT_RUN) if one.outcome == ERROR else one.exit_code
