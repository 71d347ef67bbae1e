"""What the formats of a comparison of jobs say, in the same words."""

from __future__ import annotations

from collections.abc import Sequence

from overlapcheck.comparison import Change, Quantity
from overlapcheck.fleet import COMPUTE, named
from overlapcheck.fleet_comparison import (
    CauseChange,
    CollectiveChange,
    FleetComparison,
    JobQuantity,
    JobSide,
    RankComparison,
)
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.renderers.comparison._words import HEADLINES, difference, noise, value

__all__ = ["HEADLINES", "difference", "noise", "value"]

MAX_NAMED = 8
MAX_RANKS = 16
"""Ranks in a table; JSON has all of them."""
_FEW = 4
"""Ranks that are named before the job is spoken of."""


def headline(found: FleetComparison) -> str:
    """What changed, in a line; a few ranks that got slower by themselves come first."""
    ranks, step = _ranks(found), _step(found)
    said = [ranks, step] if 0 < len(_own(found)) <= _FEW else [step, ranks]
    return "; ".join(filter(None, [*said, waited_for(found)]))


def _own(found: FleetComparison) -> list[RankComparison]:
    return [one for one in found.ranks if one.own_part.change is Change.WORSE]


def _ranks(found: FleetComparison) -> str:
    """Which ranks got slower, and most of what: "rank 7 got slower by itself: ..."."""
    own, slower = _own(found), found.slower
    total = len(found.ranks)
    if not slower:
        return ""
    labels = [one.rank for one in slower]
    if not own:
        which = f"all {total} ranks" if len(labels) == total > 1 else named(labels, MAX_NAMED)
        return f"{which} got slower" if total > 1 else ""
    who = named(labels, MAX_NAMED) if len(own) < total or total == 1 else f"all {total} ranks"
    first = own[0]
    most = f"rank {first.rank} most: " if len(own) > 1 else ""
    clause = f"{who} got slower: {most}{own_text(first)}"
    rest = [one for one in found.ranks if one.own_part.change is not Change.WORSE]
    longer = sum(_is_longer(one) for one in rest)
    if longer:
        clause += f"; {count_of(longer, 'other rank waits', 'other ranks wait')}"
    return clause


def _is_longer(one: RankComparison) -> bool:
    step = one.device.step_time
    return step is not None and step.change is Change.WORSE


def own_text(one: RankComparison) -> str:
    """How much a rank's own part grew, and by what: "its own part of the step 9.0 ms -> ..."."""
    quantity = one.own_part
    base, new = (value(quantity, number) for number in (quantity.base, quantity.new))
    grown = one.grown
    by = f" ({grown.name} {difference(grown)})" if grown else ""
    return f"its own part of the step {base} -> {new}{by}"


def _step(found: FleetComparison) -> str:
    one = found.step_time
    if one is None or one.quantity.base is None or one.quantity.new is None:
        changed = [q for q in found.shares if q.quantity.change in (Change.BETTER, Change.WORSE)]
        return "; ".join(map(job_text, changed)) or "every share of the job within noise"
    step = one.quantity
    said = f"step of the job {value(step, step.base)} -> {value(step, step.new)}"
    if step.change is Change.NONE:
        if step.base == step.new:
            return f"step of the job {value(step, step.base)} on both sides"
        return f"{said}, within noise"
    word = "won" if step.change is Change.BETTER else "lost"
    lost, base = abs(step.difference or 0.0), step.base or 1.0
    return f"{said}: {duration(lost)} per step {word} ({percent(lost / base)})"


def waited_for(found: FleetComparison) -> str:
    """Whom the others wait for, where that is another than before."""
    base, new = found.base.waited_for, found.new.waited_for
    if base == new:
        return ""
    if not new:
        return f"no longer waiting for rank {base}"
    return f"waiting for rank {new}{f', was rank {base}' if base else ''}"


def job_text(one: JobQuantity) -> str:
    """A number of the job in a clause: "recoverable 5.0 % -> 20.0 % (rank 3)"."""
    quantity = one.quantity
    base, new = (value(quantity, number) for number in (quantity.base, quantity.new))
    return f"{quantity.name} {base} -> {new} ({worst_rank(one)})"


def worst_rank(one: JobQuantity) -> str:
    """Which rank a number of the job is of."""
    if one.base_rank == one.new_rank:
        return f"rank {one.new_rank}"
    return f"rank {one.base_rank} -> {one.new_rank}"


