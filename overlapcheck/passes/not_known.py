"""What some causes need and the recording does not hold, though the program did it.

No number that is judged is made from these rows: the verdict stands, and says what it cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.capture_problem import NotKnown
from overlapcheck.columns import Index, Mask
from overlapcheck.ledger import Reason
from overlapcheck.passes.process import ProcessTables
from overlapcheck.quantities import count_of
from overlapcheck.recorder import Content
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Missing, Trace

# A wait for the whole device leaves a row only in some recordings.
_MANAGED = re.compile(r"cudaMallocManaged|cuMemAllocManaged")
_WAITS = re.compile(r"(cuda|cu)(StreamWaitEvent.*|(Stream|Event)Synchronize)")


def not_known(trace: Trace, process: ProcessTables, limits: Thresholds) -> list[NotKnown]:
    """What cannot be told of one process."""
    return [
        *_waits(trace, process, limits),
        *_records(trace, process),
        *_migrations(trace, process),
    ]


def _waits(trace: Trace, process: ProcessTables, limits: Thresholds) -> Iterator[NotKnown]:
    waits = _calls(process, _WAITS)
    lost = int(np.count_nonzero(~_has_sync_row(process, waits)))
    if lost <= limits.lost_share * waits.size:
        return
    missing = trace.syncs if isinstance(trace.syncs, Missing) else None
    why = missing.why if missing else f"{lost} of {count_of(waits.size, 'wait')} left no row"
    yield NotKnown(
        process.number,
        f"what waited for what is not known: {why}",
        frozenset({Reason.EVENT_WAIT.cause}),
        process.recorder.record_again(Content.SYNCS),
    )


def _records(trace: Trace, process: ProcessTables) -> Iterator[NotKnown]:
    waits = process.call_kind == ApiKind.WAIT_EVENT
    if isinstance(trace.event_records, Missing) and waits.any():
        yield NotKnown(
            process.number,
            f"what event waits waited for is inferred: {trace.event_records.why}",
            frozenset(),
            process.recorder.record_again(Content.EVENT_RECORDS),
        )


def _migrations(trace: Trace, process: ProcessTables) -> Iterator[NotKnown]:
    if isinstance(trace.copies, Missing) and _calls(process, _MANAGED).size:
        yield NotKnown(
            process.number,
            f"migrations of unified memory are not known: {trace.copies.why}",
            frozenset({Reason.UVM_MIGRATION.cause}),
            process.recorder.record_again(Content.COPIES),
        )


def _calls(process: ProcessTables, names: re.Pattern[str]) -> Index:
    named = process.calls_named(lambda name: names.fullmatch(name) is not None)
    return named[process.calls.succeeded[named]]


def _has_sync_row(process: ProcessTables, waits: Index) -> Mask:
    """Whether a synchronisation row has the id of each call, or else its start."""
    syncs, calls = process.syncs, process.calls
    by_id = np.isin(calls.correlation_id[waits], syncs.correlation_id)
    mask: Mask = by_id | np.isin(calls.start_ns[waits], syncs.start_ns)
    return mask
