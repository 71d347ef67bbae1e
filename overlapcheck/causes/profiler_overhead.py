"""The profiler held the launching thread.

What it is
    The profiler itself worked on the launching thread: it flushed buffers, took a backtrace, or set
    up a new stream or module. It records when it did.

Why it costs overlap
    The device idled in the recording, but not because of the program.

What it looks like
    kernels   ####····####
    thread    L  [prof]  L

What to do
    Both frameworks: record less: no backtraces, no samples, no times of events, a shorter capture.
    Leave the first steps out (--skip).

When this is wrong
    Never blame the program for it. Where it is a large share of the idle time, the other shares are
    less sure, too: record again.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason
from overlapcheck.recorder import Content

CAUSE = IdleCause(
    reason=Reason.PROFILER_OVERHEAD,
    title="the profiler itself held the launching thread",
    facts=(_facts.waits,),
    advice="record less (no backtraces, no sampling, a shorter capture); the program is not at"
    " fault",
    caveat="never blame the program for it; where it is large, record again before you judge",
    lacks=Content.UNDISTURBED,
)
