"""Copies were issued too late to finish under the kernels.

What it is
    The copy runs beside kernels, held up by nothing, but the host issued it so late that compute
    ended first and the next kernel had to wait for the rest of the copy.

Why it costs overlap
    The part of the copy that outlasts the kernels is idle time, although the same copy would have
    fitted under them if it had been issued earlier.

What it looks like
    compute  [kernel i     ]······[kernel i+1  ]
    copy     ·········[copy      ]               would fit if it began with kernel i
    host              c                          issued only here

What to do
    Issue the copy before the kernels it should hide under, or one more step ahead. PyTorch: call
    the prefetch at the top of the step; DataLoader(prefetch_factor=...) so that the batch is ready
    by then. CUDA: swap the order of cudaMemcpyAsync and the launches; use a third buffer.

When this is wrong
    If the data does not exist earlier (it is computed or read in this very step), produce it
    earlier or accept the wait. One more step ahead needs one more buffer.
"""

from overlapcheck.causes import _facts, _facts_work
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.LATE_ISSUE,
    title="copies are issued too late to finish under the kernels",
    facts=(_facts_work.waited_copies, _facts.waits),
    advice="call cudaMemcpyAsync before the launches it should hide under, or prefetch one more"
    " step ahead into one more buffer",
    advice_pytorch="call the prefetch at the top of the step, before the forward pass, or keep one"
    " more batch in flight",
    caveat="the data does not exist any earlier: then produce it earlier (more loader workers), or"
    " accept the wait",
)
