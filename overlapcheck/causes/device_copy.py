"""Copies within the device and memsets stand between kernels.

What it is
    cudaMemcpy from device to device and cudaMemset: work of the device itself, done by neither
    kernels nor the link.

Why it costs overlap
    It is work, not waiting; it counts as idle only because no kernel runs meanwhile.

What it looks like
    stream 7  [kernel][d2d][kernel][memset][kernel]

What to do
    Usually nothing. Where it is more than a few percent: PyTorch: avoid .contiguous(), clone(),
    torch.cat and zero_() in the loop, write into the final place (out=), zero_grad(
    set_to_none=True). CUDA: write results where they are needed, clear inside the kernel.

When this is wrong
    A copy may be what decouples two stages: double buffering needs it.
"""

from overlapcheck.causes import _facts, _facts_work
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.DEVICE_COPY,
    title="copies within the device and memsets stand between kernels",
    facts=(_facts_work.device_work, _facts.waits),
    advice="usually nothing; else write results where they are needed, and clear in the kernel",
    advice_pytorch="usually nothing; else avoid contiguous(), clone(), cat and zero_() in the loop",
    caveat="the copy decouples two stages: then it earns its time",
)
