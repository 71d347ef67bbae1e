"""A comparison as Markdown, for a comment on a change or a job's summary."""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.comparison import Appeared, Change, Comparison, DeviceComparison, Quantity
from overlapcheck.renderers._markdown_text import bounded, inline, table
from overlapcheck.renderers._plain_text import MAX_FINDINGS, MAX_SOURCE, place_text
from overlapcheck.renderers.comparison import _words as words

_ORDER = (Change.WORSE, Change.BETTER, Change.NONE)
MARKS = {Change.BETTER: "🟢", Change.WORSE: "🔴", Change.NONE: "⚪", Change.UNKNOWN: "⚪"}


class ComparisonMarkdown:
    """See `ComparisonRenderer`."""

    name = "markdown"
    suffix = ".md"

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        foot = f"<sub>Noise: {inline(comparison.noise_rule)}</sub>\n"
        return bounded(_blocks(comparison), foot)


def _blocks(comparison: Comparison) -> Iterator[str]:
    mark, word = MARKS[comparison.change], words.HEADLINES[comparison.change]
    headline = inline(words.headline(comparison))
    yield f"### {mark} overlapcheck compare: {word}\n\n{headline}\n"
    if comparison.objections:
        said = inline("; ".join(comparison.objections))
        yield f"**Not comparable, compared all the same:** {said}\n"
    if comparison.limit is not None:
        verdict, limit = words.outcome(comparison).split(" ", 1)
        said = "".join(f"; {inline(clause)}" for clause in comparison.clauses)
        yield f"**{verdict}** `{limit}`{said}\n"
    # What does not fit is left out: the worst comes first.
    for device in sorted(comparison.devices, key=lambda device: _ORDER.index(device.change)):
        yield from _device(device)


def _device(device: DeviceComparison) -> Iterator[str]:
    title = f"device {device.device}, {inline(words.gpu(device), 80)}"
    base, new = (inline(side.report, 80) for side in (device.base, device.new))
    head = [title, base, new, "change", "noise", ""]
    rows = [_row(device, quantity) for quantity in device.quantities]
    if divided := words.divided(device):
        rows.append([f"**{words.divided_title(device)}**", *[""] * (len(head) - 1)])
        rows += [_row(device, quantity) for quantity in divided]
    yield table(head, rows, right={base, new, "change", "noise"})
    for one in device.new_causes[:MAX_FINDINGS]:
        yield _new_cause(one)


def _row(device: DeviceComparison, quantity: Quantity) -> list[str]:
    return [
        inline(quantity.name, 80),
        words.value(quantity, quantity.base),
        words.value(quantity, quantity.new),
        words.difference(quantity),
        words.noise(quantity),
        words.verdict(device, quantity),
    ]


def _new_cause(one: Appeared) -> str:
    lines = [f"**{inline(one.cause, 80)}**: {inline(words.cause_text(one, 'new'))}", ""]
    if one.source:
        places = ", ".join(inline(place_text(place)) for place in one.source[:MAX_SOURCE])
        lines.append(f"- **at** {places}")
    if one.advice:
        lines.append(f"- **do** {inline(one.advice)}")
    if one.caveat:
        lines.append(f"- **unless** {inline(one.caveat)}")
    return "\n".join(lines).rstrip() + "\n"


RENDERER = ComparisonMarkdown()
