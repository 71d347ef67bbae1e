"""A comparison of jobs as one JSON object of less than 4 kB."""

from __future__ import annotations

from overlapcheck.brief import SCHEMA, Brief, BriefCause, BriefCheck
from overlapcheck.comparison import Change
from overlapcheck.device_report import LedgerEntry
from overlapcheck.fleet_comparison import CauseChange, FleetComparison, JobQuantity
from overlapcheck.renderers._brief_document import brief_text
from overlapcheck.renderers.comparison.brief import WORST_FIRST
from overlapcheck.renderers.comparison.jobs import _words as words


class FleetComparisonBrief:
    """See `FleetComparisonRenderer`."""

    name = "brief"
    suffix = ".brief.json"

    def render(self, found: FleetComparison, /) -> str:
        """See `FleetComparisonRenderer.render`."""
        return brief_text(_brief(found))


def _brief(found: FleetComparison) -> Brief:
    order = [change.value for change in WORST_FIRST]
    checks = sorted(map(_check, found.quantities), key=lambda check: order.index(check.outcome))
    said = [words.outcome(found), words.headline(found)]
    said += [*found.rank_clauses, *words.alone_texts(found), *found.objections]
    names = (words.explained(one) for one in found.causes if one.grew)
    grown = next(filter(None, names), "")
    return Brief(
        schema=SCHEMA,
        kind="comparison",
        verdict=words.HEADLINES[found.change],
        basis=None,
        exit_code=int(found.exit_code),
        summary="; ".join(filter(None, said)),
        judged=f"{words.side_text(found.new)} against {words.side_text(found.base)};"
        f" {found.noise_rule}",
        checks=tuple(checks),
        checks_left_out=0,
        causes=tuple(_cause(one, found) for one in found.causes),
        causes_left_out=0,
        next=f"overlapcheck explain {grown}" if grown else None,
        cut=False,
    )


def _check(one: JobQuantity) -> BriefCheck:
    quantity = one.quantity
    return BriefCheck(
        name=quantity.name,
        where=f"worst: {words.worst_rank(one)}",
        outcome=quantity.change.value,
        measured=quantity.new,
        limit=quantity.base,
        at_least=quantity.name.startswith("overlap"),
        reason=quantity.too_bad or quantity.too_noisy or words.change_text(one),
    )


def _cause(one: CauseChange, found: FleetComparison) -> BriefCause:
    rank = next(rank for rank in found.ranks if rank.rank == one.labels[0])
    side = rank.device.new if one.most.change is Change.WORSE else rank.device.base
    spent = side.compute_ns if not words.explained(one) else _spent_ns(one.cause, side.idle)
    return BriefCause(
        cause=one.cause,
        where=f"most: rank {one.labels[0]}",
        title=one.title,
        share=spent / max(side.window_ns, 1),
        cost=words.cause_text(one, found),
        confidence="grew" if one.grew else "shrank",
        evidence=(),
        advice=one.advice if one.grew else "",
        unless=one.caveat if one.grew else "",
        source="",
    )


def _spent_ns(cause: str, idle: tuple[LedgerEntry, ...]) -> int:
    return next((entry.ns for entry in idle if entry.cause == cause), 0)


RENDERER = FleetComparisonBrief()
