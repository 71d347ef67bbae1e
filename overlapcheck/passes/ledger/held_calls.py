"""The calls that held a thread: those that a rule speaks for, outermost ones only."""

from __future__ import annotations

import numpy as np

from overlapcheck.columns import (
    ABSENT,
    Codes,
    Ints,
    narrow,
    ordered,
)
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger.call_rules import Calls, Locks
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.ledger.rule import first_that_fits
from overlapcheck.passes.ledger.rules import RULES
from overlapcheck.passes.process import ProcessTables
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import ApiCalls


def launches_block(ops: Operations, environment_value: str | None, limits: Thresholds) -> bool:
    """Whether launches wait for their kernels: the debug variable, or its unmistakable pattern."""
    if environment_value is not None and environment_value not in ("", "0"):
        return True
    kernels = (ops.work == Work.COMPUTE) & (ops.call != ABSENT)
    count = int(kernels.sum())
    waited = int((ops.launch_end_ns[kernels] >= ops.end_ns[kernels]).sum())
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
        ruling = rule.decide(Locks(made, reason))
        reason[ruling.rows] = ruling.reason
    return _disjoint(process.calls, reason)


def _disjoint(calls: ApiCalls, reason: Codes) -> HeldCalls:
    """Sort by thread and start, and leave out calls inside a call that is held already."""
    rows = np.flatnonzero(reason != ABSENT)
    rows = rows[ordered(calls.tid[rows], calls.start_ns[rows], -calls.end_ns[rows])]
    if rows.size:
        tid, end = calls.tid[rows], calls.end_ns[rows]
        new_thread = np.concatenate(([True], tid[1:] != tid[:-1]))
        reach = _reach_within(end, np.cumsum(new_thread))
        before = np.concatenate(([np.iinfo(np.int64).min], reach[:-1]))
        rows = rows[new_thread | (calls.start_ns[rows] >= before)]
    return HeldCalls(
        tid=calls.tid[rows],
        start_ns=calls.start_ns[rows],
        end_ns=calls.end_ns[rows],
        reason=reason[rows],
        call=narrow(rows),
    )


def _reach_within(end: Ints, group: Ints) -> Ints:
    """Running maximum of end, starting anew with each group (groups ascend)."""
    origin = int(end.min())
    span = int(end.max()) - origin + 1
    return np.maximum.accumulate(end - origin + group * span) - group * span + origin
