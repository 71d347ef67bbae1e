"""The device waits for the program itself: loading, computing or sleeping on the host.

What it is
    Nothing is queued on the device, and the thread that launches is outside CUDA: it waits for a
    data loader, reads a file, holds a lock, or computes in Python.

Why it costs overlap
    This is no overlap problem: with nothing issued there is nothing to overlap. Reordering copies
    and kernels wins none of this time.

What it looks like
    kernels  ####··········####··········
    copies   ··············..
    thread   L [next(loader)]  L             outside CUDA: in an OS call, or running

What to do
    PyTorch: DataLoader(num_workers=..., prefetch_factor=..., persistent_workers=True,
    pin_memory=True); decode on the device (DALI, nvImageCodec); move logging and checkpointing to
    another thread. CUDA: prepare the next input in another thread, one or two steps ahead. To see
    which Python code: py-spy record, or a profiler that samples Python.

When this is wrong
    The thread may wait for the device in a way of its own (polling, a condition variable set by a
    callback): then look at what it waits for. With several ranks it may wait for another process.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.HOST_STARVED,
    title="the launching thread is away from CUDA: the device waits for the program",
    facts=(_facts.host_whereabouts, _facts.waits),
    advice="prepare the next input in another thread, one or two steps ahead; overlap cannot win"
    " this time",
    advice_pytorch="raise num_workers and prefetch_factor of the DataLoader, with"
    " persistent_workers=True; overlap cannot win this time",
    caveat="the thread waits for the device by polling, or for another process: then look at what"
    " it waits for",
)
