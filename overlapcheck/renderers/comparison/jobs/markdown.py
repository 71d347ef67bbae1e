"""A comparison of jobs as Markdown, for a comment on a change or a job's summary."""

from __future__ import annotations

from collections.abc import Iterator

from overlapcheck.comparison import Quantity
from overlapcheck.fleet_comparison import CauseChange, FleetComparison, RankComparison
from overlapcheck.renderers._markdown_text import bounded, inline, table
from overlapcheck.renderers._plain_text import MAX_FINDINGS
from overlapcheck.renderers.comparison.jobs import _words as words
from overlapcheck.renderers.comparison.markdown import MARKS


class FleetComparisonMarkdown:
    """See `FleetComparisonRenderer`."""

    name = "markdown"
    suffix = ".md"

    def render(self, found: FleetComparison, /) -> str:
        """See `FleetComparisonRenderer.render`."""
        foot = f"<sub>Noise: {inline(found.noise_rule)}</sub>\n"
        return bounded(_blocks(found), foot)


def _blocks(found: FleetComparison) -> Iterator[str]:
    mark, word = MARKS[found.change], words.HEADLINES[found.change]
    yield f"### {mark} overlapcheck compare: {word}\n\n{inline(words.headline(found))}\n"
    if found.objections:
        said = inline("; ".join(found.objections))
        yield f"**Not comparable, compared all the same:** {said}\n"
    if found.limit is not None:
        verdict, limit = words.outcome(found).split(" ", 1)
        said = "".join(f"; {inline(clause)}" for clause in found.clauses)
        yield f"**{verdict}** `{limit}`{said}\n"
    yield f"{inline(words.side_text(found.base))} → {inline(words.side_text(found.new))}\n"
    for said in words.alone_texts(found):
        yield f"{inline(said)}\n"
    yield _job(found)
    yield _ranks(found)
    grown = [one for one in found.causes if one.grew]
    for one in grown[:MAX_FINDINGS]:
        yield _cause(one, found)
    lines = "".join(f"- {inline(words.collective_text(one))}\n" for one in found.collectives)
    if lines:
        yield f"Collectives of the median rank:\n\n{lines}"


def _job(found: FleetComparison) -> str:
    head = ["the job, by its worst rank", "base", "new", "change", "noise", "rank", ""]
    rows = [
        [
            inline(one.quantity.name, 80),
            *_numbers(one.quantity),
            inline(words.worst_rank(one), 80),
            one.quantity.change.value,
        ]
        for one in found.quantities
    ]
    return table(head, rows, right={"base", "new", "change", "noise"})


def _numbers(quantity: Quantity) -> list[str]:
    return [
        words.value(quantity, quantity.base),
        words.value(quantity, quantity.new),
        words.difference(quantity),
        words.noise(quantity),
    ]


def _ranks(found: FleetComparison) -> str:
    shown = words.shown_ranks(found)
    head = ["rank", "own part: base", "new", "change", "noise", "step", "", "grew most"]
    right = {"own part: base", "new", "change", "noise", "step"}
    text = table(head, list(map(_rank, shown)), right=right)
    left = len(found.ranks) - len(shown)
    return f"{text}\n{words.others(found, left)}\n" if left else text


def _rank(one: RankComparison) -> list[str]:
    step = one.device.step_time
    return [
        inline(one.rank, 80),
        *_numbers(one.own_part),
        words.difference(step) if step else "-",
        one.change.value,
        inline(words.grown_text(one), 80),
    ]


def _cause(one: CauseChange, found: FleetComparison) -> str:
    lines = [f"**{inline(one.cause, 80)}** {inline(words.cause_text(one, found))}", ""]
    if one.advice:
        lines.append(f"- **do** {inline(one.advice)}")
    if one.caveat:
        lines.append(f"- **unless** {inline(one.caveat)}")
    return "\n".join(lines).rstrip() + "\n"


RENDERER = FleetComparisonMarkdown()
