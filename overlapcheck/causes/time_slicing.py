"""Another process computes on the same GPU, in turns with this one.

What it is
    Without MPS the device runs one process's context at a time, in slices of about two
    milliseconds. Work that is ready waits until the other process's slice ends.

Why it costs overlap
    Nothing of one process hides under anything of the other. Each sees gaps that nothing in its
    own calls explains.

What it looks like
    process 1  [kernel]········[kernel]········
    process 2  ········[kernel]········[kernel]

What to do
    One process per GPU (CUDA_VISIBLE_DEVICES), or the Multi-Process Service
    (nvidia-cuda-mps-control -d), or MIG for separate shares. PyTorch: check that each rank calls
    torch.cuda.set_device(local_rank), and that loader workers make no CUDA context.

When this is wrong
    Two processes may share a GPU on purpose (two services on one device): then judge their common
    throughput. Processes that were not recorded can take slices, too: nvidia-smi shows them.
"""

from overlapcheck.causes import _facts, _facts_device
from overlapcheck.causes._base import IdleCause
from overlapcheck.finding import Confidence
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.TIME_SLICING,
    title="another process computes on the same GPU, in turns",
    facts=(_facts_device.other_processes, _facts.waits),
    advice="give each process a GPU of its own (CUDA_VISIBLE_DEVICES), or run the Multi-Process"
    " Service (nvidia-cuda-mps-control -d)",
    advice_pytorch="call torch.cuda.set_device(local_rank) in every rank, or run the Multi-Process"
    " Service (nvidia-cuda-mps-control -d)",
    caveat="the processes share the GPU on purpose: then judge their throughput together",
    confidence=Confidence.LIKELY,
)
