"""The launching thread waits in MPI for another process.

What it is
    MPI_Waitall, MPI_Recv, MPI_Allreduce and their like return when the other processes have done
    their part. Until then the thread launches nothing.

Why it costs overlap
    The device has nothing queued and idles while messages are on their way, or while a neighbour
    is late.

What it looks like
    kernels  [interior]···················[interior]
    thread   L[sync] I [MPI_Waitall     ] L            I: MPI_Irecv, MPI_Isend

What to do
    Launch what needs no neighbour before the wait: compute the boundary first, start the exchange,
    compute the interior under it, and wait behind that. Where the neighbours are late, balance the
    work. NCCL, or MPI with streams, keeps the exchange on the device. Both frameworks: the same;
    PyTorch programs use the nccl backend with async_op=True.

When this is wrong
    The wait may hide another rank's fault: record all ranks, and look at the one that comes last.
    A reduction whose result decides what comes next (a convergence test) cannot be moved: do it
    every N steps, or a step late.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.MPI_WAIT,
    title="the launching thread waits in MPI for another process",
    facts=(_facts.host_whereabouts, _facts.waits),
    advice="launch what needs no neighbour before the wait: boundary first, then the exchange, the"
    " interior under it, and wait behind that",
    caveat="another rank is late: then record all ranks, and look at the one that comes last",
)
