"""Launching or building a CUDA graph takes longer than the device can bridge.

What it is
    cudaGraphLaunch holds the launching thread while it hands all nodes of the graph over. For
    large graphs, or the first launch of one, that takes longer than the work still queued. So do
    capturing, instantiating, updating and destroying graphs, where a program does so in every step.

Why it costs overlap
    The device finishes what it has and idles until the first node arrives.

What it looks like
    kernels  ####······####······
    thread   [cudaGraphLaunch]        the nodes come only at its end

What to do
    Launch the next graph while the current one still runs (no synchronisation in between);
    cudaGraphUpload before the loop; fewer nodes per graph. Capture once for each shape and keep the
    graph: change parameters through device memory, or by cudaGraphExecUpdate instead of a new
    instantiation. PyTorch: graph.replay() twice in a row without a read-back in between.

When this is wrong
    With the graph's nodes recorded one by one, launches of large graphs take longer than without a
    profiler: compare with the program's own timing. If the host came late to the
    call, the time before it is the fault.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.GRAPH_LAUNCH,
    title="launching or building the graph takes longer than the queued work lasts",
    facts=(_facts.calls, _facts.waits),
    advice="build each graph once and keep it, launch the next one while the current one runs, call"
    " cudaGraphUpload before the loop, and keep graphs small",
    advice_pytorch="capture once per shape, call graph.replay() ahead, with no read-back in between"
    ", and keep graphs small",
    caveat="recording single nodes made the launch slow: then time the program without a profiler",
)
