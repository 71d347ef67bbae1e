"""The comparison of two jobs: ranks by their numbers, and one answer for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from overlapcheck._version import __version__
from overlapcheck.compare import compare as single
from overlapcheck.compare import noise
from overlapcheck.compare.fleet_limit import judged
from overlapcheck.compare.fleet_parts import RankPair, cause_changes, collective_changes
from overlapcheck.compare.metric import Metric
from overlapcheck.compare.pace import at_one_pace
from overlapcheck.compare.pairing import Pair
from overlapcheck.compare.rank_rows import as_device, widening
from overlapcheck.comparison import Change, NotComparable, Quantity, Unit
from overlapcheck.copies import JUDGED_DIRECTIONS
from overlapcheck.fleet import FleetReport, named
from overlapcheck.fleet_comparison import (
    OWN_PART,
    FleetComparison,
    JobQuantity,
    JobSide,
    RankComparison,
)
from overlapcheck.ledger import Reason
from overlapcheck.quantities import count_of
from overlapcheck.report_result import RankRow
from overlapcheck.thresholds import Thresholds
from overlapcheck.verdict import Outcome

MAX_NAMED = 8


@dataclass(frozen=True)
class Job:
    """One side."""

    name: str
    """File or folder that it came from."""
    report: FleetReport


def compare_fleets(
    base: Job, new: Job, *, limit: float | None = None, force: bool = False
) -> FleetComparison:
    """What changed from one job to another.

    Args:
        base: what it was.
        new: what it is.
        limit: share of one by which it may be worse, see `compare`; of the job as one, and of each
            rank.
        force: compare what is not comparable, too.

    Raises:
        NotComparable: no rank is on both sides; or the two are of different things, and not
            `force`.
    """
    sides = [{row.label: row for row in job.report.rows} for job in (base, new)]
    both = [label for label in sides[1] if label in sides[0]]
    if not both:
        said = [_ranks(list(side)) for side in sides]
        raise NotComparable(
            f"not comparable: no rank is on both sides: {said[0]} against {said[1]}",
            "name the ranks alike in both: analyze FOLDER --rank-pattern REGEX",
        )
    rows = {label: (sides[0][label], sides[1][label]) for label in both}
    against = tuple(_objections(base.report, new.report, rows))
    if against and not force:
        raise NotComparable(
            f"not comparable: {'; '.join(against)}", "to compare all the same: --force"
        )
    ranks = sorted((_rank(*pair, widening(len(both))) for pair in rows.values()), key=_by_loss)
    pairs = [RankPair(label, rows[label]) for label in both]
    step, shares = _of_job({one.rank: _devices(*rows[one.rank]) for one in ranks})
    found = FleetComparison(
        tool_version=__version__,
        base=_side(base),
        new=_side(new),
        step_time=step,
        shares=shares,
        ranks=tuple(ranks),
        causes=cause_changes(ranks, [*new.report.causes, *base.report.causes]),
        collectives=collective_changes(pairs),
        only_base=tuple(label for label in sides[0] if label not in sides[1]),
        only_new=tuple(label for label in sides[1] if label not in sides[0]),
        objections=against,
        noise_rule=_noise_rule(rows, with_steps=step is not None),
        limit=limit,
    )
    return found if limit is None else judged(found, limit)


def _side(job: Job) -> JobSide:
    report = job.report
    late = report.stragglers[0] if report.stragglers else None
    return JobSide(
        name=job.name,
        program=report.settings.program,
        gpu=next((row.gpu for row in report.rows if row.gpu), ""),
        reports=report.reports,
        ranks=len(report.rows),
        outcome=report.outcome,
        waited_for=late.rank if late else "",
        waited_share=late.share if late else 0.0,
    )


def _ranks(labels: Sequence[str]) -> str:
    return named(labels, MAX_NAMED) if labels else "no rank"


def _devices(base: RankRow, new: RankRow, widened: float = 1.0) -> Pair:
    return at_one_pace((as_device(base, widened), as_device(new, widened)))


# ---- rank by rank


def _rank(base: RankRow, new: RankRow, widened: float) -> RankComparison:
    pair = _devices(base, new, widened)
    sides = [
        single.side(device, row.report, "") for device, row in zip(pair, (base, new), strict=True)
    ]
    return RankComparison(new.label, _own_part(pair), single.numbers((sides[0], sides[1]), pair))


def _own_part(pair: Pair) -> Quantity:
    """A step less the exposed collectives, on average; a share of the window without steps."""
    waiting = Reason.EXPOSED_COLLECTIVE.cause
    own = [
        device.window_ns - sum(entry.ns for entry in device.ledger if entry.cause == waiting)
        for device in pair
    ]
    base, new = (device.steps for device in pair)
    if base is not None and new is not None:
        over = [device.window.steps or 1 for device in pair]
        unit, uncertain = Unit.NS, noise.noise_ns(base, new, "step")
    else:
        over = [max(device.window_ns, 1) for device in pair]
        unit, uncertain = Unit.SHARE, Thresholds.noise_share
    return Metric(OWN_PART, unit).compared(own[0] / over[0], own[1] / over[1], uncertain)


def _by_loss(one: RankComparison) -> tuple[float, ...]:
    """Key to sort by: what grew by itself, then what got longer, then what else got worse."""
    own, step = one.own_part, one.device.step_time
    return (
        own.change is not Change.WORSE,
        -(own.difference or 0.0) if own.change is Change.WORSE else 0.0,
        step is None or step.change is not Change.WORSE,
        -(step.difference or 0.0) if step else 0.0,
        one.change is not Change.WORSE,
    )


# ---- the job as one


def _of_job(
    pairs: Mapping[str, Pair],
) -> tuple[JobQuantity | None, tuple[JobQuantity, ...]]:
    """Step time, recoverable and overlaps, each of the worst rank of either side."""
    every = [device for pair in pairs.values() for device in pair]
    overlaps = [
        _of_worst(pairs, partial(single.overlap, direction=way), least=True)
        for way in JUDGED_DIRECTIONS
        if any(way.value in device.copies for device in every)
    ]
    shares = [_of_worst(pairs, single.recoverable), *overlaps]
    return _of_worst(pairs, single.step_time), tuple(one for one in shares if one is not None)


def _of_worst(
    pairs: Mapping[str, Pair], made: Callable[[Pair], Quantity | None], *, least: bool = False
) -> JobQuantity | None:
    """A number of the job; None where no rank has it.

    Args:
        pairs: both sides of each rank, the more telling first.
        made: the number of a pair.
        least: whether the least one is the worst.
    """
    found = {label: made(pair) for label, pair in pairs.items()}
    new = _worst_of({label: one.new for label, one in found.items() if one}, found, least=least)
    # Of ranks that are as bad the same one speaks for both sides.
    order = dict.fromkeys([new, *pairs])
    base = _worst_of({n: one.base for n in order if (one := found[n])}, found, least=least)
    whole = made((pairs[base][0], pairs[new][1]))
    return JobQuantity(whole, base, new) if whole is not None else None


def _worst_of(values: Mapping[str, float | None], ranks: Iterable[str], *, least: bool) -> str:
    """The first rank that is as bad as the worst, by more than which no difference counts.

    Args:
        values: by rank; the first ones are the more telling.
        ranks: all, one of which is taken where none has a value.
        least: whether the least value is the worst.
    """
    known = {label: value for label, value in values.items() if value is not None}
    if not known:
        return next(iter(ranks))
    worst = (min if least else max)(known.values())
    near = Thresholds.noise_share * (worst if worst > 1 else 1)
    return next(label for label, value in known.items() if abs(value - worst) <= near)


# ---- what speaks against it, and how sure it is


def _objections(
    base: FleetReport, new: FleetReport, rows: Mapping[str, tuple[RankRow, RankRow]]
) -> Iterator[str]:
    """Why a difference between the two would say nothing, a clause each."""
    for job in (base, new):
        broken = [row.label for row in job.rows if _is_incomplete(row)]
        if broken:
            yield f"{_ranks(broken)}: recording incomplete"
    counts = [len(job.rows) + max(_gone(job), len(job.lost)) for job in (base, new)]
    if counts[0] != counts[1]:
        yield f"{count_of(counts[0], 'rank')} against {counts[1]}"
    said: dict[str, list[str]] = {}
    for label, (one, other) in rows.items():
        for clause in _differences(one, other):
            said.setdefault(clause, []).append(label)
    for clause, labels in said.items():
        where = "" if len(labels) == len(rows) else f" on {_ranks(labels)}"
        yield f"{clause}{where}"


def _gone(job: FleetReport) -> int:
    return job.missing.count if job.missing else 0


def _is_incomplete(row: RankRow) -> bool:
    return any(one.name == "capture" and one.outcome is Outcome.INCONCLUSIVE for one in row.checks)


def _differences(base: RankRow, new: RankRow) -> Iterator[str]:
    if base.gpu != new.gpu:
        yield f"another GPU: {base.gpu or 'unknown'} against {new.gpu or 'unknown'}"
    if base.steps is None and new.steps is None:
        yield "no steps on either side"
    elif base.steps is None or new.steps is None:
        yield f"no steps on the {'base' if base.steps is None else 'new'} side"


def _noise_rule(rows: Mapping[str, tuple[RankRow, RankRow]], *, with_steps: bool) -> str:
    if not with_steps:
        return noise.NO_STEPS_RULE
    said = noise.NOISE_RULE
    if any(row.per_step is None for pair in rows.values() for row in pair):
        said += "; a side was saved without spreads, which then count as none"
    if len(rows) > 1:
        said += (
            f"; for single ranks {widening(len(rows)):.1f} times as wide, so that"
            f" {count_of(len(rows), 'rank')} together mistake as seldom as one"
        )
    return said
