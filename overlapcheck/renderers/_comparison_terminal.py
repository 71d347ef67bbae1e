"""A comparison for people: plain text of 80 columns, the outcome first."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.text import Text

from overlapcheck.comparison import Change, Comparison, DeviceComparison, Quantity, Side
from overlapcheck.quantities import count_of
from overlapcheck.renderers import _comparison as words
from overlapcheck.renderers._terminal_text import (
    DIM,
    INDENT,
    WIDTH,
    Cell,
    paragraph,
    styled,
    table,
    text_of,
    wrap,
)

_STYLES = {
    Change.BETTER: "bold green",
    Change.WORSE: "bold red",
    Change.NONE: "bold",
    Change.UNKNOWN: "bold",
}
_LABEL = 9
"""Columns of "base     ", as in the report."""


class ComparisonTerminal:
    """See `ComparisonRenderer`.

    Args:
        color: whether to emit ANSI colours; the text is the same without.
    """

    name = "terminal"
    suffix = ".txt"

    def __init__(self, *, color: bool = False) -> None:
        self._color = color

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        lines = _lines(comparison)
        for line in lines:
            line.rstrip()
        if not self._color:
            return "".join(line.plain + "\n" for line in lines)
        console = Console(
            width=WIDTH, file=StringIO(), force_terminal=True, color_system="standard"
        )
        with console.capture() as capture:
            for line in lines:
                console.print(line, soft_wrap=True)
        return capture.get()


def _lines(comparison: Comparison) -> list[Text]:
    blocks = [_headline(comparison), *map(_device, comparison.devices)]
    if comparison.objections:
        said = "; ".join(comparison.objections)
        blocks.append(paragraph("not comparable, compared all the same:", said))
    blocks.append(paragraph(styled("noise", DIM), comparison.noise_rule, hang=_LABEL))
    if comparison.limit is not None:
        blocks.append(_judged(comparison))
    lines: list[Text] = []
    for block in blocks:
        lines += [text_of(), *block] if lines else block
    return lines


def _headline(comparison: Comparison) -> list[Text]:
    word = words.HEADLINES[comparison.change]
    lead = styled(word, _STYLES[comparison.change])
    return paragraph(lead, words.headline(comparison), indent=0, hang=len(word) + 2)


def _judged(comparison: Comparison) -> list[Text]:
    limit = f"--fail-if-worse {(comparison.limit or 0.0) * 100:g}"
    if not comparison.too_bad:
        return paragraph(styled("PASS", "bold green"), limit)
    failed = styled("FAIL", "bold red")
    return paragraph(failed, f"{limit}: {'; '.join(comparison.too_bad)}")


def _device(device: DeviceComparison) -> list[Text]:
    lines = [
        *_side("base", device.base),
        *_side("new", device.new),
        *paragraph(styled("device", DIM), _gpu(device), hang=_LABEL),
        text_of(),
    ]
    head: tuple[Cell, ...] = ("", "base", "new", "change", "noise", "")
    rows = [head, *(_row(device, quantity) for quantity in device.quantities)]
    lines += table(rows, "lrrrrl")
    if device.ledger:
        title = (words.idle_title(device), *head[1:])
        rows = [title, *(_row(device, quantity) for quantity in device.ledger)]
        lines += [text_of(), *table(rows, "lrrrrl")]
    return lines


def _gpu(device: DeviceComparison) -> str:
    names = dict.fromkeys((device.base.gpu or "unknown", device.new.gpu or "unknown"))
    return f"{device.device}, {' against '.join(names)}"


def _side(label: str, side: Side) -> list[Text]:
    steps = count_of(side.steps, "step") if side.steps is not None else "no steps"
    family = f" of '{side.step_family}'" if side.step_family else ""
    said = f"{side.report}, {steps}{family}"
    program = wrap(side.program, WIDTH - INDENT - _LABEL)[0] if side.program else ""
    lines = paragraph(styled(label, DIM), said, hang=_LABEL)
    return [*lines, text_of(" " * (INDENT + _LABEL), program)] if program else lines


def _row(device: DeviceComparison, quantity: Quantity) -> tuple[Cell, ...]:
    return (
        quantity.name,
        words.value(quantity, quantity.base),
        words.value(quantity, quantity.new),
        words.difference(quantity),
        words.noise(quantity),
        styled(words.verdict(device, quantity), _STYLES[quantity.change]),
    )
