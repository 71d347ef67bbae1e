"""Who waited for whom: the collectives of all ranks put side by side, host by host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from overlapcheck.collective_order import crossings
from overlapcheck.collective_speed import communicator_name, meeting_speeds
from overlapcheck.collectives import CollectiveKind
from overlapcheck.columns import Index, Ints
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.fleet import COMPUTE, MeetingSummary, RankWait, Straggler, named
from overlapcheck.intervals import Intervals
from overlapcheck.quantities import count_of, duration
from overlapcheck.rendezvous import Meeting, Member, meetings
from overlapcheck.report_result import Encounters, RankRow, ReportResult
from overlapcheck.thresholds import Thresholds

MAX_LABELS = 16
MAX_WAITS = 16
MAX_MEANWHILE = 4
MAX_CROSSED = 2
MAX_NAMED = 4


@dataclass(frozen=True)
class Attendee:
    """One rank in one group that meets, and by which of its channels."""

    row: int
    communicator: int
    stream_id: int


@dataclass(frozen=True)
class MetRanks:
    """What comparing the collectives tells."""

    summaries: tuple[MeetingSummary, ...]
    stragglers: tuple[Straggler, ...]
    """Costliest first."""
    hosts: int
    notes: tuple[str, ...]
    crossed: tuple[str, ...]
    """Collectives that ranks begin in different order, costliest first."""
    groups: tuple[tuple[Attendee, ...], ...]
    """Who meets whom; their clocks agree."""


@dataclass(frozen=True)
class _Side:
    """A member with what is needed to explain it."""

    row: int
    encounters: Encounters
    member: Member


def met_ranks(
    rows: Sequence[RankRow],
    owners: Sequence[tuple[int, int]],
    results: Mapping[int, ReportResult],
    *,
    same_host: bool,
    limits: Thresholds,
) -> MetRanks:
    """Compare the ranks of each host.

    Args:
        rows: all ranks.
        owners: (report, position in it) of each.
        results: by report.
        same_host: whether to take all ranks as of one host whatever their ids say.
        limits: the numbers that decide.
    """
    sides = []
    hosts = set()
    for number, (report, position) in enumerate(owners):
        result = results[report]
        # Without UTC a report's clock is its own.
        host = (0,) if same_host else (rows[number].host,)
        hosts.add(host)
        clock = host if result.utc_start_ns is not None else (*host, report)
        offset = result.utc_start_ns or 0
        for one in result.encounters[position]:
            exposed = Intervals.of(one.exposed_start_ns, one.exposed_end_ns)
            member = Member(clock, offset, one.attendance, exposed, one.communicator, one.ranks)
            sides.append(_Side(number, one, member))
    found = meetings([side.member for side in sides], limits)
    summaries = [_summary(meeting, sides, rows) for meeting in found]
    summaries.sort(key=lambda one: -max(wait.exposed_waiting_ns for wait in one.waits))
    stragglers = [s for meeting in found for s in _stragglers(meeting, sides, rows, limits)]
    stragglers.sort(key=lambda one: (-one.share, one.rank))
    return MetRanks(
        tuple(summaries),
        tuple(stragglers),
        len(hosts),
        _notes(found, sides, len(rows)),
        tuple(_crossed(found, sides, rows, limits)),
        tuple(tuple(_attendee(sides[m]) for m in meeting.members) for meeting in found),
    )


def _attendee(side: _Side) -> Attendee:
    return Attendee(side.row, side.encounters.communicator, side.encounters.stream_id)


def _crossed(
    found: Sequence[Meeting],
    sides: Sequence[_Side],
    rows: Sequence[RankRow],
    limits: Thresholds,
) -> Iterator[str]:
    owners = [[sides[m].row for m in meeting.members] for meeting in found]
    crossed = crossings(found, owners, limits)
    for one in crossed[:MAX_CROSSED]:
        first = [rows[r].label for r, a in zip(one.ranks, one.begins_with_one, strict=True) if a]
        then = [rows[r].label for r in one.ranks if rows[r].label not in first]
        if not first or not then:
            continue
        kinds = [
            f"{CollectiveKind(int(np.bincount(found[n].kind).argmax())).word} of stream"
            f" {sides[found[n].members[0]].encounters.stream_id}"
            for n in (one.one, one.other)
        ]
        yield (
            f"the order differs: {named(first, MAX_NAMED)} began the {kinds[0]} before the"
            f" {kinds[1]}, {named(then, MAX_NAMED)} after it, in {one.crossed} of {one.pairs}; up"
            f" to {duration(max(one.waiting_ns))} of a rank's waiting is in these"
        )


def _notes(found: Sequence[Meeting], sides: Sequence[_Side], ranks: int) -> tuple[str, ...]:
    with_collectives = {side.row for side in sides}
    if len(with_collectives) < 2:
        return ()
    met = {sides[m].row for meeting in found for m in meeting.members}
    apart = len(with_collectives - met)
    notes = []
    if found:
        worst = max(meeting.end_spread_ns for meeting in found)
        notes.append(
            f"{len(met)} of {ranks} ranks meet in collectives, in {count_of(len(found), 'group')};"
            f" by their clocks these end within {worst / 1000:.1f} us of each other"
        )
    if apart:
        notes.append(
            f"{apart} of {ranks} ranks meet no other rank in time (another host, another clock or"
            " other steps): their waiting is not told from transfer"
        )
    return tuple(notes)


def _summary(meeting: Meeting, sides: Sequence[_Side], rows: Sequence[RankRow]) -> MeetingSummary:
    labels = [rows[sides[m].row].label for m in meeting.members]
    last = np.bincount(meeting.latest[meeting.waited], minlength=len(labels))
    waits = [
        RankWait(
            rank=labels[i],
            waiting_ns=int(meeting.waiting_ns[i].sum()),
            transfer_ns=int(meeting.transfer_ns[i].sum()),
            exposed_waiting_ns=int(meeting.exposed_waiting_ns[i].sum()),
            exposed_transfer_ns=int(meeting.exposed_transfer_ns[i].sum()),
            came_last=int(last[i]),
        )
        for i in range(len(labels))
    ]
    waits.sort(key=lambda wait: -wait.exposed_waiting_ns)
    kinds, counts = np.unique(meeting.kind, return_counts=True)
    return MeetingSummary(
        labels=tuple(labels[:MAX_LABELS]),
        ranks=len(labels),
        kinds={
            CollectiveKind(kind).word: int(count) for kind, count in zip(kinds, counts, strict=True)
        },
        occasions=meeting.occasions,
        end_spread_ns=meeting.end_spread_ns,
        complete=all(sides[m].encounters.complete for m in meeting.members),
        waits=tuple(waits[:MAX_WAITS]),
        communicator=communicator_name(meeting.communicator),
        speeds=meeting_speeds(meeting),
    )


def _stragglers(
    meeting: Meeting, sides: Sequence[_Side], rows: Sequence[RankRow], limits: Thresholds
) -> list[Straggler]:
    """Members that cost the median other member a material share of its time."""
    found = []
    for i, m in enumerate(meeting.members):
        others, late = _others(meeting, i), _late(meeting, i)
        if late.size == 0:
            continue
        cost = _median_sum(meeting.waiting_ns, others, late)
        exposed = _median_sum(meeting.exposed_waiting_ns, others, late)
        row = rows[sides[m].row]
        share = cost / _compared_ns(meeting, i)
        if share < MATERIAL_SHARE:
            continue
        found.append(
            Straggler(
                rank=row.label,
                ranks=len(meeting.members),
                came_last=int(late.size),
                occasions=meeting.occasions,
                cost_ns=cost,
                exposed_cost_ns=exposed,
                share=share,
                meanwhile=_meanwhile(meeting, i, sides, limits.meanwhile_share * cost),
            )
        )
    return found


def _median_sum(values: Ints, rows: list[int], columns: Index) -> int:
    """Of some members in some occasions: the median member's value, added up."""
    chosen = values[np.array(rows)][:, columns].astype(np.float64)
    return int(np.median(chosen, axis=0).sum())


