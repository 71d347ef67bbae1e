"""The calls that held a thread: those that a rule speaks for, outermost ones only."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import ABSENT, Codes, Ints, narrow
from overlapcheck.grouping import sorted_by
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger.call_rules import Calls, Locks
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.ledger.held_spans import Host, together_of
from overlapcheck.passes.ledger.host_timeline import launching_threads
from overlapcheck.passes.ledger.rule import first_that_fits
from overlapcheck.passes.ledger.rules import RULES
from overlapcheck.passes.process import ProcessTables
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace_tables import ApiCalls


def launches_block(ops: Operations, environment_value: str | None, limits: Thresholds) -> bool:
    """Whether launches wait for their kernels: the debug variable, or its unmistakable pattern.

    Only a kernel that takes longer than a hand-over tells: a short one may be over before its
    launch returns. Where most of those outlast their launch, the variable has no effect.
    """
    kernels = (ops.work == Work.COMPUTE) & (ops.call != ABSENT)
    kernels &= ops.end_ns - ops.start_ns >= limits.blocking_call_ns
    count = int(kernels.sum())
    waited = int((ops.launch_end_ns[kernels] >= ops.end_ns[kernels] - limits.submit_slack_ns).sum())
    if environment_value is not None and environment_value not in ("", "0"):
        return 2 * waited >= count
    least, share = limits.blocking_launches_least, limits.blocking_launches_share
    return count >= least and waited >= share * count


def held_calls(
    process: ProcessTables, ops: Operations, blocking_launches: bool, limits: Thresholds
) -> HeldCalls:
    """All calls that stand for a reason.

    Args:
        process: for its calls.
        ops: the device's operations, which tell what a copy call copied.
        blocking_launches: whether launches wait for their kernels.
        limits: what is small, and what is long.
    """
    made = Calls(process.calls, process.call_kind, ops, blocking_launches, limits)
    reason, _ = first_that_fits(RULES.held, made, len(made.calls), otherwise=ABSENT)
    for rule in RULES.lock:
        ruling = rule.decide(Locks(made, reason, process.os_calls, process.strings))
        reason[ruling.rows] = ruling.reason
    host = Host(process, launching_threads(ops), reason, limits)
    spans = [rule.decide(host) for rule in RULES.spans]
    return _disjoint(together_of([_single(process.calls, reason), *spans]))


def _single(calls: ApiCalls, reason: Codes) -> HeldCalls:
    """The calls that have a reason."""
    rows = np.flatnonzero(reason != ABSENT)
    return HeldCalls(
        tid=calls.tid[rows],
        start_ns=calls.start_ns[rows],
        end_ns=calls.end_ns[rows],
        reason=reason[rows],
        call=narrow(rows),
    )


def _disjoint(held: HeldCalls) -> HeldCalls:
    """Sort by thread and start, and leave out calls inside a call that is held already."""
    held = sorted_by(held, held.tid, held.start_ns, -held.end_ns)
    if len(held) == 0:
        return held
    tid = held.tid
    new_thread = np.concatenate(([True], tid[1:] != tid[:-1]))
    reach = _reach_within(held.end_ns, np.cumsum(new_thread))
    before = np.concatenate(([np.iinfo(np.int64).min], reach[:-1]))
    outer = new_thread | (held.start_ns >= before)
    return held if outer.all() else held.rows(outer)


def _reach_within(end: Ints, group: Ints) -> Ints:
    """Running maximum of end, starting anew with each group (groups ascend)."""
    origin = int(end.min())
    span = int(end.max()) - origin + 1
    return np.maximum.accumulate(end - origin + group * span) - group * span + origin
