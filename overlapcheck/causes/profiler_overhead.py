"""The recording itself made the host late.

What it is
    Either the profiler worked on the launching thread: it flushed buffers, took a backtrace, or set
    up a new stream or module; it records when it did. Or a control (the same program recorded with
    NVTX ranges alone) shows that the steps are shorter when no CUDA call is recorded: the part of
    a recorded step beyond the program's own pace is taken from the idle time that a late host
    explains, in proportion, and stands here.

Why it costs overlap
    The device idled in the recording, but not because of the program. At the program's own pace
    this time is no part of the window, and no share or saving counts it.

What it looks like
    kernels   ####····####            ####·····####·····     as recorded
    thread    L  [prof]  L            ####··####··           at its own pace

What to do
    Both frameworks: nothing in the program. Judge it at its own pace: overlapcheck run --control
    always, or analyze REPORT --control CONTROL, or --step-time where you know how long a step
    takes. To be disturbed less, record less: no backtraces, no samples, no times of events, a
    shorter capture. Leave the first steps out (--skip).

When this is wrong
    Never blame the program for it. Where it is a large share of the idle time and there is no
    control, the other shares are less sure, too. A control of another machine, or beside other
    work, has another pace: give several, and their spread is judged, too.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason
from overlapcheck.recorder import Content

CAUSE = IdleCause(
    reason=Reason.PROFILER_OVERHEAD,
    title="the recording itself made the host late",
    facts=(_facts.waits,),
    advice="nothing: the program is not at fault; to be disturbed less, record less (no backtraces,"
    " no sampling, a shorter capture)",
    caveat="never blame the program for it; where it is large, record again before you judge",
    lacks=Content.UNDISTURBED,
)
