"""CUDA graphs were recorded as whole blocks: what runs inside is unknown.

What it is
    A graph launch is recorded as one block unless the profiler is told otherwise. Kernels, copies
    and pauses inside cannot be told apart; here the whole block counts as compute, the most
    favourable reading.

Why it costs overlap
    It may cost nothing. But copies inside a graph are invisible, and idle time inside it counts as
    compute, so a pass is not proven.

What it looks like
    stream 7   [graph graph graph graph][graph graph graph graph]
                k c k · · k ?

What to do
    Record single nodes of graphs (overlapcheck run does). Both frameworks: the same; it slows
    launches of large graphs somewhat.

When this is wrong
    If the graphs are known to hold kernels only, the numbers are right as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlapcheck.causes._base import Evidence
from overlapcheck.finding import Confidence
from overlapcheck.measurements import DeviceMeasurements, Measurements
from overlapcheck.quantities import count_of, duration, percent
from overlapcheck.recorder import Content


@dataclass(frozen=True)
class _GraphOpaque:
    id: str = "graph-opaque"
    title: str = "graphs were recorded as whole blocks, their content is unknown"
    lacks: Content = Content.GRAPH_NODES
    caveat: str = "the graphs are known to hold kernels only: then the numbers are right"

    def detect(self, device: DeviceMeasurements, _measured: Measurements, /) -> Evidence | None:
        """Any block of a graph inside the window."""
        opaque = device.opaque
        if not opaque:
            return None
        share = opaque.total_ns / max(device.length_ns, 1)
        facts = (
            f"{count_of(len(opaque), 'stretch', 'stretches')} of graph launches,"
            f" {duration(opaque.total_ns)}, {percent(share)} of the window",
            f"they are {percent(opaque.total_ns / max(device.compute_ns, 1))} of what counts as"
            " compute; copies and pauses inside them are invisible",
        )
        return Evidence(opaque, facts, Confidence.SURE)

    def advise(self, measured: Measurements, _once: bool = False, /) -> str:
        """The same in all frameworks."""
        return measured.recorder.record_again(self.lacks)


CAUSE = _GraphOpaque()
