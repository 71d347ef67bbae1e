"""Unified memory migrates between host and device inside the loop.

What it is
    Memory of cudaMallocManaged moves page by page when the side that does not have it touches it:
    on a page fault, by prefetch, or when the device is full (eviction).

Why it costs overlap
    A fault on the host holds the launching thread until the pages are back; a fault on the device
    stalls the kernel. Migrations on demand come in small pieces, far below the link's speed.

What it looks like
    kernels    ####··········####
    migration  ....~~~~~~~~~~~~··        while the host touches what the kernel wrote

What to do
    CUDA: cudaMemPrefetchAsync on a side stream before the use, cudaMemAdvise (preferred location,
    read mostly), or plain cudaMalloc with cudaMemcpyAsync from pinned memory. PyTorch: its own
    allocator uses none; look for cudaMallocManaged in extensions, RAPIDS (rmm) and offload modes.

When this is wrong
    If the data does not fit on the device, migration is the price: prefetch instead of faulting.
    The blame rests on both happening at the same time: where the host computed meanwhile anyway,
    only part of it can be won.
"""

from overlapcheck.causes import _facts, _facts_device
from overlapcheck.causes._base import IdleCause
from overlapcheck.finding import Confidence
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.UVM_MIGRATION,
    title="unified memory migrates while the device waits",
    facts=(_facts_device.migrations, _facts.waits),
    advice="call cudaMemPrefetchAsync on a side stream before the use, or replace cudaMallocManaged"
    " by cudaMalloc and cudaMemcpyAsync from pinned memory",
    caveat="the data does not fit on the device: then prefetch in time, for migrating is the price",
    confidence=Confidence.LIKELY,
)
