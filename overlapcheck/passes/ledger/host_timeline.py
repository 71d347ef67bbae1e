"""What the launching threads of a device did: held, away, or ahead of the device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.api_kinds import ApiKind
from overlapcheck.columns import ABSENT, ABSENT_TIME, Ints, chosen, distinct, is_in, one_of
from overlapcheck.intervals import Intervals
from overlapcheck.measurements import Window
from overlapcheck.order import Operations, Work
from overlapcheck.passes.ledger.held import HeldCalls
from overlapcheck.passes.process import ProcessTables
from overlapcheck.thresholds import Thresholds
from overlapcheck.trace import Overheads


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
    limits: Thresholds
    ahead_ns: Ints
    """Launch times of operations that were launched well ahead, sorted."""


@dataclass(frozen=True)
class Launched:
    """What the threads launched on a device, and how its window went."""

    ops: Operations
    submit_ns: Ints
    """When each operation was handed over."""
    idle: Intervals
    """The device's idle time in the window."""
    window: Window

    @property
    def threads(self) -> Ints:
        """Threads that launch kernels: a loader that only copies does not launch for them."""
        kernels = one_of(self.ops.work, (Work.COMPUTE, Work.COMMUNICATION))
        return distinct(self.ops.tid[(self.ops.call != ABSENT) & kernels])

    @property
    def device_ns(self) -> int:
        """Time in the window in which kernels or collectives run."""
        collective = self.ops.work == Work.COMMUNICATION
        busy = Intervals.of(self.ops.start_ns[collective], self.ops.end_ns[collective])
        return self.window.length_ns - self.idle.total_ns + (busy & self.idle).total_ns


def host_timeline(
    process: ProcessTables, held: HeldCalls, launched: Launched, limits: Thresholds
) -> HostTimeline:
    """Summarise the launching threads of a device.

    Args:
        process: for its calls and the profiler's own time.
        held: calls that stand for a reason.
        launched: what was launched, and the window.
        limits: how long is away, and how early is ahead.
    """
    calls, ops = process.calls, launched.ops
    threads = launched.threads
    mine = is_in(calls.tid, threads)
    rows = np.flatnonzero(mine & (calls.end_ns > calls.start_ns))
    start, end = chosen(calls.start_ns, rows), chosen(calls.end_ns, rows)
    away = _absences(start, end, launched.window, limits.away_ns)
    loads = calls.start_ns[(process.call_kind == ApiKind.MODULE_LOAD) & mine]
    loads_next = np.isin(away.end_ns, loads)
    compute = ops.work == Work.COMPUTE
    lead = ops.start_ns - launched.submit_ns
    ahead = compute & (launched.submit_ns != ABSENT_TIME) & (lead >= limits.ahead_ns)
    overheads = process.overheads
    return HostTimeline(
        held=held,
        overheads=overheads.rows(np.isin(overheads.tid, threads)),
        away=away,
        preparing=Intervals.of(away.start_ns[loads_next], away.end_ns[loads_next]),
        excess_share=_excess_share(process, held, launched, threads, limits.long_call_ns),
        limits=limits,
        ahead_ns=np.sort(ops.start_ns[ahead]),
    )


def _absences(start_ns: Ints, end_ns: Ints, window: Window, away_ns: int) -> Intervals:
    """The long stretches of the window without any of these calls, which are sorted by start."""
    reach = np.maximum.accumulate(end_ns) if end_ns.size else end_ns
    after = np.flatnonzero(start_ns[1:] - reach[:-1] >= away_ns)
    begin = np.concatenate(([window.start_ns], reach[after], reach[-1:]))
    end = np.concatenate((start_ns[:1], start_ns[1:][after], [window.end_ns]))
    begin, end = np.maximum(begin, window.start_ns), np.minimum(end, window.end_ns)
    long = end - begin >= away_ns
    return Intervals.of(begin[long], end[long])


def _excess_share(
    process: ProcessTables, held: HeldCalls, launched: Launched, threads: Ints, long_call_ns: int
) -> float:
    """By how much the host's own work exceeds the device's, as a share of its free time while late.

    Launching threads take turns (forward and backward pass), so the host as a whole is held
    whenever one of them is: its own work is the rest.
    """
    calls, window, device_ns = process.calls, launched.window, launched.device_ns
    # A launch that waits for room in a full queue is no work of the host's either.
    long = np.flatnonzero(calls.end_ns - calls.start_ns >= long_call_ns)
    kinds = process.call_kind[long]
    long_hand_over = long[one_of(kinds, (ApiKind.LAUNCH, ApiKind.COPY, ApiKind.MEMSET))]
    queue_full = long_hand_over[is_in(calls.tid[long_hand_over], threads)]
    waits = is_in(held.tid, threads)
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
