"""Copies that stand in the stream of the kernels, on a stream of their own."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from overlapcheck.columns import ABSENT, one_of
from overlapcheck.ledger import Reason
from overlapcheck.order import Work
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import Links, StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, in_streams, into, is_kernel
from overlapcheck.whatif_thresholds import WHAT_IF


class SecondStream(Repair):
    """Input is fetched one step ahead into two buffers, results leave beside the next kernels.

    before   stream   [copy 1][ kernels 1 ][copy 2][ kernels 2 ]
    after    stream   [ kernels 1 ][ kernels 2 ]
             second   [copy 2][copy 3]
    """

    reason = Reason.SAME_STREAM
    what = "copy on a second stream, one step ahead"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph with the copies moved."""
        # Copies between devices bring what has only just been made there.
        ops = graph.operations
        moving = one_of(ops.work, (Work.H2D, Work.D2H)) & (ops.bytes >= WHAT_IF.bulk_bytes)
        moved = _Moved(graph, moving)
        for stream in in_streams(graph):
            kernels = is_kernel(graph)[stream]
            if kernels.any() and moving[stream].any():
                moved.take_out(stream)
        return moved.repaired()


class _Moved:
    """Collects what changes while streams are walked through."""

    def __init__(self, graph: StepGraph, moving: np.ndarray) -> None:
        self._graph = graph
        self._moving = moving
        self._work = graph.operations.work.tolist()
        self._copies: list[int] = []
        self._freed: list[int] = []
        """Operations that stood behind a copy."""
        self._behind: list[int] = []
        """The copies that they stood behind."""
        self._added: list[tuple[int, int, int, Why]] = []
        self._last: dict[int, int] = {}
        self._said: set[str] = set()

    def take_out(self, stream: list[int]) -> None:
        """Take the copies of one stream out of it."""
        groups = self._groups(stream)
        # How many groups of copies a step has tells which group is the same one step earlier.
        a_step = max(1, round(len(groups) / max(1, self._graph.steps)))
        kernel_before: dict[int, int] = {}
        for number, (before, members, after) in enumerate(groups):
            kernel_before[number] = before
            fetched = [op for op in members if self._work[op] == Work.H2D]
            for op in members:
                self._copies.append(op)
                self._on_engine(op)
                if op in fetched:
                    self._reuse(op, kernel_before, number - (WHAT_IF.buffers - 1) * a_step)
                elif before >= 0:
                    self._add(before, op, WHAT_IF.signals_ns, Why.READY)
                    self._said.add("kernels → copy of their results (event)")
            if after < 0:
                continue
            self._freed.append(after)
            self._behind.extend(members)
            if before >= 0:
                self._add(before, after, REPLAY.follows_ns, Why.STREAM)
            if fetched and number >= a_step:
                earlier = groups[number - a_step][1]
                for op in (op for op in earlier if self._work[op] == Work.H2D):
                    self._add(op, after, WHAT_IF.signals_ns, Why.READY)
                    self._said.add("copy → kernels of the next step (event)")

    def _groups(self, stream: list[int]) -> list[tuple[int, list[int], int]]:
        """Neighbouring copies of a stream, with the operation before and behind, or ABSENT."""
        groups: list[tuple[int, list[int], int]] = []
        before, members = ABSENT, []
        for op in stream:
            if self._moving[op]:
                members.append(op)
                continue
            if members:
                groups.append((before, members, op))
                members = []
            before = op
        return [*groups, (before, members, ABSENT)] if members else groups

    def _on_engine(self, op: int) -> None:
        direction = self._work[op]
        if direction in self._last:
            self._add(self._last[direction], op, REPLAY.follows_ns, Why.ENGINE)
        self._last[direction] = op

    def _reuse(self, op: int, kernel_before: dict[int, int], number: int) -> None:
        last_reader = kernel_before.get(number)
        if last_reader is not None:
            self._add(last_reader, op, WHAT_IF.signals_ns, Why.REUSE)
            self._said.add("kernels → copy two steps later (event; two buffers)")

    def _add(self, before: int, after: int, lag_ns: int, why: Why) -> None:
        self._added.append((2 * before + 1, 2 * after, lag_ns, why))

    def repaired(self) -> Repaired | None:
        """The graph, once all streams have been walked through."""
        if not self._copies:
            return None
        graph = self._graph
        starts = graph.start_of(np.array(self._copies))
        freed = graph.start_of(np.array(self._freed, dtype=np.intp))
        behind = graph.end_of(np.array(self._behind, dtype=np.intp))
        gone = into(graph, starts) & ~graph.links.of(Why.LAUNCH)
        gone |= into(graph, freed) & np.isin(graph.links.before, behind)
        graph = graph.without_links(gone).without_residual(starts)
        graph = graph.with_lags_below(into(graph, starts, Why.LAUNCH), WHAT_IF.starts_within_ns)
        return Repaired(graph.with_links(*_links(self._added)), tuple(sorted(self._said)))


def _links(added: list[tuple[int, int, int, Why]]) -> list[Links]:
    sorts: dict[Why, list[tuple[int, int, int]]] = defaultdict(list)
    for before, after, lag_ns, why in added:
        sorts[why].append((before, after, lag_ns))
    parts = []
    for why, rows in sorts.items():
        columns = np.array(rows, dtype=np.int64).T
        parts.append(Links.between(columns[0], columns[1], columns[2], why))
    return parts
