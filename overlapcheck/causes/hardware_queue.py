"""Independent work waits behind unrelated work of another stream.

What it is
    Streams are mapped onto a limited number of hardware queues (CUDA_DEVICE_MAX_CONNECTIONS, 8 by
    default, 1 in some training setups). Two streams in one queue run in the order of their
    launches, though nothing orders them.

Why it costs overlap
    A kernel that was ready stands behind a copy, or a copy behind a kernel, of another stream, with
    no event, no null stream and no busy engine to explain it.

What it looks like
    stream 7   [kernel]······[kernel]        launched long before, waits for nothing
    stream 13  ········[copy]                unrelated

What to do
    Set CUDA_DEVICE_MAX_CONNECTIONS=32 before the process starts, use fewer streams, or issue the
    independent work in another order. Both frameworks: the variable must be in the environment
    before the first CUDA call.

When this is wrong
    The trace does not record hardware queues: this is what remains when nothing else explains the
    wait. Some programs set the variable to 1 on purpose, to start collectives before the kernels
    behind them (Megatron's tensor and sequence parallelism).
"""

from overlapcheck.causes import _facts, _facts_device
from overlapcheck.causes._base import IdleCause
from overlapcheck.finding import Confidence
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.HARDWARE_QUEUE,
    title="ready work waits behind unrelated work of another stream",
    facts=(
        _facts_device.streams_in_use,
        _facts.environment("CUDA_DEVICE_MAX_CONNECTIONS"),
        _facts.waits,
    ),
    advice="set CUDA_DEVICE_MAX_CONNECTIONS=32 before the program starts, or use fewer streams",
    caveat="the variable is set to 1 on purpose to order collectives before kernels (Megatron):"
    " then change the order of issue instead",
    confidence=Confidence.SUSPECTED,
)
