"""The saved form of a comparison of two reports: see `saved_report.py`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from overlapcheck.comparison import (
    SCHEMA,
    Appeared,
    Change,
    Comparison,
    DeviceComparison,
    Quantity,
    Side,
    Unit,
)
from overlapcheck.saved_fields import SavedTool, VerdictCode, fields_of, verdict_code


class SavedQuantity(Struct, frozen=True, kw_only=True):
    """One number of both sides."""

    name: str
    unit: Unit
    base: float | None
    new: float | None
    noise: float
    change: Change
    too_bad: str
    too_noisy: str
    difference: float | None
    """New less base."""

    @classmethod
    def of(cls, quantity: Quantity) -> SavedQuantity:
        """The saved form of a quantity."""
        return cls(**fields_of(quantity), difference=quantity.difference)


class SavedDeviceComparison(Struct, frozen=True, kw_only=True):
    """One device of one process, on both sides."""

    device: int
    change: Change
    base: Side
    new: Side
    quantities: tuple[SavedQuantity, ...]
    """Step time, recoverable, and the overlap of each direction."""
    ledger: tuple[SavedQuantity, ...]
    compute: SavedQuantity
    """With the ledger it sums to `whole`."""
    whole: SavedQuantity
    """A step, on average; one, without steps."""
    gone: tuple[Appeared, ...]
    new_causes: tuple[Appeared, ...]

    @classmethod
    def of(cls, device: DeviceComparison) -> SavedDeviceComparison:
        """The saved form of one device's comparison."""
        return cls(
            device=device.device,
            change=device.change,
            base=device.base,
            new=device.new,
            quantities=tuple(map(SavedQuantity.of, device.quantities)),
            ledger=tuple(map(SavedQuantity.of, device.ledger)),
            compute=SavedQuantity.of(device.compute),
            whole=SavedQuantity.of(device.whole),
            gone=device.gone,
            new_causes=device.new_causes,
        )


class SavedComparison(Struct, frozen=True, kw_only=True):
    """What `overlapcheck compare --format json` writes."""

    schema: Annotated[int, Meta(ge=1, le=SCHEMA)]
    """Version of this form."""
    kind: Literal["comparison"]
    tool: SavedTool
    change: Change
    exit_code: VerdictCode
    """1 where something is worse by more than the limit, 3 where the noise hides it, else 0."""
    limit: float | None
    too_bad: tuple[str, ...]
    """What is worse by more than the limit on any device, one clause each."""
    too_noisy: tuple[str, ...]
    """What the limit asks about and the noise hides on any device, one clause each."""
    objections: tuple[str, ...]
    noise_rule: str
    devices: tuple[SavedDeviceComparison, ...]

    @classmethod
    def of(cls, comparison: Comparison) -> SavedComparison:
        """The saved form of a comparison."""
        return cls(
            schema=SCHEMA,
            kind="comparison",
            tool=SavedTool.of(comparison.tool_version),
            change=comparison.change,
            exit_code=verdict_code(comparison.exit_code),
            too_bad=comparison.too_bad,
            too_noisy=comparison.too_noisy,
            devices=tuple(map(SavedDeviceComparison.of, comparison.devices)),
            **fields_of(comparison, "tool_version", "devices"),
        )
