"""An event wait keeps copies or another device behind kernels needlessly.

What it is
    cudaStreamWaitEvent (wait_stream, wait_event in PyTorch) makes a stream wait for an event that
    was recorded behind work of another stream. Here the stream of the copies waits for kernels,
    and the kernels that follow wait for the copy; or two devices of a process wait for each other.

Why it costs overlap
    Two streams tied together like this take turns, as if they were one. It happens when the wait
    is placed right after the launch of the step that the copy should hide under.

What it looks like
    compute  [kernel i]······[kernel i+1]······
    copies   ··········[copy]············[copy]
                       ↑ waits for kernel i, though it needs only kernel i-1

    device 0  [layers 0-15]···············[layers 0-15]
    device 1  ·············[layers 16-31]··            each waits for an event of the other

What to do
    Devices that take turns (device_map, a pipeline of one batch): cut the batch into micro-batches,
    so that one device computes the next while the other has this one. Copies: let the copy wait
    only for the last reader of the buffer it fills. PyTorch: issue the prefetch before the kernels
    of the step, or drop side.wait_stream(main) and keep batch.record_stream(main), so that the
    allocator does not hand out the memory too early. With fixed buffers use two of them: double
    buffering. CUDA: two buffers and one event each; wait for the event of the buffer to be filled,
    which was recorded one step earlier.

When this is wrong
    Correctness may need the wait: it may be all that keeps the copy from overwriting data that a
    running kernel still reads. Before removing it, check who reads the buffer last: a tensor used
    on another stream than its own needs record_stream, a buffer that is reused needs
    double buffering. A missing wait shows no error, only wrong numbers now and then.
"""

from overlapcheck.causes import _facts, _facts_work
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.EVENT_WAIT,
    title="an event wait keeps work behind kernels that it should run beside",
    facts=(
        _facts_work.other_devices,
        _facts_work.relations,
        _facts_work.waited_copies,
        _facts.waits,
    ),
    advice="use two buffers with an event each, and let cudaStreamWaitEvent before the copy wait"
    " for the last reader of its own buffer, one step back, instead of the latest kernel; where"
    " devices take turns, cut the batch into micro-batches, so that all of them compute",
    advice_pytorch="issue the prefetch before the step's kernels, so that side.wait_stream() waits"
    " for the step before, or wait only for the last reader of that buffer; where devices take"
    " turns, cut the batch into micro-batches, so that all of them compute",
    caveat="correctness needs the wait because a running kernel still reads the buffer that the"
    " copy fills: check with record_stream or double buffering before you remove it",
)
