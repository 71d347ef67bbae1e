"""Copies of one direction queue behind one another.

What it is
    A device copies in one direction with one engine at a time: two copies to the device on two
    streams do not run together, the second waits for the first.

Why it costs overlap
    The copy that the next kernel needs stands behind one that nobody waits for yet.

What it looks like
    stream 13  [copy, needed later      ]
    stream 14  ··························[copy]           needed now
    compute    [kernel]·························[kernel]

What to do
    Issue the urgent copy first, and cut the other one into pieces of a few MiB with the urgent
    ones in between. Both frameworks: the order of the cudaMemcpyAsync calls (tensor.to calls)
    decides; stream priority does not, for it does not reach the copy engines.

When this is wrong
    One engine per direction is how the hardware works; more streams never help. If all the copies
    are needed now, the link is the bound (see copy-bound).
"""

from overlapcheck.causes import _facts, _facts_work
from overlapcheck.causes._base import IdleCause
from overlapcheck.ledger import Reason

CAUSE = IdleCause(
    reason=Reason.COPY_ENGINE,
    title="copies queue behind other copies of the same direction: one engine each way",
    facts=(_facts_work.waited_copies, _facts_work.relations, _facts.waits),
    advice="issue the copy that compute needs first before the bulk ones, and cut those into"
    " pieces of a few MiB; stream priority does not reach the copy engines",
    caveat="all of these copies are needed at once: then the link is the bound and only fewer"
    " bytes help",
)
