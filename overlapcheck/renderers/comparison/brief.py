"""A comparison as one JSON object of less than 4 kB."""

from __future__ import annotations

from overlapcheck.brief import SCHEMA, Brief, BriefCause, BriefCheck
from overlapcheck.comparison import Appeared, Change, Comparison, Quantity
from overlapcheck.renderers._brief_document import brief_text
from overlapcheck.renderers._plain_text import place_text
from overlapcheck.renderers.comparison._words import (
    HEADLINES,
    change_text,
    cost,
    headline,
    outcome,
    steps,
    titles,
)

WORST_FIRST = (Change.WORSE, Change.BETTER, Change.NONE, Change.UNKNOWN)


class ComparisonBrief:
    """See `ComparisonRenderer`."""

    name = "brief"
    suffix = ".brief.json"

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        return brief_text(_brief(comparison))


def _brief(comparison: Comparison) -> Brief:
    names = titles(comparison) if len(comparison.devices) > 1 else [""]
    devices = list(zip(names, comparison.devices, strict=True))
    checks = [_check(q, name) for name, device in devices for q in device.quantities]
    order = [change.value for change in WORST_FIRST]
    causes = [
        _cause(one, name, word)
        for word in ("new", "gone")
        for name, device in devices
        for one in (device.new_causes if word == "new" else device.gone)
    ]
    first = comparison.devices[0]
    said = filter(None, (outcome(comparison), headline(comparison), *comparison.objections))
    new = next((one.cause for one in causes if one.confidence == "new"), None)
    return Brief(
        schema=SCHEMA,
        kind="comparison",
        verdict=HEADLINES[comparison.change],
        basis=None,
        exit_code=int(comparison.exit_code),
        summary="; ".join(said),
        judged=f"{first.new.report} ({steps(first.new)}) against {first.base.report}"
        f" ({steps(first.base)}); {comparison.noise_rule}",
        checks=tuple(sorted(checks, key=lambda check: order.index(check.outcome))),
        checks_left_out=0,
        causes=tuple(causes),
        causes_left_out=0,
        next=f"overlapcheck explain {new}" if new else None,
        cut=False,
    )


def _check(quantity: Quantity, where: str) -> BriefCheck:
    return BriefCheck(
        name=quantity.name,
        where=where,
        outcome=quantity.change.value,
        measured=quantity.new,
        limit=quantity.base,
        at_least=quantity.name.startswith("overlap"),
        reason=quantity.too_bad or quantity.too_noisy or change_text(quantity),
    )


def _cause(one: Appeared, where: str, word: str) -> BriefCause:
    return BriefCause(
        cause=one.cause,
        where=where,
        title=one.title,
        share=one.share,
        cost=cost(one),
        confidence=word,
        evidence=(),
        advice=one.advice if word == "new" else "",
        unless=one.caveat if word == "new" else "",
        source=place_text(one.source[0]) if one.source else "",
    )


RENDERER = ComparisonBrief()