def change_text(one: JobQuantity) -> str:
    """One sentence: "step time 10.0 ms -> 12.0 ms (rank 3; +2.0 ms, noise 100.0 us): worse"."""
    quantity = one.quantity
    if quantity.missing:
        return f"{quantity.name} is not judged: the {quantity.missing} side has none"
    base, new = (value(quantity, number) for number in (quantity.base, quantity.new))
    changed = f"{worst_rank(one)}; {difference(quantity)}, noise {noise(quantity)}"
    return f"{quantity.name} {base} -> {new} ({changed}): {quantity.change.value}"


def rank_text(one: RankComparison) -> str:
    """One sentence about a rank: step and own part."""
    step = one.device.step_time
    said = [f"{step.name} {_both(step)}"] if step else []
    said.append(f"{one.own_part.name} {_both(one.own_part)}")
    grown = f"; most of it {grown_text(one)}" if one.grown else ""
    return f"rank {one.rank}: {', '.join(said)}{grown}"


def _both(quantity: Quantity) -> str:
    base, new = (value(quantity, number) for number in (quantity.base, quantity.new))
    return f"{base} -> {new} ({difference(quantity)})"


def grown_text(one: RankComparison) -> str:
    """What took most of what a rank lost; "" where nothing grew."""
    return f"{one.grown.name} {difference(one.grown)}" if one.grown else ""


def cause_text(one: CauseChange, found: FleetComparison) -> str:
    """Where a cause changed and how much: "grew on 1 of 300 ranks (rank 7): 0 ns -> 3.0 ms"."""
    total = len(found.ranks)
    word, count = ("grew", one.grew) if one.grew else ("shrank", one.shrank)
    labels = [*one.labels, *[""] * (count - len(one.labels))]
    where = f"all {total} ranks" if count == total > 1 else f"{count} of {count_of(total, 'rank')}"
    most = f", most on rank {one.labels[0]}" if count > 1 else ""
    who = f" ({named(labels, MAX_NAMED)})" if count < total or total == 1 else ""
    also = f", shrank on {one.shrank}" if one.grew and one.shrank else ""
    per = "per step" if one.most.unit.value == "ns" else "of the window"
    return f"{word} on {where}{who}{also}{most}: {_both(one.most)} {per}"


def explained(one: CauseChange) -> str:
    """What `overlapcheck explain` knows of it; "" of compute, which is no cause."""
    return "" if one.cause == COMPUTE else one.cause


def collective_text(one: CollectiveChange) -> str:
    """Collectives of a kind: how many, how long, how much of that exposed."""
    counts = f"{one.new_count:.3g}"
    if one.base_count != one.new_count:
        counts = f"{one.base_count:.3g} -> {counts}"
    return (
        f"{one.kind}: {counts} per step, {_both(one.length)}, exposed {_both(one.exposed)}:"
        f" {one.exposed.change.value}"
    )


def side_text(side: JobSide) -> str:
    """What a side is: "before.json, 300 ranks, NVIDIA H200"."""
    late = f", waiting for rank {side.waited_for}" if side.waited_for else ""
    gpu = f", {side.gpu}" if side.gpu else ""
    return f"{side.name}, {count_of(side.ranks, 'rank')}{gpu}, {side.outcome}{late}"


def alone_texts(found: FleetComparison) -> list[str]:
    """Ranks without a partner, a sentence a side."""
    return [
        f"only on the {side} side: {named(labels, MAX_NAMED)}"
        for side, labels in (("base", found.only_base), ("new", found.only_new))
        if labels
    ]


def outcome(found: FleetComparison) -> str:
    """What `--fail-if-worse` made of it; "" where nobody asked."""
    if found.limit is None:
        return ""
    return f"{found.outcome} --fail-if-worse {found.limit * 100:g}"


def others(found: FleetComparison, left: int) -> str:
    """Ranks that have no row."""
    return f"and {left} more{', no slower by themselves' if _own(found) else ''}"


def shown_ranks(found: FleetComparison) -> Sequence[RankComparison]:
    """Ranks worth a row: those that changed, worst first; of few ranks all."""
    if len(found.ranks) <= MAX_RANKS:
        return found.ranks
    slower = {one.rank for one in found.slower}
    changed = [
        one for one in found.ranks if one.rank in slower or one.own_part.change is Change.BETTER
    ]
    return (changed or found.ranks)[:MAX_RANKS]
