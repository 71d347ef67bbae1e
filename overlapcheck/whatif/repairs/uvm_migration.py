"""Pages of unified memory that move when they are touched."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, Index
from overlapcheck.grouping import distinct
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Reason
from overlapcheck.order import Work
from overlapcheck.step_graph import Links, StepGraph, Why
from overlapcheck.whatif.repair import Repair, Repaired, is_kernel
from overlapcheck.whatif_thresholds import WHAT_IF

SAID = (
    "kernels → prefetch two steps later (event; two buffers)",
    "pages → kernels of the next step (event)",
)


class PrefetchPages(Repair):
    """Pages of kernels come one step ahead on a stream of their own, at the link's rate.

    before   stream   [ kernel 1, stalls ....... ][ kernel 2, stalls ....... ]
             pages        [.][.][.][.][.]             [.][.][.][.][.]
    after    stream   [ kernel 1 ][ kernel 2 ]
             pages    [for 2][for 3]

    Kernels take what the same ones took on resident pages, where those are recorded; else they
    only lose the time of the migrations, not that of handling faults. Pages that the host touches
    come at the link's rate when it does.
    """

    reason = Reason.UVM_MIGRATION
    what = "prefetch managed memory, one step ahead"

    def apply(self, graph: StepGraph) -> Repaired | None:
        """The graph with kernels that find their pages."""
        ops = graph.operations
        pages = np.flatnonzero(ops.work == Work.MIGRATION)
        stalled = np.flatnonzero(is_kernel(graph) & (ops.waited_ns > 0))
        if pages.size == 0:
            return None
        graph, on_host = _host_waits_less(graph, pages)
        if stalled.size == 0:
            return Repaired(graph) if on_host else None
        under = Intervals.of(ops.start_ns[stalled], ops.end_ns[stalled])
        fetched = pages[under.overlap_with(ops.start_ns[pages], ops.end_ns[pages]) > 0]
        at_rate = (ops.bytes[fetched] / graph.link_bytes_per_ns).astype(np.int64)
        graph = graph.with_lengths(fetched, np.minimum(at_rate, ops.length_ns[fetched]))
        runs = np.maximum(ops.length_ns[stalled] - ops.waited_ns[stalled], 0)
        graph = graph.with_lengths(stalled, runs)
        counted = (ops.step[some] != ABSENT for some in (fetched, stalled))
        fetched, stalled = (
            some[mask] for some, mask in zip((fetched, stalled), counted, strict=True)
        )
        return Repaired(graph.with_links(*_ahead(graph, fetched, stalled)), SAID)


def _ahead(graph: StepGraph, fetched: Index, stalled: Index) -> list[Links]:
    """What moved in a step moves for the next one, into the other buffer."""
    ops = graph.operations
    launched: list[tuple[int, int]] = []
    ready: list[tuple[int, int]] = []
    free: list[tuple[int, int]] = []
    for step in distinct(ops.step[fetched]).tolist():
        pages = fetched[ops.step[fetched] == step]
        now, before, after = (stalled[ops.step[stalled] == step + by] for by in (0, -1, 1))
        if now.size and ops.event[now[0]] != ABSENT:
            launched.append((int(graph.call_start(ops.event[now[0]])), pages[0]))
        if before.size:
            free.append((int(graph.end_of(before[-1])), pages[0]))
        if after.size:
            ready.append((int(graph.end_of(pages[-1])), after[0]))
    ends, starts = graph.end_of(fetched[:-1]), graph.start_of(fetched[1:])
    return [
        Links.between(ends, starts, 0, Why.ENGINE),
        _links(graph, launched, WHAT_IF.starts_within_ns, Why.LAUNCH),
        _links(graph, free, WHAT_IF.signals_ns, Why.REUSE),
        _links(graph, ready, WHAT_IF.signals_ns, Why.READY),
    ]


def _links(graph: StepGraph, pairs: list[tuple[int, int]], lag_ns: int, why: Why) -> Links:
    before, after = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Links.between(before, graph.start_of(after), lag_ns, why)


def _host_waits_less(graph: StepGraph, pages: Index) -> tuple[StepGraph, bool]:
    """Gaps of launching threads in which pages move and no kernel runs: the host touches them."""
    ops, events = graph.operations, graph.events
    kernels = np.flatnonzero(is_kernel(graph))
    busy = Intervals.of(ops.start_ns[kernels], ops.end_ns[kernels])
    alone = pages[busy.overlap_with(ops.start_ns[pages], ops.end_ns[pages]) == 0]
    moving = Intervals.of(ops.start_ns[alone], ops.end_ns[alone])
    launching = np.isin(events.tid, distinct(events.tid[ops.event[ops.event != ABSENT]]))
    gap = np.flatnonzero(launching & (events.previous != ABSENT) & (events.gap_ns > 0))
    begin, end = events.end_ns[events.previous[gap]], events.start_ns[gap]
    bytes_until = np.concatenate(([0], np.cumsum(ops.bytes[alone])))
    first, last = (np.searchsorted(ops.start_ns[alone], at) for at in (begin, end))
    at_rate = (bytes_until[last] - bytes_until[first]) / graph.link_bytes_per_ns
    saved = moving.overlap_with(begin, end) - at_rate.astype(np.int64)
    less = saved > 0
    shorter = np.maximum(events.gap_ns[gap] - saved, 0)[less]
    return graph.with_gaps(gap[less], shorter), bool(less.any())
