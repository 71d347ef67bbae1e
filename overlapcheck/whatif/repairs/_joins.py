"""Orders that a waiting host made between streams, as events."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, Index
from overlapcheck.order import Work
from overlapcheck.step_graph import Links, StepGraph, Why
from overlapcheck.whatif.repair import is_kernel
from overlapcheck.whatif_thresholds import WHAT_IF


def joins_as_events(graph: StepGraph, waiting: Index) -> tuple[list[Links], tuple[str, ...]]:
    """Links that replace what some waiting events ordered between streams.

    A copy to the device waits for the kernels of the step before: two buffers. What reads waits
    for what wrote.

    Returns:
        The links, and what they order, in words.
    """
    ops, links = graph.operations, graph.links
    ends = graph.call_end(waiting)
    held = links.of(Why.WAIT) & np.isin(links.after, ends)
    event_of = dict(zip(ends.tolist(), waiting.tolist(), strict=True))
    last_kernel = _last_kernel_of_steps(graph)
    found: dict[Why, list[tuple[int, int]]] = {Why.READY: [], Why.REUSE: []}
    said: set[str] = set()
    handed = _HandedOver(graph)
    for before, after in zip(links.before[held].tolist(), links.after[held].tolist(), strict=True):
        waited = before // 2
        for op in handed.next_of_others(event_of[after], int(ops.stream[waited])):
            if ops.work[op] == Work.H2D and ops.work[waited] == Work.COMPUTE:
                reader = last_kernel.get((int(ops.stream[waited]), int(ops.step[waited]) - 1))
                if reader is not None:
                    found[Why.REUSE].append((2 * reader + 1, 2 * op))
                    said.add("kernels → copy two steps later (event; two buffers)")
            else:
                found[Why.READY].append((before, 2 * op))
                said.add("what was waited for → what follows on other streams (event)")
    parts = []
    for why, pairs in found.items():
        if pairs:
            columns = np.array(sorted(set(pairs)), dtype=np.int64).T
            parts.append(Links.between(columns[0], columns[1], WHAT_IF.signals_ns, why))
    return parts, tuple(sorted(said))


def _last_kernel_of_steps(graph: StepGraph) -> dict[tuple[int, int], int]:
    """The last kernel of each step in each stream, by stream and step."""
    ops = graph.operations
    rows = np.flatnonzero(is_kernel(graph) & (ops.step != ABSENT)).tolist()
    return {(int(ops.stream[row]), int(ops.step[row])): row for row in rows}


class _HandedOver:
    """What each thread handed over, by stream, in the order of its calls."""

    def __init__(self, graph: StepGraph) -> None:
        ops, events = graph.operations, graph.events
        self._tid = events.tid
        self._lists: dict[int, dict[int, tuple[np.ndarray, np.ndarray]]] = {}
        known = np.flatnonzero(ops.event != ABSENT)
        order = known[np.argsort(ops.event[known], kind="stable")]
        tid = events.tid[ops.event[order]]
        for thread in np.unique(tid).tolist():
            mine = order[tid == thread]
            self._lists[thread] = {
                stream: (ops.event[mine[ops.stream[mine] == stream]],
                         mine[ops.stream[mine] == stream])
                for stream in np.unique(ops.stream[mine]).tolist()
            }  # fmt: skip

    def next_of_others(self, event: int, stream: int) -> list[int]:
        """The first operation on each other stream that the event's thread hands over after it."""
        found = []
        for other, (events, rows) in self._lists.get(int(self._tid[event]), {}).items():
            at = int(np.searchsorted(events, event, side="right"))
            if other != stream and at < rows.size:
                found.append(int(rows[at]))
        return found
