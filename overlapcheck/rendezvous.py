"""Where ranks met: the same collective on each of them, who came last, how long the others waited.

    rank 0   compute ######################[coll]      comes last: the others waited for it
    rank 1   compute ##############[coll........]
                                   |waiting|move|

No rank can leave an all-reduce, all-gather, reduce-scatter or all-to-all before every rank has
entered it. Ranks whose collectives, matched by step and position, overlap and end together share a
communicator; that they do is also the proof that their clocks agree. Ranks for which it does not
hold are never compared in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from overlapcheck.collectives import CollectiveKind, Collectives
from overlapcheck.columns import ABSENT, Bools, Columns, Index, Ints, Mask
from overlapcheck.grouping import distinct
from overlapcheck.intervals import Intervals
from overlapcheck.thresholds import Thresholds

_STEP = 1 << 32


@dataclass(frozen=True)
class Attendance(Columns):
    """The collectives of one communicator, or of one stream where that is not known, of one rank.

    In order; times on the rank's own clock.
    """

    start_ns: Ints
    end_ns: Ints
    kind: Ints
    step: Ints
    order: Ints
    last: Bools
    bytes: Ints
    """Of the message; ABSENT where not recorded."""


@dataclass(frozen=True)
class Member:
    """One rank's communicator, or communication stream."""

    host: tuple[int, ...]
    """Members of different hosts are never compared."""
    offset_ns: int
    """From the rank's clock to the one shared on its host."""
    attendance: Attendance
    exposed: Intervals
    """The rank's communication without compute, on its own clock."""
    communicator: int = ABSENT
    """NCCL's id, where recorded: members with different ones are never compared."""
    ranks: int = ABSENT
    """Ranks of the communicator as NCCL said, where recorded."""


@dataclass(frozen=True)
class Meeting:
    """Members that met, and what each occasion cost; rows are members, columns are occasions."""

    members: tuple[int, ...]
    """Positions among the members that were compared."""
    row: Ints
    """Row of each occasion in each member's attendance, shape (members, occasions)."""
    kind: Ints
    step: Ints
    """Ascending; negative where there are no steps."""
    last: Bools
    """The last collective of its step."""
    start_ns: Ints
    """On the shared clock."""
    waiting_ns: Ints
    """From each member's start until the last member's start."""
    transfer_ns: Ints
    """From then on."""
    exposed_waiting_ns: Ints
    """Waiting in which nothing computes."""
    exposed_transfer_ns: Ints
    latest: Index
    """Row of the member that came last, shape (occasions,)."""
    end_spread_ns: int
    """Median over the occasions of how far the ends lie apart: what the clocks agree within."""
    bytes: Ints
    """Of the message, shape (occasions,); ABSENT where not recorded."""
    communicator: int
    """NCCL's id; ABSENT where not recorded."""
    ranks: int
    """Ranks of the communicator as NCCL said; ABSENT where not recorded."""

    @property
    def occasions(self) -> int:
        """How many collectives were compared."""
        return int(self.latest.size)

    @property
    def operation_ns(self) -> Ints:
        """From the last member's start to the last end, shape (occasions,)."""
        end = self.start_ns + self.waiting_ns + self.transfer_ns
        length: Ints = end.max(axis=0) - self.start_ns.max(axis=0)
        return length

    @property
    def waited(self) -> Mask:
        """Occasions at which anybody waited, shape (occasions,)."""
        waited: Mask = self.waiting_ns.max(axis=0) > 0
        return waited


def whole_channels(collectives: Collectives) -> list[Index]:
    """Rows that lie wholly in the window, by communicator, or by stream where that is not known."""
    channels = (rows[collectives.whole[rows]] for rows in collectives.channels)
    return [rows for rows in channels if rows.size]


def attendance(collectives: Collectives) -> Attendance:
    """What of one channel's collectives is compared with other ranks."""
    return Attendance(
        start_ns=collectives.start_ns,
        end_ns=collectives.end_ns,
        kind=collectives.kind,
        step=collectives.step,
        order=collectives.order,
        last=collectives.last,
        bytes=collectives.bytes,
    )


def communicator_of(collectives: Collectives) -> tuple[int, int]:
    """Communicator of one channel and its number of ranks; ABSENT where not recorded."""
    said = distinct(collectives.ranks[collectives.ranks != ABSENT])
    return int(collectives.communicator[0]), int(said[0]) if said.size == 1 else ABSENT


def meetings(members: Sequence[Member], limits: Thresholds) -> tuple[Meeting, ...]:
    """All groups of two and more members that met, in the order of their first member.

    Args:
        members: who may have met.
        limits: how often, and how closely.
    """
    alike: dict[tuple[object, ...], list[int]] = {}
    keys = {}
    for number, member in enumerate(members):
        meeting_kinds = [kind for kind in CollectiveKind if kind.meets]
        usable = np.flatnonzero(np.isin(member.attendance.kind, meeting_kinds))
        if usable.size >= limits.meeting_occasions_least:
            keys[number] = _Keyed(member, usable)
            key = (member.host, member.communicator, *keys[number].signature)
            alike.setdefault(key, []).append(number)
    found = []
    for numbers in alike.values():
        for group in _groups(numbers, keys, limits):
            meeting = _meet(group, keys, limits.meeting_occasions_least)
            if meeting is not None:
                found.append(meeting)
    return tuple(sorted(found, key=lambda meeting: meeting.members))