def _compared_ns(meeting: Meeting, i: int) -> int:
    """Time from the first compared collective's start to the last one's end."""
    end = meeting.start_ns[i] + meeting.waiting_ns[i] + meeting.transfer_ns[i]
    return max(1, int(end.max() - meeting.start_ns.min()))


def _others(meeting: Meeting, i: int) -> list[int]:
    """The other members."""
    return [j for j in range(len(meeting.members)) if j != i]


def _late(meeting: Meeting, i: int) -> Index:
    """Occasions in which a member came last."""
    return np.flatnonzero(meeting.latest == i)


def _meanwhile(meeting: Meeting, i: int, sides: Sequence[_Side], least_ns: float) -> dict[str, int]:
    """By how much the straggler spent longer than the median other on each kind of thing."""
    others, late = _others(meeting, i), _late(meeting, i)

    def spent(member: int, what: str) -> Ints:
        before = sides[meeting.members[member]].encounters.before
        at = meeting.row[member][late]
        return before[what][at] if what in before else np.zeros(at.shape, dtype=np.int64)

    names = {COMPUTE, *(w for m in meeting.members for w in sides[m].encounters.before)}
    longer = {}
    for what in names:
        usual = np.median(np.stack([spent(j, what) for j in others]).astype(np.float64), axis=0)
        longer[what] = int((spent(i, what) - usual).sum())
    told = sorted(
        (w for w in longer if longer[w] >= max(least_ns, 1)),
        key=lambda w: (-longer[w], w),
    )
    return {what: longer[what] for what in told[:MAX_MEANWHILE]}
