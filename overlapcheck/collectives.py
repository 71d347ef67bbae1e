"""Kernels that move data between devices, one row each, and what kind of exchange they are."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from overlapcheck.codes import Code
from overlapcheck.columns import ABSENT, Bools, Columns, Index, Ints
from overlapcheck.grouping import by_group, groups


class CollectiveKind(Code):
    """What an exchange does; `word` is how users name it."""

    OTHER = 0
    ALL_REDUCE = 1
    ALL_GATHER = 2
    REDUCE_SCATTER = 3
    ALL_TO_ALL = 4
    BROADCAST = 5
    REDUCE = 6
    SEND_RECV = 7

    @property
    def word(self) -> str:
        """Name in reports: "all-reduce"."""
        return self.name.lower().replace("_", "-")

    @property
    def meets(self) -> bool:
        """Whether no rank can end before every rank has begun: each needs data of all."""
        return self in _MEETING


_MEETING = frozenset(
    {
        CollectiveKind.ALL_REDUCE,
        CollectiveKind.ALL_GATHER,
        CollectiveKind.REDUCE_SCATTER,
        CollectiveKind.ALL_TO_ALL,
    }
)
# The first that matches counts: "ReduceScatter" before "Reduce".
_PATTERNS = (
    (CollectiveKind.REDUCE_SCATTER, r"reduce_?scatter"),
    (CollectiveKind.ALL_GATHER, r"all_?gather"),
    (CollectiveKind.ALL_REDUCE, r"all_?reduce|cross_device_reduce"),
    (CollectiveKind.ALL_TO_ALL, r"all_?to_?all"),
    (CollectiveKind.SEND_RECV, r"send_?recv|ncclSend|ncclRecv"),
    (CollectiveKind.BROADCAST, r"broadcast|bcast"),
    (CollectiveKind.REDUCE, r"reduce"),
)


def collective_kind(kernel_name: str) -> CollectiveKind:
    """Kind of a communication kernel by its short name."""
    for kind, pattern in _PATTERNS:
        if re.search(pattern, kernel_name, re.IGNORECASE):
            return kind
    return CollectiveKind.OTHER


@dataclass(frozen=True)
class Collectives(Columns):
    """Communication kernels that touch the window, sorted by start; times are not clipped."""

    start_ns: Ints
    end_ns: Ints
    context_id: Ints
    stream_id: Ints
    name_id: Ints
    kind: Ints
    """CollectiveKind."""
    step: Ints
    """Step in its family, skipped ones counted; negative for none."""
    communicator: Ints
    """NCCL's id, the same on all ranks; ABSENT where not recorded."""
    order: Ints
    """Position in its channel: in the step, or in the whole trace where there are no steps."""
    since_ns: Ints
    """End of the collective before it in the channel, or the window's start."""
    ready_ns: Ints
    """When its launch had returned and its stream was free; its start where that is not known."""
    exposed_ns: Ints
    """Part of it, inside the window, in which nothing computes."""
    last: Bools
    """The last one of its step."""
    on_compute_stream: Bools
    """Its stream also carries compute, which it can therefore not run beside."""
    whole: Bools
    """It lies wholly inside the window."""
    bytes: Ints
    """Of the message as NCCL counts it (see `NcclCalls`); ABSENT where not recorded."""
    ranks: Ints
    """Ranks of the communicator as NCCL said; ABSENT where not recorded."""
    met: Ints
    """How many ranks were compared in it; 0 for none."""
    transfer_ns: Ints
    """From the start of the last of these ranks to the last end; ABSENT where none was compared."""

    @property
    def channels(self) -> list[Index]:
        """Rows of each communicator, and of each stream where that is not known."""
        known = self.communicator != ABSENT
        keys = (np.where(known, ABSENT, key) for key in (self.context_id, self.stream_id))
        first, group = groups(*keys, self.communicator)
        order, bounds = by_group(group, first.size)
        return [order[bounds[n] : bounds[n + 1]] for n in range(first.size)]
