"""What changed between two reports, and whether it is more than noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from overlapcheck.device_report import LedgerEntry
from overlapcheck.errors import ExitCode, OverlapcheckError
from overlapcheck.excerpt import Excerpt
from overlapcheck.finding import SourceLine
from overlapcheck.verdict import EXIT_CODES, Outcome

SCHEMA = 1
"""Version of the JSON form of a comparison."""


class NotComparable(OverlapcheckError):
    """Two reports of different things; the difference of their numbers says nothing."""

    exit_code = ExitCode.INCONCLUSIVE


class Change(StrEnum):
    """What became of a quantity."""

    BETTER = "better"
    WORSE = "worse"
    NONE = "no change"
    """The difference is within the noise."""
    UNKNOWN = "not judged"
    """One side has no such number."""


class Unit(StrEnum):
    """What a quantity is measured in."""

    NS = "ns"
    SHARE = "share"
    """Share of one."""


@dataclass(frozen=True)
class Quantity:
    """One number of both sides."""

    name: str
    """"step time", "step time at own pace", "recoverable", "overlap h2d", or the id of a cause."""
    unit: Unit
    base: float | None
    """None where that side has none."""
    new: float | None
    noise: float
    """A difference of no more than this is no change."""
    change: Change
    too_bad: str = ""
    """One clause where it is worse by more than `--fail-if-worse`, else nothing."""
    too_noisy: str = ""
    """One clause where the noise hides what `--fail-if-worse` asks about, else nothing."""

    @property
    def missing(self) -> str:
        """The side that has none: "base", "new" or ""."""
        return "base" if self.base is None else "new" if self.new is None else ""

    @property
    def difference(self) -> float | None:
        """New less base."""
        return None if self.base is None or self.new is None else self.new - self.base


@dataclass(frozen=True)
class Appeared:
    """A cause that is material on one side alone."""

    cause: str
    per_step_ns: float | None
    """What it costs there; None without steps."""
    share: float
    """Of the window, there."""
    title: str = ""
    advice: str = ""
    caveat: str = ""
    """When the advice would be wrong."""
    source: tuple[SourceLine, ...] = ()
    predicted_win_ns: int | None = None
    """What repairing it was predicted to win of each step, of causes that are gone; None where that
    was not known."""


@dataclass(frozen=True)
class Side:
    """One of the two reports, as far as a reader must know it."""

    report: str
    program: str
    gpu: str
    steps: int | None
    step_family: str | None
    window_ns: int
    compute_ns: int
    idle: tuple[LedgerEntry, ...]
    """With compute it sums to the window; costliest first."""


@dataclass(frozen=True)
class DeviceComparison:
    """One device of one process, on both sides."""

    device: int
    base: Side
    new: Side
    step_time: Quantity | None
    """Median step, or the own paces where both sides have one; None where a side has no steps."""
    shares: tuple[Quantity, ...]
    """Recoverable, and the overlap of each direction."""
    ledger: tuple[Quantity, ...]
    """Idle time by cause, per step (shares of the window without steps); largest change first."""
    gone: tuple[Appeared, ...]
    """Costliest first."""
    new_causes: tuple[Appeared, ...]
    """Costliest first."""
    compute: Quantity
    """Compute per step, on average; as a share of the window without steps. With the ledger it sums
    to `whole`."""
    whole: Quantity
    """A step, on average; one, without steps."""
    excerpts: tuple[Excerpt | None, Excerpt | None] = field(
        default=(None, None), repr=False, compare=False
    )
    """A few steps of base and new, to be drawn on one axis; None of a side that keeps none."""

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All but the ledger, the step time first."""
        return (*((self.step_time,) if self.step_time else ()), *self.shares)

    @property
    def too_bad(self) -> tuple[str, ...]:
        """What is worse by more than the limit, one clause each."""
        return tuple(quantity.too_bad for quantity in self.quantities if quantity.too_bad)

    @property
    def too_noisy(self) -> tuple[str, ...]:
        """What the limit asks about and the noise hides, one clause each."""
        return tuple(quantity.too_noisy for quantity in self.quantities if quantity.too_noisy)

    @property
    def change(self) -> Change:
        """Of the step time; where that is the same or not known, of the shares."""
        if self.step_time and self.step_time.change in (Change.BETTER, Change.WORSE):
            return self.step_time.change
        changes = {quantity.change for quantity in self.shares}
        # Mixed news without a faster or slower step is a warning first.
        return next((c for c in (Change.WORSE, Change.BETTER) if c in changes), Change.NONE)


@dataclass(frozen=True)
class Comparison:
    """Everything to show of a comparison."""

    tool_version: str
    devices: tuple[DeviceComparison, ...]
    objections: tuple[str, ...]
    """Why the two are not comparable, where the user insisted."""
    noise_rule: str
    """How a difference was told from noise, in a sentence."""
    limit: float | None
    """`--fail-if-worse` as a share of one; None where nothing fails."""

    @property
    def too_bad(self) -> tuple[str, ...]:
        """What is worse by more than the limit on any device, one clause each."""
        return tuple(clause for device in self.devices for clause in device.too_bad)

    @property
    def too_noisy(self) -> tuple[str, ...]:
        """What the limit asks about and the noise hides on any device, one clause each."""
        return tuple(clause for device in self.devices for clause in device.too_noisy)

    @property
    def outcome(self) -> Outcome:
        """What the limit makes of it; PASS where there is none."""
        if self.too_bad:
            return Outcome.FAIL
        return Outcome.INCONCLUSIVE if self.too_noisy else Outcome.PASS

    @property
    def clauses(self) -> tuple[str, ...]:
        """Why the outcome is what it is; nothing where it is PASS."""
        return self.too_bad or self.too_noisy

    @property
    def change(self) -> Change:
        """WORSE where any device is, else BETTER where any is."""
        changes = {device.change for device in self.devices}
        return next((c for c in (Change.WORSE, Change.BETTER) if c in changes), Change.NONE)

    @property
    def exit_code(self) -> ExitCode:
        """1 where something is worse by more than the limit, 3 where the noise hides it."""
        return EXIT_CODES[self.outcome]
