"""Memory is allocated, freed or pinned inside the loop.

What it is
    cudaMalloc, cudaFree, cudaHostAlloc, cudaFreeHost, cudaHostRegister, cuMemMap and their like.
    They take tens of microseconds to milliseconds, and many of them (cudaFree above all) wait
    until the device is idle.

Why it costs overlap
    The thread that should launch is held, the device drains, and everything starts anew
    afterwards.

What it looks like
    kernels  ########··········########
    thread   L[cudaFree   ][cudaMalloc]L        returns only when the kernels are done

What to do
    PyTorch: take torch.cuda.empty_cache() out of the loop; keep shapes steady (pad, or bucket by
    length); PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True against fragmentation; pin buffers
    once, not per batch. CUDA: allocate before the loop and reuse; or cudaMallocAsync with a raised
    cudaMemPoolAttrReleaseThreshold, for otherwise every synchronisation empties the pool.

When this is wrong
    Correctness may rest on the implicit wait of cudaFree: it keeps memory from being reused while
    a kernel or copy still uses it. Memory that lives on must be guarded otherwise: record_stream
    for tensors shared between streams, double buffering or events for buffers of your own. In
    warm-up and teardown allocation is normal: those steps do not count here.
"""

from overlapcheck.causes import _facts
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.ALLOCATION,
    title="memory is allocated, freed or pinned inside the loop",
    facts=(_facts.calls, _facts.waits),
    advice="allocate and pin once before the loop and reuse, or use cudaMallocAsync with a raised"
    " cudaMemPoolAttrReleaseThreshold",
    advice_pytorch="take torch.cuda.empty_cache() out of the loop, keep shapes steady, and pin"
    " buffers once",
    advice_directives="create arrays once in a data region around the loop (enter data create,"
    " target enter data) instead of in each compute region",
    caveat="correctness rests on the implicit wait of the free: check that memory reused across"
    " streams is guarded by record_stream, or by double buffering with events",
)
