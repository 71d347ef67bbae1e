"""How fast collectives move data, counted as NCCL's tests count it.

algorithm bandwidth = S / t, bus bandwidth = algorithm bandwidth x factor, with n ranks:

                                    S                        factor
    all-reduce                      the message              2 (n - 1) / n
    all-gather, reduce-scatter      n messages: NCCL gives   (n - 1) / n
                                    the part of one rank
    all-to-all                      n messages: likewise     (n - 1) / n
    broadcast, reduce, send-recv    the message              1

The bus bandwidth is what each rank's link carries, whatever n: it can be held against the link.
t runs from the start of the last rank to the last end where all ranks were compared; else it is the
kernel's own length, or runs from the last of the ranks at hand, and may hold waiting for others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from overlapcheck.collectives import CollectiveKind, Collectives
from overlapcheck.columns import ABSENT, Ints
from overlapcheck.grouping import distinct, groups
from overlapcheck.rendezvous import Meeting

_PER_RANK = (CollectiveKind.ALL_GATHER, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_TO_ALL)
PER_RANK_KINDS = frozenset(kind.word for kind in _PER_RANK)
"""NCCL counts the part of one rank."""


@dataclass(frozen=True)
class CollectiveSpeed:
    """Collectives of one kind in one communicator, of those whose size was recorded."""

    kind: str
    """"all-reduce", "send-recv" ..."""
    communicator: str
    """NCCL's id, the same on all ranks; "" where not recorded."""
    count: int
    bytes: int
    """Messages as NCCL counts them, added up: for all-gather, reduce-scatter and all-to-all the
    part of one rank."""
    least_bytes: int
    most_bytes: int
    time_ns: int
    """Added up."""
    waits_included: bool
    """Whether ranks that were not compared may have come later: time is the kernels' own length, or
    begins with the last of the ranks at hand."""
    ranks: int | None
    """Of the communicator: as NCCL said, or how many were compared; None where neither is known."""
    algorithm_gbs: float | None
    """10^9 bytes per second; None where the number of ranks is needed and not known."""
    bus_gbs: float | None
    """Algorithm bandwidth times the factor of NCCL's tests; None where that needs the ranks."""


def bus_factor(kind: CollectiveKind, ranks: int | None) -> float | None:
    """Bus bandwidth over algorithm bandwidth; None where it depends on unknown ranks."""
    if kind in (CollectiveKind.BROADCAST, CollectiveKind.REDUCE, CollectiveKind.SEND_RECV):
        return 1.0
    if ranks is None or ranks < 2 or kind is CollectiveKind.OTHER:
        return None
    return (2 if kind is CollectiveKind.ALL_REDUCE else 1) * (ranks - 1) / ranks


def device_speeds(rows: Collectives) -> tuple[CollectiveSpeed, ...]:
    """Of one device's collectives, most time first.

    Where ranks were compared in some of them, only those count.
    """
    told = rows.rows(rows.whole & (rows.bytes != ABSENT))
    found = []
    for part in _alike(told):
        met = part.transfer_ns != ABSENT
        compared = part.rows(met) if met.any() else part
        length = compared.transfer_ns if met.any() else compared.end_ns - compared.start_ns
        together = int(compared.met.max())
        ranks = _only(compared.ranks) or together or None
        among = _Communicator(int(part.communicator[0]), ranks, together)
        found.append(_speed(CollectiveKind(int(part.kind[0])), among, compared.bytes, length))
    return tuple(sorted(found, key=lambda one: (-one.time_ns, one.kind, one.communicator)))


def _alike(rows: Collectives) -> Iterator[Collectives]:
    if len(rows) == 0:
        return
    first, group = groups(rows.kind, rows.communicator)
    for number in range(first.size):
        yield rows.rows(group == number)


def meeting_speeds(meeting: Meeting) -> tuple[CollectiveSpeed, ...]:
    """Of the collectives in which ranks met, by kind, most time first."""
    told = meeting.bytes != ABSENT
    ranks = len(meeting.members) if meeting.ranks == ABSENT else meeting.ranks
    among = _Communicator(meeting.communicator, ranks, len(meeting.members))
    found = [
        _speed(
            CollectiveKind(kind),
            among,
            meeting.bytes[told & (meeting.kind == kind)],
            meeting.operation_ns[told & (meeting.kind == kind)],
        )
        for kind in distinct(meeting.kind[told]).tolist()
    ]
    return tuple(sorted(found, key=lambda one: (-one.time_ns, one.kind)))


def _only(values: Ints) -> int | None:
    said = distinct(values[values != ABSENT])
    return int(said[0]) if said.size == 1 else None


@dataclass(frozen=True)
class _Communicator:
    """Ranks that do collectives together."""

    number: int
    """NCCL's id; ABSENT."""
    ranks: int | None
    """As NCCL said, or how many were compared; None where neither is known."""
    compared: int
    """Of these ranks, in one collective at most."""


def _speed(
    kind: CollectiveKind, among: _Communicator, sizes: Ints, length_ns: Ints
) -> CollectiveSpeed:
    ranks = among.ranks
    total, time = int(sizes.sum()), int(length_ns.sum())
    moved = total if kind not in _PER_RANK else total * ranks if ranks else None
    algorithm = moved / time if moved is not None and time > 0 else None
    factor = bus_factor(kind, ranks)
    return CollectiveSpeed(
        kind=kind.word,
        communicator=communicator_name(among.number),
        count=int(sizes.size),
        bytes=total,
        least_bytes=int(np.min(sizes)),
        most_bytes=int(np.max(sizes)),
        time_ns=time,
        waits_included=among.compared < (ranks or 1),
        ranks=ranks,
        algorithm_gbs=algorithm,
        bus_gbs=algorithm * factor if algorithm is not None and factor is not None else None,
    )


def communicator_name(communicator: int) -> str:
    """NCCL's id as NCCL's own log writes it; "" for ABSENT."""
    return "" if communicator == ABSENT else f"{communicator & 0xFFFFFFFFFFFFFFFF:#018x}"
