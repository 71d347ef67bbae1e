"""What a program asked of NCCL, from the NVTX ranges that NCCL opens around its own functions."""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.codes import Code
from overlapcheck.collectives import CollectiveKind
from overlapcheck.columns import Columns, Ints


class NcclCall(Code):
    """A function of NCCL."""

    OTHER = 0
    ALL_REDUCE = 1
    ALL_GATHER = 2
    REDUCE_SCATTER = 3
    ALL_TO_ALL = 4
    BROADCAST = 5
    REDUCE = 6
    SEND = 7
    RECV = 8
    GROUP_START = 9
    GROUP_END = 10

    @property
    def kind(self) -> CollectiveKind:
        """The exchange that it asks for; OTHER where it asks for none."""
        if self in (NcclCall.SEND, NcclCall.RECV):
            return CollectiveKind.SEND_RECV
        return CollectiveKind.__members__.get(self.name, CollectiveKind.OTHER)


@dataclass(frozen=True)
class NcclCalls(Columns):
    """Calls of NCCL with what their payload tells, sorted by (start_ns, -end_ns)."""

    start_ns: Ints
    end_ns: Ints
    process: Ints
    tid: Ints
    call: Ints
    """NcclCall."""
    communicator: Ints
    """NCCL's 64 bits, signed: the same on all ranks; ABSENT where not recorded."""
    bytes: Ints
    """Of the message; of an all-gather or reduce-scatter what one rank gives or gets, of an
    all-to-all what it sends to one rank. ABSENT where not recorded."""
    ranks: Ints
    """Ranks of the communicator, where the call makes or ends one; ABSENT otherwise."""
