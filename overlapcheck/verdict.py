"""The answer: PASS, FAIL or INCONCLUSIVE, with the checks behind it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from overlapcheck.errors import ExitCode, PolicyInvalid
from overlapcheck.trace import DeviceKey


class Outcome(StrEnum):
    """Result of a check and of the whole."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class Policy:
    """Limits, as shares of one. The only configuration; only `judge` ever sees it.

    Raises:
        PolicyInvalid: a limit is not a share of one, naming it.
    """

    min_overlap: float = 0.80
    """Least share of a direction's copy time that must be hidden."""
    relief_from_ceiling: bool = True
    """Whether 0.9 of the ceiling is enough where compute is shorter than the copies."""
    max_recoverable: float = 0.10
    """Largest share of the window that perfect overlap could still win back."""
    max_idle: float | None = None
    """Largest share of the window without compute."""
    max_exposed_communication: float | None = None
    """Largest share of the window with communication and no compute."""
    require_copies: bool = False
    """Whether a window without copies fails."""
    fail_on: frozenset[str] = frozenset()
    """Causes that fail the run when material."""

    def __post_init__(self) -> None:
        for name in ("min_overlap", "max_recoverable", "max_idle", "max_exposed_communication"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise PolicyInvalid(
                    f"{name} is {value * 100:g} %, which no share can reach",
                    "give a percentage from 0 to 100",
                )


@dataclass(frozen=True)
class Check:
    """One question, its answer and why."""

    name: str
    """"capture", "overlap h2d", "recoverable" ..."""
    device: DeviceKey | None
    """None where it concerns the whole report."""
    outcome: Outcome
    measured: float | None
    """Share of one; None where nothing could be measured."""
    limit: float | None
    """Share of one; None where there is no number to meet."""
    reason: str
    """One clause."""
    at_least: bool = False
    """Whether the limit is a least value rather than a largest."""
    settle_with: str = ""
    """For INCONCLUSIVE: the command that would settle it."""


@dataclass(frozen=True)
class Verdict:
    """All checks; a proven failure outweighs what could not be judged."""

    checks: tuple[Check, ...]

    @property
    def outcome(self) -> Outcome:
        """FAIL if any check fails, else INCONCLUSIVE if any is, else PASS."""
        outcomes = {check.outcome for check in self.checks}
        for outcome in (Outcome.FAIL, Outcome.INCONCLUSIVE):
            if outcome in outcomes:
                return outcome
        return Outcome.PASS if self.checks else Outcome.INCONCLUSIVE

    def of_device(self, key: DeviceKey) -> Verdict:
        """The part that concerns one device."""
        return Verdict(tuple(check for check in self.checks if check.device == key))

    @property
    def exit_code(self) -> ExitCode:
        """Exit code of a command that ends with this verdict."""
        return {
            Outcome.PASS: ExitCode.PASS,
            Outcome.FAIL: ExitCode.FAIL,
            Outcome.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
        }[self.outcome]
