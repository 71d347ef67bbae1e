"""The legacy null stream and a blocking stream exclude each other.

What it is
    Work in the null stream (stream 0 without --default-stream per-thread) waits for all earlier
    work of every blocking stream, and theirs waits for it. A stream is blocking unless it was made
    with cudaStreamNonBlocking.

Why it costs overlap
    A copy in one of the two and a kernel in the other never run together, although they are in
    different streams and no event orders them.

What it looks like
    null stream  [kernel]······[kernel]······[kernel]
    blocking     ········[copy]········[copy]           one at a time, no event between them

What to do
    CUDA: make the streams with cudaStreamCreateWithFlags(cudaStreamNonBlocking), or compile with
    nvcc --default-stream per-thread; launch kernels in a stream of their own instead of stream 0.
    PyTorch: its own side streams are non-blocking already, so the blocking one comes from an
    extension or another library; or run the loop under torch.cuda.stream(torch.cuda.Stream()).

When this is wrong
    The program may rely on this implicit order, knowingly or not. Before it goes, add the order
    that is needed: cudaEventRecord behind the producer, cudaStreamWaitEvent before the consumer.
    If the streams are non-blocking, the picture has another reason (see event-wait).
"""

from overlapcheck.causes import _facts, _facts_work
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.DEFAULT_STREAM,
    title="the legacy null stream and a blocking stream never run at the same time",
    facts=(_facts_work.relations, _facts_work.waited_copies, _facts.waits),
    advice="make the side stream with cudaStreamNonBlocking, or compile with --default-stream"
    " per-thread, and order what depends on each other with events",
    advice_pytorch="run the loop under torch.cuda.stream(torch.cuda.Stream()), and make streams of"
    " extensions with cudaStreamNonBlocking",
    caveat="the program relies on this implicit order: then add cudaStreamWaitEvent where a"
    " consumer needs its producer, before you take the order away",
)
