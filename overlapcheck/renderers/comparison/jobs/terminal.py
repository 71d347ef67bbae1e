"""A comparison of jobs for people: the outcome first, as long for four thousand ranks as for 40."""

from __future__ import annotations

from rich.text import Text

from overlapcheck.comparison import Change, Quantity
from overlapcheck.fleet_comparison import FleetComparison, JobQuantity, JobSide
from overlapcheck.renderers._terminal_head import OUTCOME_STYLES
from overlapcheck.renderers._terminal_text import (
    DIM,
    INDENT,
    Cell,
    clip_middle,
    paragraph,
    styled,
    table,
    text_of,
    wrap,
)
from overlapcheck.renderers.comparison.jobs import _words as words
from overlapcheck.renderers.formats.page import columns
from overlapcheck.renderers.formats.terminal import TerminalFormat

_STYLES = {
    Change.BETTER: "bold green",
    Change.WORSE: "bold red",
    Change.NONE: "bold",
    Change.UNKNOWN: "bold",
}
_LABEL = 9
_MAX_CAUSES = 6
_MAX_NAME = 32


class FleetComparisonTerminal(TerminalFormat):
    """See `FleetComparisonRenderer`."""

    def render(self, found: FleetComparison, /) -> str:
        """See `FleetComparisonRenderer.render`."""
        return self.printed(lambda: _lines(found))


def _lines(found: FleetComparison) -> list[Text]:
    word = words.HEADLINES[found.change]
    lead = styled(word, _STYLES[found.change])
    blocks = [
        paragraph(lead, words.headline(found), indent=0, hang=len(word) + 2),
        _looked_at(found),
        _job(found),
        _ranks(found),
        _causes(found),
        _collectives(found),
    ]
    if found.objections:
        said = "; ".join(found.objections)
        blocks.append(paragraph("not comparable, compared all the same:", said))
    blocks.append(paragraph(styled("noise", DIM), found.noise_rule, hang=_LABEL))
    if found.limit is not None:
        blocks.append(_judged(found))
    lines: list[Text] = []
    for block in filter(None, blocks):
        lines += [text_of(), *block] if lines else block
    return lines


def _looked_at(found: FleetComparison) -> list[Text]:
    lines = [*_side("base", found.base), *_side("new", found.new)]
    for said in words.alone_texts(found):
        lines += paragraph("", said, indent=INDENT + _LABEL - 1)
    return lines


def _side(label: str, side: JobSide) -> list[Text]:
    lines = paragraph(styled(label, DIM), words.side_text(side), hang=_LABEL)
    program = wrap(side.program, columns() - INDENT - _LABEL)[0] if side.program else ""
    return [*lines, text_of(" " * (INDENT + _LABEL), program)] if program else lines


def _job(found: FleetComparison) -> list[Text]:
    head: tuple[Cell, ...] = (
        "job, by its worst rank",
        "base",
        "new",
        "change",
        "noise",
        "rank",
        "",
    )
    return table([head, *map(_row, found.quantities)], "lrrrrll", flexible=(0,))


def _row(one: JobQuantity) -> tuple[Cell, ...]:
    quantity = one.quantity
    return (
        quantity.name,
        words.value(quantity, quantity.base),
        words.value(quantity, quantity.new),
        words.difference(quantity),
        words.noise(quantity),
        words.worst_rank(one).removeprefix("rank "),
        _changed(quantity),
    )


def _changed(quantity: Quantity) -> Text:
    return styled(quantity.change.value, _STYLES[quantity.change])


def _ranks(found: FleetComparison) -> list[Text]:
    shown = words.shown_ranks(found)
    rows: list[tuple[Cell, ...]] = [
        ("rank", "step", "change", "own part", "change", "noise", "", "grew most")
    ]
    for one in shown:
        step, own = one.device.step_time, one.own_part
        rows.append(
            (
                one.rank,
                words.value(step, step.new) if step else "-",
                words.difference(step) if step else "-",
                words.value(own, own.new),
                words.difference(own),
                words.noise(own),
                styled(one.change.value, _STYLES[one.change]),
                words.grown_text(one),
            )
        )
    lines = table(rows, "lrrrrrll", flexible=(7,))
    left = len(found.ranks) - len(shown)
    return [*lines, text_of(" " * INDENT, words.others(found, left))] if left else lines


def _causes(found: FleetComparison) -> list[Text]:
    lines: list[Text] = []
    for number, one in enumerate(found.causes[:_MAX_CAUSES], 1):
        lines += paragraph(
            f"{number} {clip_middle(one.cause, _MAX_NAME)}", words.cause_text(one, found), hang=4
        )
        if one.grew and one.advice:
            lines += paragraph("do", one.advice, indent=INDENT + 2, hang=7)
            lines += paragraph("unless", one.caveat, indent=INDENT + 2, hang=7)
    left = len(found.causes) - _MAX_CAUSES
    return [*lines, text_of(" " * INDENT, f"and {left} more that changed")] if left > 0 else lines


def _collectives(found: FleetComparison) -> list[Text]:
    lines: list[Text] = []
    for one in found.collectives:
        lines += paragraph("median rank", words.collective_text(one), hang=4)
    return lines


def _judged(found: FleetComparison) -> list[Text]:
    mark = styled(found.outcome.value, OUTCOME_STYLES[found.outcome])
    limit = words.outcome(found).removeprefix(found.outcome.value).strip()
    why = "; ".join(found.clauses)
    return paragraph(mark, f"{limit}: {why}" if why else limit)


RENDERER = FleetComparisonTerminal()
