"""Which messages each kernel of NCCL carries: those of the call in which it was launched.

    t1   ncclAllReduce     [.........]
         cuLaunchKernelEx      [..]              one call, one kernel: its message
    t1   ncclGroupStart    []
         ncclSend             []
         ncclRecv                []
         ncclGroupEnd               [........]
         cuLaunchKernelEx             [..]       the messages of the whole group

Of a group that launches one kernel the messages are added up; sends and receives run both ways at
once, so that the larger of the two sums counts, as in NCCL's tests. A group that launches as many
kernels as it has messages, all alike, gives each kernel one. Of any other group nobody can tell
which kernel moves what: kind and communicator are known where all messages share them, sizes not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from overlapcheck.collectives import CollectiveKind
from overlapcheck.columns import ABSENT, Columns, Index, Ints, Mask
from overlapcheck.grouping import distinct
from overlapcheck.nccl_calls import NcclCall, NcclCalls
from overlapcheck.passes.process import ProcessTables
from overlapcheck.searches import covering


@dataclass(frozen=True)
class Messages(Columns):
    """What kernels carry, one row each, for those that a call of NCCL launched."""

    kernel: Ints
    """Row among the kernels of the process, ascending."""
    kind: Ints
    """CollectiveKind; OTHER where the messages differ."""
    bytes: Ints
    """As in `NcclCalls`; ABSENT where not known."""
    communicator: Ints
    """ABSENT where not known."""
    ranks: Ints
    """Ranks of the communicator; ABSENT where not known."""


def nccl_messages(process: ProcessTables) -> Messages:
    """Messages of the kernels that one process launched, on all its devices."""
    told = process.nccl_calls
    call_kinds = np.array([call.kind for call in NcclCall], dtype=np.int64)
    carries = call_kinds[told.call] != CollectiveKind.OTHER
    groups = np.isin(told.call, (NcclCall.GROUP_START, NcclCall.GROUP_END))
    calls = told.rows(carries | groups)
    if len(calls) == 0 or len(process.calls) == 0:
        return Messages.none()
    calls = calls.rows(np.lexsort((-calls.end_ns, calls.start_ns, calls.tid)))
    calls = calls.rows(_outermost(calls))
    batch = _batches(calls)
    kernel, owner = _launched_in(calls, process)
    kinds = call_kinds[calls.call]
    found = _summed(calls, kinds, batch, np.bincount(batch[owner], minlength=batch.size))
    kind, size, communicator = (values[batch[owner]] for values in found)
    return Messages(kernel, kind, size, communicator, _ranks(told, communicator))


def _outermost(calls: NcclCalls) -> Mask:
    """Calls, sorted by thread and start, that lie in no other of their thread."""
    outer = np.ones(len(calls), dtype=np.bool_)
    for mine in _threads(calls):
        reach = np.maximum.accumulate(calls.end_ns[mine])
        outer[mine][1:] = calls.end_ns[mine][1:] > reach[:-1]
    return outer


def _threads(calls: NcclCalls) -> list[slice]:
    """Rows of each thread."""
    opens = np.flatnonzero(np.append(True, calls.tid[1:] != calls.tid[:-1]))
    return [slice(a, b) for a, b in pairwise([*opens.tolist(), len(calls)])]


def _batches(calls: NcclCalls) -> Index:
    """Number of what is launched together: one call, or an outermost group."""
    deeper = (calls.call == NcclCall.GROUP_START).astype(np.int64)
    deeper -= calls.call == NcclCall.GROUP_END
    alone = np.empty(len(calls), dtype=np.bool_)
    for mine in _threads(calls):
        depth = np.cumsum(deeper[mine])
        # The end of a group that began before the recording.
        depth -= np.minimum.accumulate(np.minimum(depth, 0))
        alone[mine] = np.append(0, depth[:-1]) == 0
    return np.cumsum(alone) - 1


def _launched_in(calls: NcclCalls, process: ProcessTables) -> tuple[Index, Index]:
    """Kernels that were launched in one of the calls, and the row of that call."""
    kernels = np.flatnonzero(process.kernel_call != ABSENT)
    launch = process.kernel_call[kernels]
    start, tid = process.calls.start_ns[launch], process.calls.tid[launch]
    owner = np.full(kernels.shape, ABSENT, dtype=np.intp)
    for mine in _threads(calls):
        rows = np.flatnonzero(tid == calls.tid[mine][0])
        at = covering(calls.start_ns[mine], calls.end_ns[mine], start[rows])
        within = at != ABSENT
        owner[rows[within]] = mine.start + at[within]
    found = owner != ABSENT
    return kernels[found], owner[found]


def _summed(calls: NcclCalls, kinds: Ints, batch: Index, kernels: Index) -> tuple[Ints, Ints, Ints]:
    """Kind, bytes and communicator of a kernel of each batch.

    Args:
        calls: sorted by batch.
        kinds: of each call.
        batch: of each call.
        kernels: how many each batch launched.
    """
    rows = np.flatnonzero(kinds != CollectiveKind.OTHER)
    size, of = calls.bytes[rows], batch[rows]
    count = np.bincount(of, minlength=kernels.size)
    kind = _shared(kinds[rows], of, kernels.size, CollectiveKind.OTHER)
    communicator = _shared(calls.communicator[rows], of, kernels.size, ABSENT)
    each = _shared(size, of, kernels.size, ABSENT)
    sent = _total(np.where(calls.call[rows] == NcclCall.RECV, 0, size), of, kernels.size)
    received = _total(np.where(calls.call[rows] == NcclCall.SEND, 0, size), of, kernels.size)
    total = np.where(
        _total((size == ABSENT).astype(np.int64), of, kernels.size) > 0,
        ABSENT,
        np.maximum(sent, received),
    )
    one_each = (kernels == count) & (kind != CollectiveKind.SEND_RECV)
    told = np.where(kernels == 1, total, np.where(one_each, each, ABSENT))
    return kind, np.where(kind == CollectiveKind.OTHER, ABSENT, told), communicator


def _total(values: Ints, group: Index, groups: int) -> Ints:
    total = np.zeros(groups, dtype=np.int64)
    np.add.at(total, group, values)
    return total


def _shared(values: Ints, group: Index, groups: int, otherwise: int) -> Ints:
    """The value that all of a group have."""
    low = np.full(groups, np.iinfo(np.int64).max)
    high = np.full(groups, np.iinfo(np.int64).min)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return np.where(low == high, low, otherwise)


def _ranks(told: NcclCalls, communicator: Ints) -> Ints:
    """Ranks of each communicator, from the call that made or ended it."""
    rows = np.flatnonzero((told.ranks != ABSENT) & (told.communicator != ABSENT))
    ranks = np.full(communicator.shape, ABSENT, dtype=np.int64)
    for one in distinct(told.communicator[rows]).tolist():
        said = distinct(told.ranks[rows[told.communicator[rows] == one]])
        if said.size == 1:
            ranks[communicator == one] = said[0]
    return ranks
