"""By how much the clocks of host and device contradict each other.

host      [launch]                [wait    ]
device  [k]                                  [k]      begins before its launch returned;
                                                      ends after a wait for it returned
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Codes, Columns, Ints
from overlapcheck.order import Operations, Order, Relation, Work
from overlapcheck.quantities import duration
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace_tables import ApiCalls

_SAMPLED = 20_000
"""Launches that are looked at: of millions some thousands tell as much, in less time."""


@dataclass(frozen=True)
class Sample(Columns):
    """Some operations of a device, and their launches."""

    start_ns: Ints
    launch_start_ns: Ints
    launch_end_ns: Ints
    work: Codes


def clock_skew_ns(
    order: Order,
    device_id: int,
    calls: ApiCalls,
    limits: Thresholds,
    *,
    launches_return: bool,
) -> int:
    """How far the device's clock is ahead of the host's, at least; negative where it is behind.

    Args:
        order: the operations of the process, and what its host waited for.
        device_id: whose clock.
        calls: the process's calls.
        limits: what is only noise, and how long a call is that only hands over.
        launches_return: whether launches return before their kernel begins, as they do unless
            they wait for it.

    Returns:
        0 where nothing contradicts.
    """
    behind_ns = _behind_ns(order.operations, device_id, limits, launches_return=launches_return)
    if behind_ns > limits.submit_slack_ns:
        return -behind_ns
    ahead_ns = _ahead_ns(order, device_id, calls, limits)
    return ahead_ns if ahead_ns > limits.submit_slack_ns else 0


def _behind_ns(
    ops: Operations, device_id: int, limits: Thresholds, *, launches_return: bool
) -> int:
    rows = slice(None, None, len(ops) // _SAMPLED + 1)
    some = Sample(
        ops.start_ns[rows], ops.launch_start_ns[rows], ops.launch_end_ns[rows], ops.work[rows]
    )
    some = some.rows((ops.call[rows] != ABSENT) & (ops.device_id[rows] == device_id))
    start, called = some.start_ns, some.launch_start_ns
    behind_ns = -_quantile(start - called, limits.skew_damaged_share, limits)
    if launches_return:
        returned = some.launch_end_ns
        short = (returned - called < limits.blocking_call_ns) & (some.work == Work.COMPUTE)
        behind_ns = max(
            behind_ns, -_quantile((start - returned)[short], limits.skew_launch_share, limits)
        )
    return behind_ns


def _ahead_ns(order: Order, device_id: int, calls: ApiCalls, limits: Thresholds) -> int:
    waits = order.edges.of(Relation.HOST)
    mine = order.operations.device_id[waits.before] == device_id
    before, call = waits.before[mine], waits.call[mine]
    # Half of all waits, for one may have been given up.
    return _quantile(order.operations.end_ns[before] - calls.end_ns[call], 0.5, limits)


def _quantile(values: Ints, share: float, limits: Thresholds) -> int:
    if values.size < limits.skew_rows_least:
        return 0
    place = int(share * (values.size - 1))
    return int(np.partition(values, place)[place])


def told_skew(skew_ns: int) -> tuple[str, ...]:
    """A line for the report; none where the clocks agree."""
    if skew_ns == 0:
        return ()
    seen = (
        "kernels seem to begin before their launches returned"
        if skew_ns < 0
        else "waits seem to return before the work they waited for had ended"
    )
    return (
        f"clocks of host and device differ by {duration(abs(skew_ns))} or more: {seen}; reasons"
        " allow for it",
    )
