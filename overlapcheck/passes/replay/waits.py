"""Which device operations a host call waited for."""

from __future__ import annotations

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, Index, Ints
from overlapcheck.grouping import ordered
from overlapcheck.order import Edges, Relation
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import GraphOperations, HostEvents


def waits(
    operations: GraphOperations, events: HostEvents, edges: Edges, event_of_call: Ints, row: Index
) -> tuple[Index, Index]:
    """Pairs (event, operation): the call could not return before the operation had ended.

    Args:
        operations: the graph's.
        events: the graph's.
        edges: of the process; those of the host name the call and what it waited for.
        event_of_call: event of each call of the process; ABSENT.
        row: number in the graph of each operation of the process; ABSENT.
    """
    parts = [
        _by_edges(edges, event_of_call, row),
        _by_copy(operations, events),
        _by_time(operations, events),
    ]
    event = np.concatenate([part[0] for part in parts])
    operation = np.concatenate([part[1] for part in parts])
    pairs = np.unique(np.stack((event, operation), axis=1), axis=0)
    return pairs[:, 0].astype(np.intp), pairs[:, 1].astype(np.intp)


def _by_edges(edges: Edges, event_of_call: Ints, row: Index) -> tuple[Index, Index]:
    host = edges.of(Relation.HOST)
    event, operation = event_of_call[host.call], row[host.before]
    known = (event != ABSENT) & (operation != ABSENT)
    return event[known], operation[known]


def _by_copy(operations: GraphOperations, events: HostEvents) -> tuple[Index, Index]:
    """Copies whose own call returned when they were done, or when their memory had been read."""
    own = np.flatnonzero(operations.event != ABSENT)
    event = operations.event[own]
    kind, end = events.kind[event], events.end_ns[event]
    staged = (kind == ApiKind.COPY) & operations.pageable[own] & (end >= operations.start_ns[own])
    done = (kind == ApiKind.SYNC_COPY) & (end >= operations.end_ns[own])
    held = staged | done
    return event[held].astype(np.intp), own[held]


def _by_time(operations: GraphOperations, events: HostEvents) -> tuple[Index, Index]:
    """Frees, which wait for all that was handed over before; others where times show it."""
    handed = np.flatnonzero(operations.event != ABSENT)
    submitted = events.start_ns[operations.event[handed]]
    order = handed[ordered(submitted)]
    submitted = np.sort(submitted)
    latest = _row_of_latest_end(operations.end_ns[order])
    allocates = events.kind == ApiKind.ALLOCATION
    long = events.end_ns - events.start_ns >= REPLAY.long_allocation_ns
    may = np.flatnonzero((events.kind == ApiKind.SYNC) | (allocates & (events.frees | long)))
    at = np.searchsorted(submitted, events.start_ns[may]) - 1
    may, at = may[at >= 0], at[at >= 0]
    operation = order[latest[at]]
    end = operations.end_ns[operation]
    during = end > events.start_ns[may]
    waited = (end <= events.end_ns[may]) & (during | events.frees[may])
    return may[waited], operation[waited]


def _row_of_latest_end(end: Ints) -> Index:
    """For each row the one that ends last of it and those before; of several the first."""
    latest = np.zeros(end.size, dtype=np.intp)
    later = np.flatnonzero(end[1:] > np.maximum.accumulate(end)[:-1]) + 1
    latest[later] = later
    return np.maximum.accumulate(latest)
