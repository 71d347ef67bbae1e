"""Kernels that no pattern names, but that behave like communication: a hint, never a number.

    s7    compute  ####····························####
    s33   ?            [wait] kkkkkkkkkkkk [record]         s7 waits for the record
                              nothing beside it, in every step

Exchanges of libraries with names of their own look like this, and count as compute until the user
names them. So may a kernel of the program's own: hence only a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Index, Ints, Mask
from overlapcheck.finding import MATERIAL_SHARE
from overlapcheck.grouping import distinct
from overlapcheck.intervals import Intervals
from overlapcheck.kinds import StreamKey
from overlapcheck.measurements import StreamTimeline, Window
from overlapcheck.passes.collectives.collectives import InWindow
from overlapcheck.passes.process import (
    ABSENT_TIME,
    DeviceTables,
    ProcessTables,
    launch_start_ns,
)
from overlapcheck.passes.window.window import Steps
from overlapcheck.quantities import percent
from overlapcheck.searches import taken
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Strings
from overlapcheck.trace_tables import Copies, Kernels


def communication_hints(
    process: ProcessTables, device: DeviceTables, inside: InWindow, limits: Thresholds
) -> tuple[str, ...]:
    """A line for each kernel that may be communication, costliest first.

    Args:
        process: whose calls launched the kernels.
        device: the device's rows.
        inside: steps and streams of the window; without steps nothing is hinted at.
        limits: how much of its time such a kernel runs alone.
    """
    kernels, communication = device.kernels, device.communication
    steps, streams, strings = inside.steps, inside.streams, process.strings
    computing = [stream for stream in streams if stream.compute]
    waits = _waits(process)
    if not steps.window.steps or len(computing) < 2 or waits.size == 0:
        return ()
    judged = _in_steps(kernels, steps)
    every_step, first = np.unique(steps.kernel_step[judged], return_index=True)
    main = _most_common(kernels, np.flatnonzero(judged)[first])
    found: list[tuple[int, str]] = []
    for stream in computing:
        key = StreamKey(stream.context_id, stream.stream_id)
        share = stream.compute.total_ns / max(steps.window.length_ns, 1)
        if key == main or share < MATERIAL_SHARE:
            continue
        mine = np.flatnonzero(judged & ~communication & _on(kernels, key))
        exchanged = _between_waits(process, device, mine, key, waits)
        beside = _beside(kernels, mine, streams, stream)
        length = kernels.end_ns[mine] - kernels.start_ns[mine]
        for name_id in distinct(kernels.name_id[mine]).tolist():
            named = kernels.name_id[mine] == name_id
            in_steps = distinct(steps.kernel_step[mine[named]])
            alone = beside[named].sum() <= (1 - limits.hint_alone_share) * length[named].sum()
            if alone and exchanged[named].all() and in_steps.size == every_step.size:
                found.append(_hint(kernels, mine[named], key, steps.window, strings))
    return tuple(text for ns, text in sorted(found, reverse=True) if text)


def _hint(
    kernels: Kernels, rows: Index, key: StreamKey, window: Window, strings: Strings
) -> tuple[int, str]:
    busy = Intervals.of(kernels.start_ns[rows], kernels.end_ns[rows])
    ns = busy.clip(window.start_ns, window.end_ns).total_ns
    name = strings.text(int(kernels.name_id[rows[0]]))
    share = ns / max(window.length_ns, 1)
    if share < MATERIAL_SHARE or not name:
        return 0, ""
    return ns, (
        f"kernel {name} runs alone on stream {key.stream_id} between two event waits, in every"
        f" step, {percent(share)} of the window: it counts as compute, and may be communication:"
        f" --comm-pattern '^{re.escape(name)}$'"
    )


def _in_steps(kernels: Kernels, steps: Steps) -> Mask:
    """Kernels of the steps that are judged; a window of steps begins with the first of them."""
    window = steps.window
    mask: Mask = (kernels.start_ns < window.end_ns) & (steps.kernel_step >= window.skipped)
    return mask


def _on(table: Kernels | Copies, key: StreamKey) -> Mask:
    mask: Mask = (table.context_id == key.context_id) & (table.stream_id == key.stream_id)
    return mask


def _waits(process: ProcessTables) -> Index:
    """Rows of the synchronisations that are waits of a stream for an event."""
    call = process.launches.rows(process.syncs.correlation_id)
    waits = taken(process.call_kind, call, ABSENT) == ApiKind.WAIT_EVENT
    return np.flatnonzero(waits & (process.syncs.event_sync_id != ABSENT))


def _between_waits(
    process: ProcessTables, device: DeviceTables, mine: Index, key: StreamKey, waits: Index
) -> Mask:
    """Kernels of a stream with a wait of it before, and a record that another waits for behind.

    What a stream is given between two of its waits is one stretch; one with copies is a pipeline.
    """
    calls, syncs = process.calls, process.syncs
    kernels, copies = device.kernels, device.copies
    own = (syncs.context_id[waits] == key.context_id) & (syncs.stream_id[waits] == key.stream_id)
    opens = np.sort(syncs.start_ns[waits[own]])
    launch = launch_start_ns(process.launches.rows(kernels.correlation_id[mine]), calls)
    stretch = np.searchsorted(opens, launch)
    copied = process.launches.rows(copies.rows(_on(copies, key)).correlation_id)
    with_copies = np.searchsorted(opens, launch_start_ns(copied, calls))
    records = process.event_records
    awaited = np.isin(records.event_sync_id, syncs.event_sync_id[waits[~own]])
    awaited &= (records.context_id == key.context_id) & (records.stream_id == key.stream_id)
    recorded = launch_start_ns(process.launches.rows(records.correlation_id[awaited]), calls)
    closes = np.searchsorted(opens, recorded)
    last = np.full(opens.size + 1, ABSENT_TIME, dtype=np.int64)
    np.maximum.at(last, closes, recorded)
    mask: Mask = (stretch > 0) & (last[stretch] > launch)
    return mask & ~np.isin(stretch, with_copies)


def _most_common(kernels: Kernels, rows: Index) -> StreamKey:
    """The stream that most of some kernels run on: what begins the steps is no side stream."""
    streams = zip(kernels.context_id[rows].tolist(), kernels.stream_id[rows].tolist(), strict=True)
    return StreamKey(*Counter(streams).most_common(1)[0][0])


def _beside(
    kernels: Kernels, mine: Index, streams: Sequence[StreamTimeline], stream: StreamTimeline
) -> Ints:
    """Time of each kernel in which kernels of other streams run too."""
    others = Intervals.empty()
    for other in streams:
        if other is not stream:
            others |= other.compute | other.communication
    start, end = kernels.start_ns[mine], kernels.end_ns[mine]
    return others.overlap_with(start, end)
