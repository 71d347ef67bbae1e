"""A comparison for people: plain text of 80 columns, the outcome first."""

from __future__ import annotations

from rich.text import Text

from overlapcheck.comparison import Change, Comparison, DeviceComparison, Quantity, Side
from overlapcheck.renderers._terminal_head import OUTCOME_STYLES
from overlapcheck.renderers._terminal_text import (
    DIM,
    INDENT,
    Cell,
    paragraph,
    styled,
    table,
    text_of,
    wrap,
)
from overlapcheck.renderers.comparison import _words as words
from overlapcheck.renderers.formats.page import columns
from overlapcheck.renderers.formats.terminal import TerminalFormat

_STYLES = {
    Change.BETTER: "bold green",
    Change.WORSE: "bold red",
    Change.NONE: "bold",
    Change.UNKNOWN: "bold",
}
_LABEL = 9
"""Columns of "base     ", as in the report."""


class ComparisonTerminal(TerminalFormat):
    """See `ComparisonRenderer`."""

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        return self.printed(lambda: _lines(comparison))


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
    mark = styled(comparison.outcome.value, OUTCOME_STYLES[comparison.outcome])
    why = "; ".join(comparison.clauses)
    return paragraph(mark, f"{limit}: {why}" if why else limit)


def _device(device: DeviceComparison) -> list[Text]:
    lines = [
        *_side("base", device.base),
        *_side("new", device.new),
        *paragraph(styled("device", DIM), f"{device.device}, {words.gpu(device)}", hang=_LABEL),
        text_of(),
    ]
    head: tuple[Cell, ...] = ("", "base", "new", "change", "noise", "")
    rows = [head, *(_row(device, quantity) for quantity in device.quantities)]
    lines += table(rows, "lrrrrl", flexible=(0,))
    if divided := words.divided(device):
        title = (words.divided_title(device), *head[1:])
        rows = [title, *(_row(device, quantity) for quantity in divided)]
        lines += [text_of(), *table(rows, "lrrrrl", flexible=(0,))]
    return lines


def _side(label: str, side: Side) -> list[Text]:
    said = f"{side.report}, {words.steps(side)}"
    program = wrap(side.program, columns() - INDENT - _LABEL)[0] if side.program else ""
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


RENDERER = ComparisonTerminal()
