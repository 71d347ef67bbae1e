"""Synchronous copies hold the launching thread until they are done.

What it is
    cudaMemcpy (without Async), cuMemcpyHtoD, cudaMemcpyToSymbol, cudaMemset of host memory and
    their like return when the copy has ended. They also run in the null stream.

Why it costs overlap
    While the thread waits it launches nothing, and the device drains behind the copy.

What it looks like
    kernels  ####......####......
    copy     ....####......####..
    thread   [cudaMemcpy] L             the launch comes only after the copy

What to do
    CUDA: cudaMemcpyAsync on a stream of its own, from memory of cudaHostAlloc; order the kernels
    behind it with cudaStreamWaitEvent. PyTorch: non_blocking=True in to() and copy_(), from pinned
    memory; the call comes from an extension if the program has it already.

When this is wrong
    If the host reads the result or rewrites the source right after the call, an asynchronous copy
    makes that a race: wait for the copy's event just before the access, or use two buffers.
"""

from overlapcheck.causes import _facts, _facts_work
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.SYNC_COPY,
    title="synchronous copies hold the launching thread until they are done",
    facts=(_facts_work.called_copies, _facts.calls, _facts.waits),
    advice="use cudaMemcpyAsync on a stream of its own, from memory of cudaHostAlloc, and"
    " cudaStreamWaitEvent before the kernels that need it",
    advice_pytorch="pass non_blocking=True to to() and copy_(), from pinned memory",
    advice_once="cut the data into pieces, copy them with cudaMemcpyAsync from memory of"
    " cudaHostAlloc on streams of their own, and compute on one piece while the next is copied",
    advice_directives="keep arrays on the device in a data region around the loop, and give update"
    " directives async(n) or nowait",
    caveat="the host reads the result, or rewrites the source, right after the call: then wait for"
    " the copy's event there, or use two buffers",
)
