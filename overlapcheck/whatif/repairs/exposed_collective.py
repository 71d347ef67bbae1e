"""Collectives behind the backward pass, under it by buckets."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, Index, Ints
from overlapcheck.ledger import Reason
from overlapcheck.order import Work
from overlapcheck.replay_thresholds import REPLAY
from overlapcheck.step_graph import Links, StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, into
from overlapcheck.whatif_thresholds import WHAT_IF


class OverlapCollectives(Repair):
    """Each bucket is reduced on a stream of its own as soon as its gradients are there.

    before   [ forward ][ backward ........ ][ reduce ........ ]
    after    [ forward ][ backward ........ ]
                               [reduce][reduce][reduce][reduce]
    """

    reason = Reason.EXPOSED_COLLECTIVE
    what = "reduce by bucket under the backward pass"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph with collectives moved."""
        changed = _Buckets(graph)
        for step in range(graph.steps):
            changed.move(step)
        return changed.repaired()


class _Buckets:
    def __init__(self, graph: StepGraph) -> None:
        self._graph = graph
        self._length = graph.operations.length_ns
        self._moved: list[int] = []
        self._added: list[tuple[int, int, int, Why]] = []
        self._cut: list[tuple[int, int]] = []
        self._slower: dict[int, int] = {}
        self._last = ABSENT

    def move(self, step: int) -> None:
        """Move the collectives of one step."""
        ops, length = self._graph.operations, self._length
        mine = np.flatnonzero(ops.step == step)
        sums = mine[ops.work[mine] == Work.COMMUNICATION]
        sums = sums[length[sums] >= WHAT_IF.significant_share * length[sums].sum()]
        kernels = mine[ops.work[mine] == Work.COMPUTE]
        before = self._before(kernels, sums)
        if before.size == 0:
            return
        buckets = sums.size if sums.size > 1 else WHAT_IF.buckets
        ready = self._ready(before, buckets)
        if sums.size == 1:
            self._cut_up(int(sums[0]), ready)
        else:
            for op, kernel in zip(sums.tolist(), ready.tolist(), strict=True):
                self._put(op, kernel)
        self._close_up(mine, sums)
        self._share(before, sums)

    def _before(self, kernels: Index, sums: Index) -> Index:
        """The kernels whose gradients the collectives reduce."""
        ops = self._graph.operations
        if sums.size == 0 or kernels.size == 0:
            return kernels[:0]
        if np.isin(ops.stream[kernels], ops.stream[sums]).any():
            earlier = ops.start_ns[kernels] < ops.start_ns[sums[0]]
        else:
            earlier = ops.end_ns[kernels] <= ops.start_ns[sums[-1]] + WHAT_IF.collective_signals_ns
        found: Index = kernels[earlier]
        return found

    def _ready(self, before: Index, buckets: int) -> Index:
        """The kernel after which each bucket's gradients are there."""
        done = np.cumsum(self._length[before])
        first = done[-1] * WHAT_IF.backward_from_share
        due = first + (done[-1] - first) * (np.arange(buckets) + 1) / buckets
        kernel: Index = before[np.minimum(np.searchsorted(done, due - 1), before.size - 1)]
        return kernel

    def _put(self, op: int, kernel: int) -> None:
        self._moved.append(op)
        self._added.append((2 * kernel + 1, 2 * op, WHAT_IF.collective_signals_ns, Why.READY))
        if self._last != ABSENT:
            self._added.append((2 * self._last + 1, 2 * op, REPLAY.follows_ns, Why.STREAM))
        self._last = op

    def _cut_up(self, op: int, ready: Index) -> None:
        """One collective in parts: the last waits for all gradients, the others went before."""
        self._put(op, int(ready[-1]))
        length, parts = int(self._length[op]), ready.size
        self._cut.append((op, length // parts))
        for number, kernel in enumerate(ready.tolist()):
            rest = length * (parts - number) // parts
            self._added.append(
                (2 * kernel + 1, 2 * op + 1, WHAT_IF.collective_signals_ns + rest, Why.READY)
            )

    def _close_up(self, mine: Index, sums: Index) -> None:
        """What stood behind the collectives stands behind the kernels before them, too."""
        ops = self._graph.operations
        rest = mine[~np.isin(mine, sums)]
        for stream in np.unique(ops.stream[sums]).tolist():
            line = mine[ops.stream[mine] == stream]
            kept = np.isin(line, rest)
            at = np.flatnonzero(kept[1:] & ~kept[:-1]) + 1
            for behind in at.tolist():
                earlier = line[:behind][kept[:behind]]
                if earlier.size:
                    node = 2 * int(earlier[-1]) + 1
                    self._added.append((node, 2 * int(line[behind]), REPLAY.follows_ns, Why.STREAM))

    def _share(self, before: Index, sums: Index) -> None:
        """Kernels of the backward pass lose multiprocessors to what runs beside them now."""
        graph, ops = self._graph, self._graph.operations
        if not graph.multiprocessors:
            return
        share = np.minimum(ops.blocks[sums] / graph.multiprocessors, 1.0)
        lost = int(WHAT_IF.multiprocessors_lost_share * (share * self._length[sums]).sum())
        done = np.cumsum(self._length[before])
        backward = before[done > done[-1] * WHAT_IF.backward_from_share]
        lost = min(lost, int(WHAT_IF.multiprocessors_lost_share * self._length[backward].sum()))
        each = self._length[backward] * lost // max(1, int(self._length[backward].sum()))
        self._slower.update(zip(backward.tolist(), each.tolist(), strict=True))

    def repaired(self) -> Repaired | None:
        """The graph, once all steps have been seen."""
        if not self._moved:
            return None
        graph = self._graph
        starts = graph.start_of(np.array(self._moved))
        graph = graph.without_links(into(graph, starts)).without_residual(starts)
        rows = np.array([link[:3] for link in self._added], dtype=np.int64)
        why = np.array([link[3] for link in self._added])
        graph = graph.with_links(
            *(
                Links.between(
                    rows[why == sort, 0], rows[why == sort, 1], rows[why == sort, 2], Why(sort)
                )
                for sort in np.unique(why).tolist()
            )
        )
        if self._cut:
            op, length = np.array(self._cut).T
            graph = graph.with_lengths(op, length)
        slower = np.array(list(self._slower), dtype=np.intp)
        extra: Ints = np.array(list(self._slower.values()), dtype=np.int64)
        graph = graph.with_lengths(slower, graph.operations.length_ns[slower] + extra)
        return Repaired(graph, ("gradients → their bucket's collective → optimizer (event)",))
