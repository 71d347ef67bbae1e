"""The telling ranks' excerpts put on one axis, and who waits for whom in them.

rank 0   compute ######################[move]      comes last: the others waited for it
rank 1   compute ##############[wait...|move]
         0 = begin of the step                     one clock where ranks meet, else each its own
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from overlapcheck.collectives import CollectiveKind
from overlapcheck.excerpt import Excerpt
from overlapcheck.fleet import DrawnMeeting, FleetReport, RankTimeline
from overlapcheck.ranks.meet import Attendee
from overlapcheck.ranks.telling import telling_ranks
from overlapcheck.report_result import DrawnRank, ReportResult

MAX_TIMELINES = 8
MIN_TIMELINES = 4
"""Where fewer ranks tell anything, others stand beside them."""
MAX_MEETINGS = 100
"""Of each rank."""


@dataclass(frozen=True)
class Drawn:
    """One rank's excerpt."""

    rank: DrawnRank
    offset_ns: int
    """From the rank's clock to the one shared on its host."""


class _Seen(NamedTuple):
    """One rank's part in one collective, on the rank's clock."""

    row: int
    kind: int
    start_ns: int
    end_ns: int


def drawn_rank(result: ReportResult, position: int) -> Drawn | None:
    """The excerpt of one row of a result; None where there is none."""
    rank = result.drawn[position] if position < len(result.drawn) else None
    return None if rank is None else Drawn(rank, result.utc_start_ns or 0)


def rank_timelines(
    report: FleetReport,
    drawn: Sequence[Drawn | None],
    groups: Sequence[tuple[Attendee, ...]],
) -> tuple[RankTimeline, ...]:
    """A bounded number of ranks, in their order.

    Args:
        report: all ranks.
        drawn: of each row of the report.
        groups: ranks that meet.
    """
    if len(report.rows) < 2:
        return ()
    why = _chosen(report)
    excerpts = {n: found.rank.excerpt for n in sorted(why) if (found := drawn[n]) is not None}
    if len(excerpts) < 2:
        return ()
    shared = _shared_step(list(excerpts.values()))
    begin = {n: _begin(excerpt, shared) for n, excerpt in excerpts.items()}
    clock = _clocks(len(drawn), groups)
    # On the clock of each: when the first of its ranks begins the step.
    zero: dict[int, int] = {}
    for n, (_, at) in begin.items():
        on_clock = at + _offset(drawn[n])
        zero[clock[n]] = min(zero.get(clock[n], on_clock), on_clock)
    met = _meetings(report, drawn, groups, excerpts)
    order = {number: place for place, number in enumerate(dict.fromkeys(clock[n] for n in begin))}
    return tuple(
        RankTimeline(
            rank=report.rows[n].label,
            why=why[n],
            at_ns=excerpt.start_ns + _offset(drawn[n]) - zero[clock[n]],
            step=begin[n][0],
            clock=order[clock[n]],
            meetings=tuple(sorted(met[n], key=lambda one: one.start_ns)[:MAX_MEETINGS]),
            excerpt=excerpt,
        )
        for n, excerpt in excerpts.items()
    )


def _chosen(report: FleetReport) -> dict[int, str]:
    """Rows of the ranks to draw, and why each."""
    numbers = {row.label: number for number, row in enumerate(report.rows)}
    why = {numbers[one.rank]: one.why for one in telling_ranks(report, MAX_TIMELINES)}
    others = [number for number in range(len(report.rows)) if number not in why]
    return why | dict.fromkeys(others[: max(MIN_TIMELINES - len(why), 0)], "")


def _shared_step(excerpts: Sequence[Excerpt]) -> int | None:
    """Number of the step that most excerpts show, of several the most typical."""
    shown = Counter(number for excerpt in excerpts for number in excerpt.step_number)
    typical = Counter(one.step_number[one.typical] for one in excerpts if one.step_number)
    return max(shown, key=lambda n: (shown[n], typical[n], -n), default=None)


def _begin(excerpt: Excerpt, shared: int | None) -> tuple[str, int]:
    """The step that is aligned, or the one that is there in its place, and when it begins."""
    if shared in excerpt.step_number:
        place = excerpt.step_number.index(shared)
        return excerpt.step_texts[place], excerpt.start_ns + excerpt.step_start_ns[place]
    return excerpt.step_text, excerpt.start_ns + excerpt.step_span_ns[0]


def _offset(drawn: Drawn | None) -> int:
    return drawn.offset_ns if drawn else 0


def _clocks(ranks: int, groups: Sequence[tuple[Attendee, ...]]) -> list[int]:
    """A number for each rank, the same for those that meet, directly or by way of others."""
    clock = list(range(ranks))

    def root(rank: int) -> int:
        while clock[rank] != rank:
            clock[rank] = rank = clock[clock[rank]]
        return rank

    for group in groups:
        for one in group[1:]:
            clock[root(one.row)] = root(group[0].row)
    return [root(rank) for rank in range(ranks)]


def _meetings(
    report: FleetReport,
    drawn: Sequence[Drawn | None],
    groups: Sequence[tuple[Attendee, ...]],
    excerpts: Mapping[int, Excerpt],
) -> dict[int, list[DrawnMeeting]]:
    """By rank: the collectives in which every rank of the group can be compared."""
    met: dict[int, list[DrawnMeeting]] = {number: [] for number in excerpts}
    occasion = 0
    for group in groups:
        for seen in _seen(group, drawn).values():
            if len(seen) < len(group):
                continue
            begun, latest = max((one.start_ns + _offset(drawn[one.row]), one.row) for one in seen)
            for one in seen:
                if one.row not in excerpts:
                    continue
                start = excerpts[one.row].start_ns
                until = min(max(begun - _offset(drawn[one.row]), one.start_ns), one.end_ns)
                met[one.row].append(
                    DrawnMeeting(
                        occasion=occasion,
                        kind=CollectiveKind(one.kind).word,
                        start_ns=one.start_ns - start,
                        until_ns=until - start,
                        end_ns=one.end_ns - start,
                        latest=report.rows[latest].label,
                    )
                )
            occasion += 1
    return met


def _seen(
    group: Sequence[Attendee], drawn: Sequence[Drawn | None]
) -> dict[tuple[int, int], list[_Seen]]:
    """Who took part in each collective, by step and position in it."""
    found: dict[tuple[int, int], list[_Seen]] = {}
    for one in group:
        for key, seen in _of(one, drawn[one.row]):
            found.setdefault(key, []).append(seen)
    return found


def _of(one: Attendee, drawn: Drawn | None) -> Iterator[tuple[tuple[int, int], _Seen]]:
    for channel in drawn.rank.collectives if drawn else ():
        if (channel.communicator, channel.stream_id) != (one.communicator, one.stream_id):
            continue
        mine = channel.attendance
        columns = (mine.step, mine.order, mine.kind, mine.start_ns, mine.end_ns)
        for step, order, kind, start, end in zip(*(c.tolist() for c in columns), strict=True):
            yield (step, order), _Seen(one.row, kind, start, end)
