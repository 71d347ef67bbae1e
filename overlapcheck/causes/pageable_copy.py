"""Copies from or to pageable memory hold the thread that makes them.

What it is
    The host side of a copy is ordinary (pageable) memory. The driver must stage it through a
    pinned buffer of its own, so the call returns only when the data has been read or written,
    however asynchronous its name is.

Why it costs overlap
    While the thread is inside the copy call it launches nothing. The device finishes what it has
    and idles. The copy itself also runs at a fraction of the link's speed.

What it looks like
    kernels  ####......####......      the device drains behind every copy
    copy     ..~~~~~~....~~~~~~..      slow: staged through the driver's buffer
    thread   [cudaMemcpyAsync]         as long as the copy

What to do
    PyTorch: DataLoader(pin_memory=True), or tensor.pin_memory() once, and keep
    tensor.to(device, non_blocking=True). CUDA: cudaHostAlloc or cudaHostRegister the buffer once,
    outside the loop, then cudaMemcpyAsync on a stream of its own.

When this is wrong
    If the buffer is rewritten while an asynchronous copy reads it, the copy delivers garbage:
    double-buffer it, and wait for the copy's event before writing again. Pinning in every step
    costs more than it wins (see allocation). A read-back of a few bytes is a synchronisation,
    which pinning does not remove (see host-sync).
"""

from overlapcheck.causes import _facts, _facts_work
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.PAGEABLE_COPY,
    title="pageable copies hold the launching thread",
    facts=(_facts_work.pageable_copies, _facts.calls, _facts.waits),
    advice="pin the buffer once, outside the loop (cudaHostAlloc or cudaHostRegister), and copy it"
    " with cudaMemcpyAsync on a stream of its own",
    advice_pytorch="pin the source: DataLoader(pin_memory=True) or tensor.pin_memory() once, and"
    " keep non_blocking=True",
    advice_once="copy in pieces through two pinned buffers (cudaHostAlloc) that are used again and"
    " again, and compute on one piece while the next is copied with cudaMemcpyAsync on a stream of"
    " its own; pinning all of a buffer that is copied once costs about as much as the copy",
    advice_directives="keep arrays on the device in a data region around the loop, pin what must"
    " move (-gpu=pinned), and update it with async",
    caveat="the buffer is rewritten while the copy runs: then double-buffer it first",
)
