"""The answer: PASS, FAIL or INCONCLUSIVE, with the checks behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from overlapcheck.errors import ExitCode, PolicyInvalid
from overlapcheck.kinds import DeviceKey

if TYPE_CHECKING:
    from overlapcheck.stream_contract import StreamContract

DEFAULT = "default"
"""Origin of a limit that nobody set."""


class Outcome(StrEnum):
    """Result of a check and of the whole."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


EXIT_CODES = {
    Outcome.PASS: ExitCode.PASS,
    Outcome.FAIL: ExitCode.FAIL,
    Outcome.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
}
SEVERITY = (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.PASS)
"""The worst first."""


class Basis(StrEnum):
    """At which pace of the program a verdict judges."""

    OWN_PACE = "own pace"
    AS_RECORDED = "as recorded"


@dataclass(frozen=True)
class AllowedCall:
    """Blocking calls that the team accepts; whatever is given must match."""

    reason: str
    api: str = ""
    """Name of the CUDA call, * for any letters: "cudaStreamSynchronize", "cudaMemcpy*"."""
    source: str = ""
    """File or file:line of the call: "train.py", "loop/train.py:104"."""
    nvtx: str = ""
    """NVTX range of the same thread around the call, * for any letters: "validation*"."""


def check_share(name: str, value: float | None) -> None:
    """Refuse a limit that is no share of one: 90 was meant as a percentage.

    Raises:
        PolicyInvalid: naming it, and what to write.
    """
    if value is not None and not 0 <= value <= 1:
        meant = value / 100 if 1 < value <= 100 else 0.8
        raise PolicyInvalid(
            f"{name} = {value:g} is no share of one",
            f"in Python limits are shares, {meant:g} for {meant * 100:g} %; percentages are for"
            " the command line and the policy file",
        )


@dataclass(frozen=True)
class Limits:
    """Limits on one stretch of time; what is None is not judged.

    As everywhere in Python they are shares of one: 0.9 is what the command line and the policy file
    call 90.

    Raises:
        PolicyInvalid: a limit is not a share of one, naming it.
    """

    min_overlap: float | None = None
    """Least share of a direction's copy time that must be hidden."""
    overlap_of: Mapping[str, float] = field(default_factory=dict)
    """Least overlap by direction ("h2d"), where it is not `min_overlap`."""
    relief_from_ceiling: bool = True
    """Whether 0.9 of the ceiling is enough where compute is shorter than the copies."""
    max_recoverable: float | None = None
    """Largest share that perfect overlap could still win back."""
    max_idle: float | None = None
    """Largest share without compute."""
    max_exposed_communication: float | None = None
    """Largest share with communication and no compute."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Where a limit was set, by its name here or "overlap h2d"; absent for a default."""

    def __post_init__(self) -> None:
        limits = {
            name: getattr(self, name)
            for name in ("min_overlap", "max_recoverable", "max_idle", "max_exposed_communication")
        }
        limits |= {f"overlap {direction}": least for direction, least in self.overlap_of.items()}
        for name, value in limits.items():
            check_share(name, value)

    def origin(self, *names: str) -> str:
        """Where limits were set: the distinct places of those that are not defaults."""
        places = [self.origins[name] for name in names if name in self.origins]
        return " and ".join(dict.fromkeys(places)) or DEFAULT


@dataclass(frozen=True)
class Policy(Limits):
    """Limits on the window and on NVTX ranges. The only configuration; only `judge` sees it.

    Limits are shares of one, `Policy(min_overlap=0.9)`, as all measured shares are.

    Raises:
        PolicyInvalid: a limit is not a share of one, naming it.
    """

    min_overlap: float | None = 0.80
    max_recoverable: float | None = 0.10
    require_copies: bool = False
    """Whether a window without copies fails."""
    fail_on: frozenset[str] = frozenset()
    """Causes that fail the run when material."""
    max_failing_ranks: float = 0.0
    """Largest share of the ranks of a job that may fail while the job passes."""
    expect_ranks: int | None = None
    """How many ranks are to be judged; None takes what names, numbers and environment say."""
    allowed: tuple[AllowedCall, ...] = ()
    """Calls whose idle time does not count for `fail_on`; no number changes."""
    streams: StreamContract | None = None
    """Which stream must wait for which; None asks for nothing."""
    ranges: Mapping[str, Limits] = field(default_factory=dict)
    """Limits on the device time of NVTX ranges, by their name, * for any letters."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("max_failing_ranks", self.max_failing_ranks)


@dataclass(frozen=True)
class Check:
    """One question, its answer and why."""

    name: str
    """"capture", "overlap h2d", "recoverable", "recoverable in 'forward'" ..."""
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
    """For what is not certain: the command that would settle it."""
    limit_from: str = DEFAULT
    """Where the limit was set: "default", "--min-overlap", "pyproject.toml"."""

    @property
    def too_small(self) -> bool:
        """Whether it misses its limit and passes: that was too small a matter to judge."""
        if self.outcome is not Outcome.PASS or not self.at_least or self.measured is None:
            return False
        return self.measured < (self.limit or 0)


@dataclass(frozen=True)
class Verdict:
    """All checks; a proven failure outweighs what could not be judged."""

    checks: tuple[Check, ...]
    basis: Basis = Basis.AS_RECORDED
    """Own pace where that is known of every device that is judged."""
    settle_with: str = ""
    """Where it fails as recorded, and would not without the idle time that a late host explains:
    what would settle it, for recording makes a host late."""

    @property
    def outcome(self) -> Outcome:
        """FAIL if any check fails, else INCONCLUSIVE if any is, else PASS."""
        outcomes = {check.outcome for check in self.checks}
        for outcome in (Outcome.FAIL, Outcome.INCONCLUSIVE):
            if outcome in outcomes:
                return outcome
        return Outcome.PASS if self.checks else Outcome.INCONCLUSIVE

    def with_checks(self, more: Sequence[Check]) -> Verdict:
        """The verdict with further checks, each behind those of its device."""
        checks = list(self.checks)
        for check in more:
            places = [i for i, one in enumerate(checks) if one.device == check.device]
            checks.insert(places[-1] + 1 if places else len(checks), check)
        # What is no matter of time is not put right by another pace.
        settle_with = "" if any(one.outcome is Outcome.FAIL for one in more) else self.settle_with
        return replace(self, checks=tuple(checks), settle_with=settle_with)

    def of_device(self, key: DeviceKey) -> Verdict:
        """The part that concerns one device."""
        return replace(self, checks=tuple(check for check in self.checks if check.device == key))

    @property
    def host_alone(self) -> bool:
        """Whether it fails by time alone that may be the recording's."""
        return bool(self.settle_with)

    @property
    def exit_code(self) -> ExitCode:
        """Exit code of a command that ends with this verdict."""
        return EXIT_CODES[self.outcome]
