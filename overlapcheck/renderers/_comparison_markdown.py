"""A comparison as Markdown, for a comment on a change."""

from __future__ import annotations

import re

from overlapcheck.comparison import Change, Comparison, DeviceComparison, Quantity
from overlapcheck.renderers import _comparison as words

_MARKS = {Change.BETTER: "🟢", Change.WORSE: "🔴", Change.NONE: "⚪", Change.UNKNOWN: "⚪"}


class ComparisonMarkdown:
    """See `ComparisonRenderer`."""

    name = "markdown"
    suffix = ".md"

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        word = words.HEADLINES[comparison.change]
        lines = [
            f"### {_MARKS[comparison.change]} overlapcheck compare: {word}",
            "",
            _text(words.headline(comparison)),
            "",
        ]
        for device in comparison.devices:
            lines += _device(device)
        if comparison.objections:
            said = _text("; ".join(comparison.objections))
            lines += [f"**Not comparable, compared all the same:** {said}", ""]
        if comparison.limit is not None:
            outcome = "FAIL" if comparison.too_bad else "PASS"
            said = "".join(f"; {_text(clause)}" for clause in comparison.too_bad)
            lines += [f"**{outcome}** `--fail-if-worse {comparison.limit * 100:g}`{said}", ""]
        lines.append(f"<sub>Noise: {_text(comparison.noise_rule)}</sub>")
        return "\n".join(lines) + "\n"


def _device(device: DeviceComparison) -> list[str]:
    base, new = _text(device.base.report), _text(device.new.report)
    lines = [
        f"| device {device.device}, {_text(device.new.gpu)} | {base} | {new} | change | |",
        "|---|--:|--:|--:|---|",
        *(_row(device, quantity) for quantity in device.quantities),
    ]
    if device.ledger:
        lines.append(f"| **{words.idle_title(device)}** | | | | |")
        lines += [_row(device, quantity) for quantity in device.ledger]
    return [*lines, ""]


def _row(device: DeviceComparison, quantity: Quantity) -> str:
    cells = (
        _text(quantity.name),
        words.value(quantity, quantity.base),
        words.value(quantity, quantity.new),
        words.difference(quantity),
        words.verdict(device, quantity),
    )
    return f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    """Text that Markdown shows as it is, in a table cell too."""
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_{}\[\]#|~@])", r"\\\1", " ".join(text.split()))
