"""Copies wait for kernels because both are queued on one stream.

What it is
    A stream runs its operations strictly in order. A copy that is queued on the stream of the
    kernels starts only when the kernel before it has ended, and the kernel behind it starts only
    when the copy has ended. A copy to the device behind a long copy to the host on one side stream
    waits likewise.

Why it costs overlap
    The copy engine and the multiprocessors could work at the same time, but one stream lets only
    one of them work at a time: every copy is idle time for compute.

What it looks like
    stream 7   [kernel][copy][kernel][copy][kernel]     strictly in turn
    thread     LcLcL                                    all issued long before

What to do
    PyTorch: make a side stream (torch.cuda.Stream()) once; copy the next batch under
    `with torch.cuda.stream(side)`, with non_blocking=True, from pinned memory; before its use
    current_stream().wait_stream(side) and batch.record_stream(current_stream()). CUDA: copy with
    cudaMemcpyAsync on a stream made with cudaStreamNonBlocking, into a second buffer, and order
    it with cudaEventRecord and cudaStreamWaitEvent.

When this is wrong
    If the kernel right behind the copy reads what it brings, a second stream alone wins nothing:
    the copy must also be issued one step earlier, into a buffer of its own. If one direction of
    the link is busy nearly all of the time, no order of operations helps (see copy-bound). The
    stream's order may be what protects a buffer from being overwritten: replace it by an event.
"""

from overlapcheck.causes import _facts, _facts_work
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.SAME_STREAM,
    title="copies are queued behind other work of their own stream, which runs in order",
    facts=(_facts_work.waited_copies, _facts_work.relations, _facts.waits),
    advice="copy the next chunk with cudaMemcpyAsync on a second stream (cudaStreamNonBlocking)"
    " into a second buffer, ordered by cudaEventRecord and cudaStreamWaitEvent",
    advice_pytorch="prefetch the next batch under torch.cuda.stream(side) from pinned memory with"
    " non_blocking=True, then wait_stream(side) and batch.record_stream() before its use",
    advice_once="cut the data into pieces and give them to two or three streams"
    " (cudaStreamNonBlocking) in turn: the copies of one piece then run beside the kernels of"
    " another",
    advice_directives="give copies an async queue of their own (update async(2)), and order them"
    " with wait clauses",
    caveat="the kernel right behind the copy needs its data: then also issue the copy one step"
    " earlier, into a buffer of its own",
)
