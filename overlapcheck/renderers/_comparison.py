"""`Comparison` → text: the formats of `compare`, and the words that they share."""

from __future__ import annotations

from typing import Protocol

from overlapcheck.comparison import Appeared, Change, Comparison, DeviceComparison, Quantity, Unit
from overlapcheck.errors import PolicyInvalid
from overlapcheck.quantities import duration, percent

HEADLINES = {
    Change.BETTER: "BETTER",
    Change.WORSE: "WORSE",
    Change.NONE: "NO CHANGE",
    Change.UNKNOWN: "NO CHANGE",
}


class ComparisonRenderer(Protocol):
    """What every format of a comparison offers."""

    name: str
    """Value of --format."""
    suffix: str
    """File-name ending that chooses it."""

    def render(self, comparison: Comparison, /) -> str:
        """The whole text, ending in a newline."""
        ...


def comparison_renderers() -> dict[str, ComparisonRenderer]:
    """All formats of a comparison by name."""
    from overlapcheck.renderers._comparison_json import ComparisonJson
    from overlapcheck.renderers._comparison_markdown import ComparisonMarkdown
    from overlapcheck.renderers._comparison_terminal import ComparisonTerminal

    known: tuple[ComparisonRenderer, ...] = (
        ComparisonTerminal(),
        ComparisonJson(),
        ComparisonMarkdown(),
    )
    return {renderer.name: renderer for renderer in known}


def comparison_renderer_for_file(name: str) -> ComparisonRenderer:
    """The format whose suffix a file name ends with.

    Raises:
        PolicyInvalid: a comparison has no format with this suffix.
    """
    for renderer in comparison_renderers().values():
        if name.lower().endswith(renderer.suffix):
            return renderer
    known = ", ".join(sorted(renderer.suffix for renderer in comparison_renderers().values()))
    raise PolicyInvalid(f"-o {name}: a comparison has no format with this suffix", f"use {known}")


def headline(comparison: Comparison) -> str:
    """What changed, in a line: of the first device whose change is that of the whole."""
    told = next(
        (device for device in comparison.devices if device.change is comparison.change),
        comparison.devices[0],
    )
    clauses = [_step(told), *_causes("gone", told.gone), *_causes("new", told.new_causes)]
    where = f"device {told.device}: " if len(comparison.devices) > 1 else ""
    return where + "; ".join(filter(None, clauses))


def _step(device: DeviceComparison) -> str:
    step = device.step_time
    if step is None or step.base is None or step.new is None:
        changed = [q for q in device.shares if q.change in (Change.BETTER, Change.WORSE)]
        told = [f"{q.name} {percent(q.base)} -> {percent(q.new)}" for q in changed]
        return ", ".join(told) or "every share within noise"
    said = f"median step {value(step, step.base)} -> {value(step, step.new)}"
    if step.change is Change.NONE:
        if step.base == step.new:
            return f"median step {value(step, step.base)} on both sides"
        return f"{said}, within noise"
    word = "won" if step.change is Change.BETTER else "lost"
    lost = abs(step.new - step.base)
    return f"{said}: {duration(lost)} per step {word} ({percent(lost / step.base)})"


def _causes(word: str, causes: tuple[Appeared, ...]) -> list[str]:
    if not causes:
        return []
    told = (f"{one.cause} ({cost(one)})" for one in causes)
    return [f"{word}: {', '.join(told)}"]


def cost(one: Appeared) -> str:
    """What a cause costs on its side: "4.7 ms per step"."""
    if one.per_step_ns is None:
        return f"{percent(one.share)} of the window"
    return f"{duration(one.per_step_ns)} per step"


def value(quantity: Quantity, number: float | None) -> str:
    """A number in its unit; "-" for none."""
    if number is None:
        return "-"
    return duration(number) if quantity.unit is Unit.NS else percent(number)


def difference(quantity: Quantity) -> str:
    """The difference with its sign; of shares in percentage points."""
    number = quantity.difference
    if number is None:
        return "-"
    sign = "+" if number > 0 else "-" if number < 0 else ""
    if quantity.unit is Unit.NS:
        return f"{sign}{duration(abs(number))}"
    return f"{sign}{abs(number) * 100:.1f} pts"


def noise(quantity: Quantity) -> str:
    """The noise in the quantity's unit."""
    if quantity.unit is Unit.NS:
        return duration(quantity.noise)
    return f"{quantity.noise * 100:.1f} pts"


def verdict(device: DeviceComparison, quantity: Quantity) -> str:
    """The word for a change: of a cause, whether it came or went."""
    if any(quantity.name == one.cause for one in device.gone):
        return "gone"
    if any(quantity.name == one.cause for one in device.new_causes):
        return "new"
    return quantity.change.value


def idle_title(device: DeviceComparison) -> str:
    """Heading of the ledger: per step, or of the window."""
    per_step = any(quantity.unit is Unit.NS for quantity in device.ledger)
    return "no compute, per step" if per_step else "no compute, of the window"
