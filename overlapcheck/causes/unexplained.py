"""Idle time that nothing in the trace accounts for.

What it is
    The operation that ended the idle time had been handed over before, and nothing recorded held
    it: no stream order, no event, no null stream, no busy engine, no collective, no other process.
    A host function in the stream (cudaLaunchHostFunc) leaves no row of its own and looks like this.

Why it costs overlap
    The device was idle for a reason that the trace does not show.

What it looks like
    stream 7   [kernel]······[kernel]        launched long before, waits for nothing known

What to do
    Record what may be missing: event waits, OS calls, all processes of the GPU, other users' slices
    of it. Then look at the longest piece in the profiler's timeline. Both frameworks: the same.

When this is wrong
    A few microseconds here and there are the limits of measuring.
"""

from overlapcheck.causes import _facts, _facts_device
from overlapcheck.causes._base import AGAIN, IdleCause
from overlapcheck.finding import Confidence
from overlapcheck.ledger import Reason
from overlapcheck.recorder import Content

CAUSE = IdleCause(
    reason=Reason.UNEXPLAINED,
    title="nothing in the trace accounts for this idle time",
    facts=(_facts.waits, _facts_device.nothing_found),
    advice=f"look at the longest piece in the profiler's timeline; {AGAIN}",
    lacks=Content.OTHER_USERS,
    caveat="it is a few microseconds here and there: then it is the limit of measuring",
    confidence=Confidence.SUSPECTED,
)
