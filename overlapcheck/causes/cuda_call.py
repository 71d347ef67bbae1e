"""A CUDA call that launches nothing holds the launching thread.

What it is
    Making or destroying a stream, an event or a library handle, opening and closing memory of
    another process (IPC), asking for the properties of the device, enabling peer access: calls of
    tens of microseconds to seconds. A launch of milliseconds that nothing recorded explains is
    named here, too.

Why it costs overlap
    While the thread is in the call it launches nothing, and the device runs dry. Faster launches or
    a CUDA graph would win none of this time.

What it looks like
    kernels  ####···················####
    thread   L [cudaStreamCreate  ]L

What to do
    Make the call once, before the loop, and keep what it returns: streams, events, handles, plans,
    opened IPC memory, device properties. Both frameworks: the same; PyTorch programs keep streams
    and events as attributes instead of making them in each step.

When this is wrong
    Some calls start up a library or the driver the first time, and the first launch of another
    instance of a kernel template loads its code: then warm up, and leave those steps out (--skip
    N). A call that waits for the device inside is a synchronisation in disguise: then
    look at what it waits for.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.CUDA_CALL,
    title="a CUDA call that launches nothing holds the launching thread",
    facts=(_facts.calls, _facts.waits),
    advice="make this call once, before the loop, and keep what it returns",
    caveat="it starts up a library or loads code once: then leave those steps out with --skip",
)
