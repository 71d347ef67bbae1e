"""What the formats of a comparison say, in the same words."""

from __future__ import annotations

from overlapcheck.comparison import (
    Appeared,
    Change,
    Comparison,
    DeviceComparison,
    Quantity,
    Side,
    Unit,
)
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.renderers._plain_text import plain

HEADLINES = {
    Change.BETTER: "BETTER",
    Change.WORSE: "WORSE",
    Change.NONE: "NO CHANGE",
    Change.UNKNOWN: "NO CHANGE",
}


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
    which = "median step" if step.name == "step time" else step.name
    said = f"{which} {value(step, step.base)} -> {value(step, step.new)}"
    if step.change is Change.NONE:
        if step.base == step.new:
            return f"{which} {value(step, step.base)} on both sides"
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
    """What a cause costs on its side, and what of it was predicted: "4.7 ms per step"."""
    if one.per_step_ns is None:
        return f"{percent(one.share)} of the window"
    said = f"{duration(one.per_step_ns)} per step"
    if one.predicted_win_ns is None:
        return said
    return f"{said}; predicted to win {duration(one.predicted_win_ns)}"


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


def divided_title(device: DeviceComparison) -> str:
    """Heading of compute and ledger together."""
    return _over(device)


def divided(device: DeviceComparison) -> tuple[Quantity, ...]:
    """Compute, the time without it by cause, and their sum; nothing without a ledger."""
    return (device.compute, *device.ledger, device.whole) if device.ledger else ()


def _over(device: DeviceComparison) -> str:
    return "per step, on average" if device.whole.unit is Unit.NS else "of the window"


def gpu(device: DeviceComparison) -> str:
    """The product; of both sides where they differ."""
    names = dict.fromkeys((device.base.gpu or "unknown", device.new.gpu or "unknown"))
    return " against ".join(names)


def titles(comparison: Comparison) -> list[str]:
    """What to call each device: "device 0", and by rank where several processes use one."""
    numbers = [device.device for device in comparison.devices]
    seen: dict[int, int] = {}
    said = []
    for number in numbers:
        seen[number] = seen.get(number, 0) + 1
        process = f", process {seen[number]}" if numbers.count(number) > 1 else ""
        said.append(f"device {number}{process}")
    return said


def steps(side: Side) -> str:
    """What of a side is compared: "12 steps of 'step #'"."""
    count = count_of(side.steps, "step") if side.steps is not None else "no steps"
    return f"{count} of '{side.step_family}'" if side.step_family else count


def change_text(quantity: Quantity) -> str:
    """One sentence: "step time 10.0 ms -> 12.0 ms (+2.0 ms, noise 100.0 us): worse"."""
    if quantity.missing:
        return f"{quantity.name} is not judged: the {quantity.missing} side has none"
    base, new = (value(quantity, number) for number in (quantity.base, quantity.new))
    changed = f"{difference(quantity)}, noise {noise(quantity)}"
    return f"{quantity.name} {base} -> {new} ({changed}): {quantity.change.value}"


def cause_text(one: Appeared, word: str) -> str:
    """A cause that came or went, and what it costs there: "new, 2.0 ms per step: title"."""
    share = f", {percent(one.share)} of the window" if one.per_step_ns is not None else ""
    title = f": {plain(one.title)}" if one.title else ""
    return f"{word}, {cost(one)}{share}{title}"


def outcome(comparison: Comparison) -> str:
    """What `--fail-if-worse` made of it; "" where nobody asked."""
    if comparison.limit is None:
        return ""
    limit = f"--fail-if-worse {comparison.limit * 100:g}"
    return f"{comparison.outcome} {limit}"
