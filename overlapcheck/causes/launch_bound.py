"""The host launches more slowly than the device computes.

What it is
    The launching thread is busy launching, one call after another, and each kernel is over before
    the next one arrives. Long calls that launch nothing have causes of their own (cuda-call,
    graph-launch, module-load), and so have long pauses between launches (host-starved).

Why it costs overlap
    The device idles between kernels. A queue that runs ahead never builds up, so copies are
    issued late, too.

What it looks like
    kernels  #···#···#···#···#···        short kernels, a gap behind each
    thread   [L ][L ][L ][L ][L ]        back to back

What to do
    PyTorch: torch.compile(mode="reduce-overhead") or torch.cuda.graphs (make_graphed_callables);
    fused optimisers (fused=True, foreach=True); larger batches. CUDA: capture the step in a CUDA
    graph; fuse kernels; launch less often. Check that no debug mode, profiler hook or Python
    callback runs per operation.

When this is wrong
    Graphs need fixed shapes and addresses, and no synchronisation inside. Profiling makes each
    launch slower by a microsecond or two (more with backtraces): where the gaps are about as
    small, time the program without the profiler first.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.LAUNCH_BOUND,
    title="the host launches more slowly than the device computes",
    facts=(_facts.launches, _facts.waits),
    advice="capture the step in a CUDA graph, fuse small kernels, or give each launch more work",
    advice_pytorch='use torch.compile(mode="reduce-overhead") or torch.cuda.graphs, fused'
    " optimisers, or a larger batch",
    advice_directives="merge adjacent compute regions, and put async(n) or nowait on them so that"
    " the host runs ahead",
    caveat="the recording itself slows each launch (backtraces, event tracing): then time the"
    " program without the profiler first",
)
