"""Work starts long after it was handed over to an empty device.

What it is
    The launch had returned, nothing was running or queued before it, and still the device did not
    begin. No event wait, copy, collective or other process in the trace says why. What the host did
    meanwhile cannot be the reason, for the device had the work already.

Why it costs overlap
    The device idles with work at hand.

What it looks like
    kernels  [kernel]···············[kernel]
    thread           [L][synchronize       ]        the wait begins after the hand-over

What to do
    Look for what leaves no row: a host function in the stream (cudaLaunchHostFunc), page tables and
    pinned or managed memory set up at first touch, local memory resized for a kernel, clocks of an
    idle device, a driver that sends work in batches (Windows), another user of the device. Record
    other users of the GPU and page faults, too, and time one launch alone without the profiler.
    Both frameworks: the same.

When this is wrong
    Clocks of host and device that drift apart in long recordings look like this: then every kernel
    starts late by about the same time.
"""

from overlapcheck.causes import _facts, _facts_device
from overlapcheck.causes._base import AGAIN, IdleCause
from overlapcheck.finding import Confidence
from overlapcheck.ledger import Reason
from overlapcheck.recorder import Content

CAUSE = IdleCause(
    reason=Reason.LATE_START,
    title="work starts long after it was handed over to an empty device, and nothing recorded held"
    " it",
    facts=(_facts.late_starts, _facts.waits, _facts_device.nothing_found),
    advice="look for what leaves no row (a host function in the stream, memory mapped at first"
    f" touch, another user of the device): {AGAIN}; and time one launch without the profiler",
    lacks=Content.OTHER_USERS,
    caveat="all starts are late by about the same time: then the clocks of host and device differ",
    confidence=Confidence.SUSPECTED,
)