class _Keyed:
    """A member's occasions by (step, position), on the shared clock."""

    def __init__(self, member: Member, usable: Index) -> None:
        mine = member.attendance
        self.member = member
        key = np.maximum(mine.step[usable], ABSENT) * _STEP + mine.order[usable]
        self.key, first = np.unique(key, return_index=True)
        self.row = usable[first]
        self.kind = mine.kind[self.row]
        self.start = mine.start_ns[self.row] + member.offset_ns
        self.end = mine.end_ns[self.row] + member.offset_ns

    @property
    def signature(self) -> tuple[bool, tuple[int, ...]]:
        """What members of one communicator have in common: stepped or not, kinds of a step."""
        step = self.member.attendance.step[self.row]
        if step[-1] < 0:
            return False, tuple(np.unique(self.kind).tolist())
        # The middle step is whole even where the first and last are not.
        return True, tuple(self.kind[step == step[step.size // 2]].tolist())

    def at(self, keys: Ints) -> Index:
        """Positions of keys that are all here."""
        return np.searchsorted(self.key, keys)


def _groups(numbers: list[int], keyed: dict[int, _Keyed], limits: Thresholds) -> list[list[int]]:
    """Members that meet the first one of their group."""
    anchors = {n: int(keyed[n].end[keyed[n].end.size // 2]) for n in numbers}
    common = reduce(np.intersect1d, (keyed[n].key for n in numbers))
    if common.size:
        middle = common[common.size // 2 : common.size // 2 + 1]
        anchors = {n: int(keyed[n].end[keyed[n].at(middle)][0]) for n in numbers}
    groups: list[list[int]] = []
    for number in numbers:
        for group in reversed(groups):
            near = abs(anchors[group[0]] - anchors[number]) <= limits.meeting_near_ns
            if (near or not common.size) and _met(keyed[group[0]], keyed[number], limits):
                group.append(number)
                break
        else:
            groups.append([number])
    return [group for group in groups if len(group) > 1]


def _met(one: _Keyed, other: _Keyed, limits: Thresholds) -> bool:
    keys = np.intersect1d(one.key, other.key, assume_unique=True)
    if keys.size < limits.meeting_occasions_least:
        return False
    a, b = one.at(keys), other.at(keys)
    begun = np.maximum(one.start[a], other.start[b])
    apart = begun > np.minimum(one.end[a], other.end[b]) + limits.meeting_end_ns
    wrong = apart | (one.kind[a] != other.kind[b])
    if np.mean(wrong) > limits.meeting_apart_share:
        return False
    ends = np.abs(one.end[a] - other.end[b])
    moved = np.minimum(one.end[a] - one.start[a], other.end[b] - other.start[b])
    apart_ns = max(limits.meeting_end_ns, limits.meeting_end_share * np.median(moved))
    return bool(np.median(ends) <= apart_ns)


def _meet(group: list[int], keyed: dict[int, _Keyed], least: int) -> Meeting | None:
    mine = [keyed[n] for n in group]
    keys = reduce(np.intersect1d, (one.key for one in mine))
    if keys.size < least:
        return None
    at = [one.at(keys) for one in mine]
    kinds = np.stack([one.kind[i] for one, i in zip(mine, at, strict=True)])
    agreed = np.flatnonzero((kinds == kinds[0]).all(axis=0))
    at = [i[agreed] for i in at]
    start = np.stack([one.start[i] for one, i in zip(mine, at, strict=True)])
    end = np.stack([one.end[i] for one, i in zip(mine, at, strict=True)])
    if start.shape[1] < least:
        return None
    begun = np.clip(start.max(axis=0), start, end)
    sizes = np.stack(
        [one.member.attendance.bytes[one.row[i]] for one, i in zip(mine, at, strict=True)]
    )
    exposed = [
        (
            one.member.exposed.overlap_with(s - one.member.offset_ns, b - one.member.offset_ns),
            one.member.exposed.overlap_with(b - one.member.offset_ns, e - one.member.offset_ns),
        )
        for one, s, b, e in zip(mine, start, begun, end, strict=True)
    ]
    return Meeting(
        members=tuple(group),
        row=np.stack([one.row[i] for one, i in zip(mine, at, strict=True)]),
        kind=kinds[0][agreed],
        step=mine[0].member.attendance.step[mine[0].row[at[0]]],
        last=mine[0].member.attendance.last[mine[0].row[at[0]]],
        start_ns=start,
        waiting_ns=begun - start,
        transfer_ns=end - begun,
        exposed_waiting_ns=np.stack([waiting for waiting, _ in exposed]),
        exposed_transfer_ns=np.stack([transfer for _, transfer in exposed]),
        latest=np.argmax(start, axis=0),
        end_spread_ns=int(np.median(end.max(axis=0) - end.min(axis=0))),
        bytes=np.where((sizes == sizes[0]).all(axis=0), sizes[0], ABSENT),
        communicator=mine[0].member.communicator,
        ranks=mine[0].member.ranks,
    )
