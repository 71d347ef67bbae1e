"""The link is the bound: copies take longer than all compute together.

What it is
    One direction of the link is busy nearly all of the time, or its copies take longer than the
    kernels they could hide under. Compute waits because there are more bytes than time.

Why it costs overlap
    It does not: as much as can hide hides already. The overlap is low because its ceiling,
    compute / copy, is low. No other order of the same operations would be faster.

What it looks like
    copy     [copy][copy][copy][copy][copy][copy]      no gap to fill
    compute  [k]···[k]···[k]···[k]···[k]···[k]··

What to do
    Both frameworks: move fewer bytes. A smaller type (uint8 images and bf16 weights, converted on
    the device), keep what is used again on the device, compress, send indices instead of rows. Or
    do more per byte: larger batches with weight offloading, more steps per load.

When this is wrong
    Compare the GB/s with what the link can do (PCIe 4 x16 about 25, PCIe 5 x16 about 55). Far
    below it, the copies themselves are at fault: memory of the other CPU socket (numactl), many
    small copies, a link with fewer lanes (nvidia-smi -q). Pageable copies are never called
    copy-bound here: pin them first.
"""

from overlapcheck.causes import _facts, _facts_device, _facts_work
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.COPY_BOUND,
    title="the link is the bound: there is more to copy than compute can hide",
    facts=(_facts_device.link_use, _facts_device.ceilings, _facts_work.waited_copies, _facts.waits),
    advice="another order of the same copies wins nothing; move fewer bytes (smaller types, reuse"
    " on the device, compression) or compute more per byte",
    caveat="the GB/s are far below what the link can do (PCIe 5 x16: about 55): then look at NUMA"
    " placement (numactl), many small copies, and lanes (nvidia-smi -q)",
)
