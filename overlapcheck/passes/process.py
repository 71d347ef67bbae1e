"""The rows of one process, and which host call launched each device operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from overlapcheck.api_kinds import api_kind
from overlapcheck.capture_problem import CaptureFault, CaptureProblem
from overlapcheck.columns import (
    ABSENT,
    ABSENT_TIME,
    Codes,
    Columns,
    Index,
    Ints,
    Mask,
    Whole,
    constant,
    narrow,
    one_of,
)
from overlapcheck.grouping import by_group, groups, numbered, ordered
from overlapcheck.kinds import CopyKind, ProcessKey
from overlapcheck.nccl_calls import NcclCalls
from overlapcheck.recorder import Content, Recorder
from overlapcheck.searches import position_of, taken
from overlapcheck.trace import Missing, Strings, Table, Trace, rows_or_none
from overlapcheck.trace_tables import (
    ApiCalls,
    Contexts,
    Copies,
    Directives,
    EventRecords,
    Kernels,
    Memsets,
    MpiCalls,
    OsCalls,
    Overheads,
    Ranges,
    Streams,
    Syncs,
)

# Correlation ids are counted up, so a table of all of them is not much longer than the calls.
_DENSE = 4


@dataclass(frozen=True)
class ProcessTables:
    """The tables of one process; a table that was not recorded has no rows here."""

    number: int
    """In `Trace.processes`."""
    key: ProcessKey
    kernels: Kernels
    copies: Copies
    memsets: Memsets
    calls: ApiCalls
    syncs: Syncs
    event_records: EventRecords
    ranges: Ranges
    nccl_calls: NcclCalls
    os_calls: OsCalls
    mpi_calls: MpiCalls
    directives: Directives
    overheads: Overheads
    streams: Streams
    contexts: Contexts
    strings: Strings
    recorder: Recorder
    """Says how to record again what is missing."""

    @cached_property
    def call_kind(self) -> Codes:
        """ApiKind of each call."""
        names, position = self._call_names
        return np.array([api_kind(name) for name in names], dtype=np.int8)[position]

    def calls_named(self, matches: Callable[[str], bool]) -> Index:
        """Rows of the calls whose name fulfils a predicate, which is asked once for each."""
        names, position = self._call_names
        chosen = [number for number, name in enumerate(names) if matches(name)]
        return np.flatnonzero(one_of(position, chosen)) if chosen else np.empty(0, dtype=np.intp)

    @cached_property
    def _call_names(self) -> tuple[list[str], Whole]:
        """The distinct names of the calls, and which of them each call has."""
        found, position = numbered(self.calls.name_id)
        width = np.min_scalar_type(-found.size)
        return [self.strings.text(i) for i in found.tolist()], position.astype(width)

    @cached_property
    def launches(self) -> CallIndex:
        """Finds the call of an operation."""
        return CallIndex(self.calls)

    @cached_property
    def kernel_call(self) -> Index:
        """Row of the call that launched each kernel; ABSENT where there is none."""
        return self.launches.rows(self.kernels.correlation_id)

    def problem(self, fault: CaptureFault, what: str, lacking: Content) -> CaptureProblem:
        """A reason to doubt what was recorded of it, settled by recording what is lacking."""
        return CaptureProblem(fault, self.number, what, self.recorder.record_again(lacking))


@dataclass(frozen=True)
class DeviceTables:
    """The rows of one device."""

    device_id: int
    kernels: Kernels
    kernel_call: Index
    """Row of the call that launched each kernel; ABSENT."""
    communication: Mask
    """Which kernels are communication."""
    copies: Copies
    memsets: Memsets


def process_tables(trace: Trace, numbers: Sequence[int]) -> list[ProcessTables]:
    """Divide every table among the processes, order kept."""

    def own(table: Table | Missing, kind: type[Table]) -> list[Table]:
        return _divided(rows_or_none(table, kind), numbers)

    kernels, copies = own(trace.kernels, Kernels), own(trace.copies, Copies)
    memsets, calls = own(trace.memsets, Memsets), own(trace.api_calls, ApiCalls)
    syncs, records = own(trace.syncs, Syncs), own(trace.event_records, EventRecords)
    ranges, os_calls = own(trace.ranges, Ranges), own(trace.os_calls, OsCalls)
    nccl_calls = own(trace.nccl_calls, NcclCalls)
    mpi_calls, directives = own(trace.mpi_calls, MpiCalls), own(trace.directives, Directives)
    overheads = own(trace.overheads, Overheads)
    streams, contexts = own(trace.streams, Streams), own(trace.contexts, Contexts)
    return [
        ProcessTables(
            number,
            trace.processes[number].key,
            kernels[i],
            copies[i],
            memsets[i],
            calls[i],
            syncs[i],
            records[i],
            ranges[i],
            nccl_calls[i],
            os_calls[i],
            mpi_calls[i],
            directives[i],
            overheads[i],
            streams[i],
            contexts[i],
            trace.strings,
            trace.recorder,
        )
        for i, number in enumerate(numbers)
    ]


def _divided(table: Table, numbers: Sequence[int]) -> list[Table]:
    column: Ints = getattr(table, "process")  # noqa: B009
    found, code = numbered(column)
    if found.size == 1:
        return [table if number == found[0] else type(table).none() for number in numbers]
    order, bounds = by_group(code, found.size)
    at = {int(number): place for place, number in enumerate(found)}
    return [
        table.rows(order[bounds[at[number]] : bounds[at[number] + 1]])
        if number in at
        else type(table).none()
        for number in numbers
    ]


class CallIndex:
    """Finds a call by correlation id; of a runtime and its inner driver call, the outer."""

    def __init__(self, calls: ApiCalls) -> None:
        ids = calls.correlation_id
        usable = np.flatnonzero(ids != ABSENT)
        self._lowest = int(ids[usable].min()) if usable.size else 0
        width = int(ids.max()) - self._lowest + 1 if usable.size else 0
        # Calls are sorted outer first: the first row of each id counts.
        self._direct = width <= _DENSE * ids.size
        if self._direct:
            self._rows = np.full(width, ABSENT, dtype=np.int32)
            self._rows[ids[usable[::-1]] - self._lowest] = usable[::-1]
            distinct_ids = int(np.count_nonzero(self._rows != ABSENT))
        else:
            order = usable[ordered(ids[usable])]
            known = ids[order]
            first = np.append(True, known[1:] != known[:-1])
            self._rows = narrow(order if first.all() else order[first])
            self._ids = known if first.all() else known[first]
            distinct_ids = self._rows.size
        self.unique = distinct_ids == ids.size
        """Whether every call has an id of its own."""

    def rows(self, correlation_ids: Ints) -> Index:
        """Row of the call with each correlation id, shape (n,); ABSENT where there is none."""
        if self._rows.size == 0:
            return np.full(correlation_ids.shape, ABSENT, dtype=np.intp)
        if self._direct:
            at = correlation_ids - self._lowest
            known = (at >= 0) & (at < self._rows.size)
            rows = self._rows.take(at, mode="clip")
            rows[~known] = ABSENT
            return rows.astype(np.intp)
        at = position_of(self._ids, correlation_ids)
        return taken(self._rows, at, ABSENT).astype(np.intp)


Device = TypeVar("Device", bound=Columns)


def launch_start_ns(call: Index, calls: ApiCalls) -> Ints:
    """Start of the call that launched each kernel, shape (n,); ABSENT_TIME where unknown."""
    if len(calls) == 0:
        return constant(ABSENT_TIME, call.size)
    return np.where(call == ABSENT, ABSENT_TIME, calls.start_ns[call])


def on_device(table: Device, device_id: int) -> Device:
    """The rows on one device."""
    column: Ints = getattr(table, "device_id")  # noqa: B009
    mine = column == device_id
    return table if mine.all() else table.rows(mine)


def copies_on_device(copies: Copies, device_id: int) -> Copies:
    """Copies that occupy a device: its own, and peer copies from or to it, each once."""
    peer = copies.kind == CopyKind.PEER_TO_PEER
    touches = peer & (
        (copies.source_device_id == device_id) | (copies.destination_device_id == device_id)
    )
    mine = copies.rows((copies.device_id == device_id) | touches)
    # NOTE: CUPTI has two kinds of peer-copy records; the same copy must not count twice.
    peers = np.flatnonzero(mine.kind == CopyKind.PEER_TO_PEER)
    if peers.size < 2:
        return mine
    keys = (mine.start_ns, mine.end_ns, mine.correlation_id, mine.bytes)
    first, _ = groups(*(key[peers] for key in keys))
    repeated = np.zeros(len(mine), dtype=bool)
    repeated[peers] = True
    repeated[peers[first]] = False
    return mine.rows(~repeated) if repeated.any() else mine


__all__ = [
    "ABSENT",
    "ABSENT_TIME",
    "CallIndex",
    "DeviceTables",
    "ProcessTables",
    "copies_on_device",
    "launch_start_ns",
    "on_device",
    "process_tables",
]
