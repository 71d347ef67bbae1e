"""Every launch waits for its kernel, a debug mode.

What it is
    CUDA_LAUNCH_BLOCKING=1 makes each launch and copy return only when it is done, so that errors
    show up where they happen.

Why it costs overlap
    Nothing is ever queued ahead: one operation at a time on the whole device.

What it looks like
    kernels  [k]··[k]··[k]··
    thread   [L ] [L ] [L ]         each call lasts as long as its kernel

What to do
    Both frameworks: unset CUDA_LAUNCH_BLOCKING (look into the job script, the container and
    ~/.bashrc) and record again. The other causes can be judged only then.

When this is wrong
    Debuggers and sanitizers (cuda-gdb, compute-sanitizer) and other profilers serialise launches,
    too: without the variable in the environment, look for those.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.LAUNCH_BLOCKING,
    title="every launch waits for its kernel: a debug mode",
    facts=(_facts.environment("CUDA_LAUNCH_BLOCKING"), _facts.calls, _facts.waits),
    advice="unset CUDA_LAUNCH_BLOCKING and record again",
    caveat="the variable is not set: then a debugger, a sanitizer or another profiler serialises"
    " the launches",
)
