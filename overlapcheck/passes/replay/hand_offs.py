r"""Threads that wait for each other: a loader, or the thread of the backward pass.

forward   [launches][ ........ waits ........ ][launches]
backward            \_[launches][launches]____/
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from overlapcheck.columns import Index, Ints, Mask
from overlapcheck.grouping import distinct
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import OF_SYSTEM, ORIGIN, HostEvents, Links, StepGraph, Why
from overlapcheck.trace import Strings

WAITING = frozenset(
    [
        "pthread_cond_wait",
        "pthread_cond_timedwait",
        "pthread_cond_clockwait",
        "pthread_join",
        "pthread_rwlock_rdlock",
        "pthread_rwlock_wrlock",
        "pthread_mutex_lock",
        "sem_wait",
        "sem_timedwait",
        "sem_clockwait",
        "futex",
        "poll",
        "ppoll",
        "select",
        "epoll_wait",
        "read",
        "recv",
        "recvfrom",
        "recvmsg",
        "accept",
        "waitpid",
    ]
)
_WORKS_TOO = frozenset(("read",))


@dataclass(frozen=True)
class _Activity:
    """What a thread did, waits left out, sorted by end."""

    event: Index
    start_ns: Ints
    end_ns: Ints


def with_hand_offs(graph: StepGraph, strings: Strings) -> StepGraph:
    """The graph, in which waits for other threads and for the outside are links, not lengths."""
    events = graph.events
    waiting = (events.kind == OF_SYSTEM) & strings.matching(events.name_id, _waits)
    works = ~waiting | strings.matching(events.name_id, _WORKS_TOO.__contains__)
    activity = {tid: _activity(events, tid, works) for tid in distinct(events.tid).tolist()}
    launching = np.isin(events.tid, distinct(events.tid[events.kind != OF_SYSTEM]))
    long = events.end_ns - events.start_ns >= REPLAY.shortest_wait_ns
    found: list[tuple[int, int, int, Why]] = []
    own, gap = events.own_ns.copy(), events.gap_ns.copy()
    for event in np.flatnonzero(launching & waiting & long).tolist():
        begin, end = int(events.start_ns[event]), int(events.end_ns[event])
        other = _last_of_others(activity, int(events.tid[event]), begin, end)
        node = int(graph.call_end(np.array(event)))
        if other is not None and end - other.end_ns <= max(
            REPLAY.resumes_ns, REPLAY.resumes_share * (end - begin)
        ):
            found.append((other.event, node, end - other.end_ns, Why.HAND_OFF))
            own[event] = REPLAY.wakes_ns
        elif end - begin >= REPLAY.outside_wait_ns:
            found.append((ORIGIN, node, end, Why.OUTSIDE))
            own[event] = REPLAY.wakes_ns
    long = events.gap_ns >= REPLAY.shortest_wait_ns
    for event in np.flatnonzero(launching & long).tolist():
        end = int(events.start_ns[event])
        begin = end - int(events.gap_ns[event])
        other = _last_of_others(activity, int(events.tid[event]), begin, end)
        if (
            other is not None
            and end - other.end_ns <= max(REPLAY.resumes_ns, REPLAY.resumes_share * (end - begin))
            and other.end_ns - other.begin_ns >= REPLAY.active_share * (end - begin)
        ):
            node = int(graph.call_start(np.array(event)))
            found.append((other.event, node, end - other.end_ns, Why.HAND_OFF))
            gap[event] = REPLAY.wakes_ns
    return replace(
        graph,
        events=replace(events, own_ns=own, gap_ns=gap),
        links=Links.joined([graph.links, *_links(graph, found)]),
    )


def _waits(name: str) -> bool:
    return name in WAITING or name.startswith("MPI_")


def _links(graph: StepGraph, found: list[tuple[int, int, int, Why]]) -> list[Links]:
    parts = []
    for why in (Why.HAND_OFF, Why.OUTSIDE):
        rows = np.array([one[:3] for one in found if one[3] == why], dtype=np.int64).reshape(-1, 3)
        before = graph.call_end(rows[:, 0]) if why is Why.HAND_OFF else rows[:, 0]
        parts.append(Links.between(before, rows[:, 1], rows[:, 2], why))
    return parts


def _activity(events: HostEvents, tid: int, works: Mask) -> _Activity:
    mine = np.flatnonzero((events.tid == tid) & works)
    return _Activity(mine, events.start_ns[mine], events.end_ns[mine])


@dataclass(frozen=True)
class _Other:
    """What another thread did last in a wait, and since when it was at work in it."""

    event: int
    begin_ns: int
    end_ns: int


def _last_of_others(
    activity: dict[int, _Activity], tid: int, begin: int, end: int
) -> _Other | None:
    best: _Other | None = None
    for other, did in activity.items():
        if other == tid:
            continue
        last = int(np.searchsorted(did.end_ns, end, side="right")) - 1
        if last < 0 or did.end_ns[last] <= begin:
            continue
        if best is None or did.end_ns[last] > best.end_ns:
            first = min(int(np.searchsorted(did.start_ns, begin)), last)
            since = max(int(did.start_ns[first]), begin)
            best = _Other(int(did.event[last]), since, int(did.end_ns[last]))
    return best
