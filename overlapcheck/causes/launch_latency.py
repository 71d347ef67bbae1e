"""The ordinary few microseconds between one operation and the next.

What it is
    Starting a kernel whose predecessor has ended takes the device about a microsecond, more behind
    another stream's event. Now and then a launch also comes a few microseconds late.

Why it costs overlap
    Rarely: it is listed so that the idle time adds up. It matters only where thousands of short
    kernels follow one another.

What it looks like
    kernels  [k]·[k]·[k]·[k]        a microsecond each, all launched long before

What to do
    Usually nothing. Where it is more than a few percent, fewer and longer kernels. PyTorch:
    torch.compile, torch.cuda.graphs. CUDA: fusion, graphs, programmatic dependent launch.

When this is wrong
    If the gaps are longer than the launch calls, another cause hides behind the same picture: look
    at the step with the longest one.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.LAUNCH_LATENCY,
    title="the ordinary few microseconds between operations",
    facts=(_facts.waits,),
    advice="usually nothing; else fewer and longer kernels: fusion or CUDA graphs",
    advice_pytorch="usually nothing; else fewer and longer kernels: torch.compile or"
    " torch.cuda.graphs",
    caveat="single gaps are longer than a launch call: then look at the longest one",
)
