"""Compute waits for a collective that nothing runs beside.

What it is
    An all-reduce, all-gather or other collective runs while the device computes nothing: it was
    issued after the kernels it could hide under, or the next kernel needs its result at once.

Why it costs overlap
    The link between the devices works, the multiprocessors wait.

What it looks like
    compute  [backward        ]············[optimiser]
    nccl     ·················[all-reduce ]

What to do
    PyTorch: DistributedDataParallel overlaps the reduction of buckets with the backward pass (tune
    bucket_cap_mb; static_graph=True; gradient_as_bucket_view=True); with hand-made reductions pass
    async_op=True as soon as each gradient is ready and wait() before the optimiser; FSDP:
    backward_prefetch and forward_prefetch. CUDA: issue ncclAllReduce on a stream of its own behind
    an event as soon as the data is ready. The last bucket is always exposed: make it small.

    Where the report holds what NCCL tells NVTX (run and analyze see to it), the evidence says sizes
    and bus bandwidth: hold it against the link. Well below it, small messages or the network are to
    blame rather than the schedule.

    Where the evidence says that a collective stood behind kernels although it was launched early:
    CUDA_DEVICE_MAX_CONNECTIONS, fewer streams, or a priority for the stream of the collectives.
    Where ranks begin collectives of two communicators in different order: the same order on all.

When this is wrong
    A collective also lasts while it waits for a slower rank, and one rank's trace cannot tell
    waiting from moving: give the reports of all ranks at once (overlapcheck analyze RANK_0 RANK_1
    ...), which names the rank that the others wait for, before touching the network. Collectives
    beside kernels take multiprocessors from them (see contention).
"""

from overlapcheck.causes import (
    _facts,
    _facts_collectives,
    _facts_device,
    _facts_queue,
    _facts_work,
)
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.EXPOSED_COLLECTIVE,
    title="compute waits for collectives that nothing runs beside",
    facts=(
        _facts_work.collectives,
        _facts_collectives.placement,
        _facts_collectives.last_of_steps,
        _facts_collectives.speed,
        _facts_collectives.waiting,
        _facts_collectives.order,
        _facts_queue.behind_compute,
        _facts_device.communication_use,
        _facts.waits,
    ),
    advice="issue each collective on its own stream as soon as its data is ready, and let only its"
    " consumer wait for it",
    advice_pytorch="use DistributedDataParallel with tuned bucket_cap_mb, or async_op=True as soon"
    " as each gradient is ready and wait() before the optimiser",
    caveat="the time is spent waiting for a slower rank, which one rank's trace cannot tell: then"
    " balance the ranks instead",
)
