"""What the launching threads of a device did: held, away, or ahead of the device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import Codes, Ints, chosen, distinct, is_in, one_of
from overlapcheck.intervals import Intervals
from overlapcheck.ledger import Work
from overlapcheck.measurements import Window
from overlapcheck.passes.held_calls import LONG_CALL_NS, HeldCalls
from overlapcheck.passes.operations import Operations
from overlapcheck.passes.process import ABSENT_TIME, NO_CALL
from overlapcheck.trace import ApiCalls, Overheads

# A thread that makes no CUDA call for this long is doing something other than launching.
AWAY_NS = 100_000
# A launch this far ahead of its kernel: the host has caught up.
AHEAD_NS = 50_000


@dataclass(frozen=True)
class HostTimeline:
    """What the launching threads of a device did, as far as lateness needs it."""

    held: HeldCalls
    overheads: Overheads
    away: Intervals
    """No launching thread was in or near a CUDA call."""
    preparing: Intervals
    """Part of it after which a thread loaded code: it was being compiled or read."""
    excess_share: float
    """Share of the restart time that is the host's own, see `host_lateness`."""
    ahead_ns: Ints
    """Launch times of operations that were launched well ahead, sorted."""


def host_timeline(
    calls: ApiCalls,
    kinds: Codes,
    held: HeldCalls,
    overheads: Overheads,
    ops: Operations,
    submit_ns: Ints,
    idle: Intervals,
    window: Window,
) -> HostTimeline:
    """Summarise the launching threads of a device.

    Args:
        calls: the process's calls.
        kinds: ApiKind of each.
        held: calls that stand for a reason.
        overheads: the profiler's own time.
        ops: the device's operations.
        submit_ns: when each was handed over.
        idle: the device's idle time in the window.
        window: the judged window.
    """
    # A loader thread that only copies does not launch for the ones that do.
    kernels = one_of(ops.work, (Work.COMPUTE, Work.COMMUNICATION))
    launching = distinct(ops.tid[(ops.call != NO_CALL) & kernels])
    mine = is_in(calls.tid, launching)
    rows = np.flatnonzero(mine & (calls.end_ns > calls.start_ns))
    away = _absences(chosen(calls.start_ns, rows), chosen(calls.end_ns, rows), window)
    loads = calls.start_ns[(kinds == ApiKind.MODULE_LOAD) & mine]
    loads_next = np.isin(away.end_ns, loads)
    compute = ops.work == Work.COMPUTE
    lead = ops.start_ns - submit_ns
    ahead = compute & (submit_ns != ABSENT_TIME) & (lead >= AHEAD_NS)
    return HostTimeline(
        held=held,
        overheads=overheads.rows(np.isin(overheads.tid, launching)),
        away=away,
        preparing=Intervals.of(away.start_ns[loads_next], away.end_ns[loads_next]),
        excess_share=_excess_share(
            calls, kinds, held, window, launching, _device_ns(ops, idle, window)
        ),
        ahead_ns=np.sort(ops.start_ns[ahead]),
    )


def _absences(start_ns: Ints, end_ns: Ints, window: Window) -> Intervals:
    """The long stretches of the window without any of these calls, which are sorted by start."""
    reach = np.maximum.accumulate(end_ns) if end_ns.size else end_ns
    after = np.flatnonzero(start_ns[1:] - reach[:-1] >= AWAY_NS)
    begin = np.concatenate(([window.start_ns], reach[after], reach[-1:]))
    end = np.concatenate((start_ns[:1], start_ns[1:][after], [window.end_ns]))
    begin, end = np.maximum(begin, window.start_ns), np.minimum(end, window.end_ns)
    long = end - begin >= AWAY_NS
    return Intervals.of(begin[long], end[long])


def _device_ns(ops: Operations, idle: Intervals, window: Window) -> int:
    """Time in the window in which kernels or collectives run."""
    collective = ops.work == Work.COMMUNICATION
    exposed = Intervals.of(ops.start_ns[collective], ops.end_ns[collective]) & idle
    return window.length_ns - idle.total_ns + exposed.total_ns


def _excess_share(
    calls: ApiCalls,
    kinds: Codes,
    held: HeldCalls,
    window: Window,
    launching: Ints,
    device_ns: int,
) -> float:
    """By how much the host's own work exceeds the device's, as a share of its free time while late.

    Launching threads take turns (forward and backward pass), so the host as a whole is held
    whenever one of them is: its own work is the rest.
    """
    # A launch that waits for room in a full queue is no work of the host's either.
    long = np.flatnonzero(calls.end_ns - calls.start_ns >= LONG_CALL_NS)
    long_hand_over = long[one_of(kinds[long], (ApiKind.LAUNCH, ApiKind.COPY, ApiKind.MEMSET))]
    queue_full = long_hand_over[is_in(calls.tid[long_hand_over], launching)]
    waits = is_in(held.tid, launching)
    held_ns = (
        Intervals.of(
            np.concatenate((held.start_ns[waits], calls.start_ns[queue_full])),
            np.concatenate((held.end_ns[waits], calls.end_ns[queue_full])),
        )
        .clip(window.start_ns, window.end_ns)
        .total_ns
    )
    excess = window.length_ns - held_ns - device_ns
    idle = window.length_ns - device_ns
    return min(1.0, max(0.0, excess / idle)) if idle > 0 else 0.0
