"""Calls that must leave rows on the device, and what proves that their work was done.

thread      L1   C1   L2   [cudaDeviceSynchronize]      work of L1, C1 and L2 is done by its end
rows        K1   M1
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.codes import Code
from overlapcheck.columns import ABSENT, Codes, Index, Ints, Mask
from overlapcheck.grouping import distinct, groups, numbered
from overlapcheck.intervals import Intervals
from overlapcheck.passes.process import ProcessTables
from overlapcheck.searches import position_of

NEVER = np.iinfo(np.int64).max
"""Later than any time: nothing proves that the work was done."""
_DEVICE_WAITS = frozenset({"cudaDeviceSynchronize", "cuCtxSynchronize", "cudaThreadSynchronize"})
_STREAM_WAITS = frozenset({"cudaStreamSynchronize", "cuStreamSynchronize"})


class HandedOver(Code):
    """What a call hands over."""

    NONE = ABSENT
    KERNEL = 0
    COPY = 1
    MEMSET = 2
    GRAPH = 3


_WORK_OF = {
    ApiKind.LAUNCH: HandedOver.KERNEL,
    ApiKind.COPY: HandedOver.COPY,
    ApiKind.SYNC_COPY: HandedOver.COPY,
    ApiKind.MEMSET: HandedOver.MEMSET,
    ApiKind.GRAPH_LAUNCH: HandedOver.GRAPH,
}


@dataclass(frozen=True)
class Submissions:
    """Calls of one process that handed work to a device, in order of time."""

    call: Index
    """Row of each call."""
    work: Codes
    """What it handed over."""
    present: Mask
    """Whether any row of the device came of it."""


@dataclass(frozen=True)
class DeviceRows:
    """Device rows whose call is known, of all tables."""

    start_ns: Ints
    end_ns: Ints
    call: Index
    context_id: Ints
    stream_id: Ints


def work_of_calls(process: ProcessTables) -> Codes:
    """Work that each call hands over if it succeeds, shape (n,)."""
    kinds = process.call_kind
    by_kind = np.full(max(ApiKind) + 1, HandedOver.NONE, dtype=np.int8)
    for kind, work in _WORK_OF.items():
        by_kind[kind] = work
    codes: Codes = by_kind[kinds]
    copies = np.flatnonzero(codes == HandedOver.COPY)
    found, position = numbered(process.calls.name_id[copies])
    names = [process.strings.text(name_id).lower() for name_id in found.tolist()]
    # Calls of these kinds that wait alike, but leave other rows or none of their own.
    exact = [
        HandedOver.MEMSET
        if "memset" in name
        else HandedOver.NONE
        if "prefetch" in name
        else HandedOver.COPY
        for name in names
    ]
    if any(work is not HandedOver.COPY for work in exact):
        codes[copies] = np.array(exact, dtype=np.int8)[position]
    return codes


def submissions(process: ProcessTables, work: Codes) -> Submissions:
    """The calls that succeeded outside of stream captures, and whether rows came of them.

    Args:
        process: one process.
        work: of each of its calls, see `work_of_calls`.
    """
    rows = np.flatnonzero(
        (work != HandedOver.NONE) & process.calls.succeeded & ~while_capturing(process)
    )
    return Submissions(rows, work[rows], _has_device_row(process)[rows])


def device_rows(process: ProcessTables) -> DeviceRows:
    """All rows of the device that a recorded call launched."""
    tables = (process.kernels, process.copies, process.memsets)
    call = np.concatenate(
        [process.kernel_call, *(process.launches.rows(t.correlation_id) for t in tables[1:])]
    )
    known = call != ABSENT

    def column(name: str) -> Ints:
        values: Ints = np.concatenate([getattr(table, name) for table in tables])[known]
        return values

    return DeviceRows(
        column("start_ns"),
        column("end_ns"),
        call[known],
        column("context_id"),
        column("stream_id"),
    )


def done_by_ns(process: ProcessTables, work: Codes, rows: DeviceRows, call: Index) -> Ints:
    """When the work of calls was done at the latest: a wait for it had returned, shape (n,).

    Args:
        process: one process.
        work: of each of its calls.
        rows: what is known of the device.
        call: rows of the calls that are asked about, all of one kind of work.

    Returns:
        End of the first wait that proves it; NEVER where none does.
    """
    calls = process.calls
    handed_over, tid = calls.end_ns[call], calls.tid[call]
    done = np.full(call.size, NEVER, dtype=np.int64)
    own = (process.call_kind[call] == ApiKind.SYNC_COPY) & (work[call] == HandedOver.COPY)
    done[own] = handed_over[own]
    if distinct(process.kernels.device_id).size == 1 and distinct(rows.context_id).size == 1:
        waits = process.calls_named(_DEVICE_WAITS.__contains__)
        done = np.minimum(done, _next_end(process, waits, handed_over))
    kind = work[call[0]] if call.size else HandedOver.NONE
    alike = work[rows.call] == kind
    for thread in distinct(tid).tolist():
        mine = alike & (calls.tid[rows.call] == thread)
        used, _ = groups(rows.context_id[mine], rows.stream_id[mine])
        # Only where all such work of a thread goes to one stream is that of a lost row known.
        if used.size == 1:
            asked = tid == thread
            one = np.flatnonzero(mine)[used[0]]
            waits_for = _waits_for_stream(
                process, int(rows.context_id[one]), int(rows.stream_id[one])
            )
            ends = _next_end(process, waits_for, handed_over)
            done[asked] = np.minimum(done[asked], ends[asked])
    return done


def _waits_for_stream(process: ProcessTables, context_id: int, stream_id: int) -> Index:
    syncs = process.syncs
    mine = (syncs.context_id == context_id) & (syncs.stream_id == stream_id)
    call = process.launches.rows(syncs.correlation_id[mine])
    call = np.sort(call[call != ABSENT])
    names = process.calls.name_id[call]
    return call[process.strings.matching(names, _STREAM_WAITS.__contains__)]


def _next_end(process: ProcessTables, waits: Index, after_ns: Ints) -> Ints:
    """First end of a wait that succeeded and began at or after each time."""
    calls = process.calls
    waits = waits[calls.succeeded[waits]]
    first_end = np.minimum.accumulate(np.append(calls.end_ns[waits], NEVER)[::-1])[::-1]
    ends: Ints = first_end[np.searchsorted(calls.start_ns[waits], after_ns)]
    return ends


def device_wait_returned(process: ProcessTables, launched_ns: Ints) -> Ints:
    """End of the first wait for the whole device after each launch; NEVER where there is none."""
    return _next_end(process, process.calls_named(_DEVICE_WAITS.__contains__), launched_ns)


def _has_device_row(process: ProcessTables) -> Mask:
    tables = (process.kernels, process.copies, process.memsets)
    if process.launches.unique:
        found = np.zeros(len(process.calls) + 1, dtype=bool)
        found[process.kernel_call] = True
        for table in tables[1:]:
            found[process.launches.rows(table.correlation_id)] = True
        return found[:-1]  # the last stands for ABSENT
    ids = np.sort(np.concatenate([table.correlation_id for table in tables]))
    wanted = process.calls.correlation_id
    mask: Mask = position_of(ids, wanted) != ABSENT
    return mask


def while_capturing(process: ProcessTables) -> Mask:
    """Calls made while a graph is being recorded: they submit nothing.

    Whatever the thread: a framework's backward pass is recorded from a thread of its own.
    """
    calls = process.calls
    marks = np.flatnonzero(process.call_kind == ApiKind.CAPTURE)
    captures = Intervals.empty()
    for tid in distinct(calls.tid[marks]).tolist():
        rows = marks[calls.tid[marks] == tid]
        pairs = zip(calls.start_ns[rows[::2]], calls.end_ns[rows[1::2]], strict=False)
        captures |= Intervals.pairs((int(a), int(b)) for a, b in pairs)
    if not captures:
        return np.zeros(len(calls), dtype=bool)
    return captures.overlap_with(calls.start_ns, calls.end_ns) > 0
