"""Idle time that nothing in the trace accounts for.

What it is
    The operation that ended the idle time had been handed over before, and nothing recorded held
    it: no stream order, no event, no null stream, no busy engine, no collective, no other process.
    A host function in the stream (cudaLaunchHostFunc) leaves no row of its own and looks like this.

Why it costs overlap
    The device was idle for a reason that the trace does not show.

What it looks like
    stream 7   [kernel]······[kernel]        launched long before, waits for nothing known

What to do
    Record what may be missing: event waits (nsys 2024.1 or newer records them), OS calls
    (--trace=osrt), all processes of the GPU, --gpuctxsw=true for other users' slices. Then look at
    the longest piece in the Nsight Systems timeline. Both frameworks: the same.

When this is wrong
    A few microseconds here and there are the limits of measuring.
"""

from overlapcheck.causes import _facts, _facts_device
from overlapcheck.causes._base import IdleCause
from overlapcheck.finding import Confidence
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.UNEXPLAINED,
    title="nothing in the trace accounts for this idle time",
    facts=(_facts.waits, _facts_device.nothing_found),
    advice="look at the longest piece in the Nsight Systems timeline; record again with"
    " --trace=cuda,nvtx,osrt and --gpuctxsw=true",
    caveat="it is a few microseconds here and there: then it is the limit of measuring",
    confidence=Confidence.SUSPECTED,
)
