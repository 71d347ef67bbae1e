"""What some causes need and the recording does not hold, though the program did it."""

from __future__ import annotations

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import one_of
from overlapcheck.ledger import Reason
from overlapcheck.measurements import NotKnown
from overlapcheck.passes.process import ProcessTables
from overlapcheck.trace import Missing, Trace

_EVENT_WAITS = frozenset({Reason.EVENT_WAIT.cause})


def not_known(trace: Trace, process: ProcessTables) -> list[NotKnown]:
    """What cannot be told of one process; no number that is judged depends on it."""
    found = []
    waits = one_of(process.call_kind, (ApiKind.WAIT_EVENT,)) & process.calls.succeeded
    if waits.any():
        found += [
            NotKnown(
                process.pid,
                f"what waited for which event is not known: {table.why}",
                _EVENT_WAITS,
                table.capture_with,
            )
            for table in (trace.syncs, trace.event_records)
            if isinstance(table, Missing)
        ]
    elif isinstance(trace.syncs, Missing):
        syncs = one_of(process.call_kind, (ApiKind.SYNC,)) & process.calls.succeeded
        if syncs.any():
            found.append(
                NotKnown(
                    process.pid,
                    f"which stream a wait was for is not known: {trace.syncs.why}",
                    frozenset(),
                    trace.syncs.capture_with,
                )
            )
    return found
