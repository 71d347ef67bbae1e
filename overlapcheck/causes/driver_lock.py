"""A launch or copy call waits for a driver lock that another thread holds.

What it is
    The driver lets one thread at a time into parts of a context. While one thread is in a long call
    (module loading, cudaHostRegister, cudaMalloc, a pageable copy, an event record behind a full
    queue), launches and copies of other threads wait inside their calls.

Why it costs overlap
    The launching thread is held by a call that has nothing to do with its own work; the device
    runs dry.

What it looks like
    thread A  [cudaHostRegister        ]
    thread B       [cudaLaunchKernel   ]        short otherwise; both end together
    kernels   ####·····················####

What to do
    Take the long call out of the other thread's loop: pin, register and allocate once, load modules
    before the loop. PyTorch: DataLoader(pin_memory=True) pins in a thread of its own; reuse its
    buffers (steady batch shapes let the caching host allocator do so), or pin before the loop.

When this is wrong
    A launch is long also when the launch queue is full: then the device is busy all the while and
    nothing is lost. The signs of the lock are a wait for a mutex inside the launch, where OS calls
    were recorded, or two calls that end together: the trace does not record the lock itself.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.finding import Confidence
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.DRIVER_LOCK,
    title="launches wait for a driver lock that another thread's long call holds",
    facts=(_facts.calls, _facts.waits),
    advice="take the other thread's long driver call out of the loop: allocate, pin and load once",
    advice_pytorch="let no loader thread pin, allocate or load per batch: keep batch shapes steady"
    " so that pinned buffers are reused",
    caveat="the launch queue was full: then the device was busy and nothing is lost",
    confidence=Confidence.LIKELY,
)
