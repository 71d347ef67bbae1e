"""How much of the restart after a drain the device would have waited for anyway.

    device    ####········######·······######
    thread    [ sync ] R [L]  [ sync ] R [L]        R: what the host does before it launches again
    runs      |---------->|---------->|

Without the wait, the host would have come to each launch earlier by what it had waited, and the
device have gone on if the host's own work since the restart before took less time than the
device's. So the two are held against one another from restart to restart, never over the whole
window: device work of a later phase hides no host work of an earlier one. What the host is ahead
by after one restart it keeps for the next, but no more than the device's work in between: nothing
says that it could have run on without a result for longer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from overlapcheck.columns import ABSENT, Floats, Ints
from overlapcheck.passes.ledger.host_timeline import HostTimeline


@dataclass(frozen=True)
class _Runs:
    """Parts that follow one another and were drained by the same call."""

    first: Ints
    """First part of each run, shape (r,)."""
    last: Ints
    own: Ints
    """Run of each drained part, shape (d,)."""


def own_shares(start_ns: Ints, end_ns: Ints, drain: Ints, host: HostTimeline) -> Floats:
    """Share of each host-late part that is the host's own, shape (n,); 0 where nothing drained.

    Args:
        start_ns: begin of each part, ascending, shape (n,).
        end_ns: its end.
        drain: row of the call that drained the device before it; ABSENT.
        host: the launching threads.
    """
    share = np.zeros(start_ns.size)
    drained = np.flatnonzero(drain != ABSENT)
    if drained.size == 0:
        return share
    opens = np.append(True, drain[drained[1:]] != drain[drained[:-1]])
    first = np.flatnonzero(opens)
    last = np.append(first[1:], drained.size) - 1
    runs = _Runs(drained[first], drained[last], np.cumsum(opens) - 1)
    free = end_ns - start_ns - host.occupied.overlap_with(start_ns, end_ns)
    restart = np.bincount(runs.own, weights=free[drained], minlength=first.size)
    own = _own_ns(start_ns, end_ns, runs, host) - _late_otherwise(free, drain, runs)
    known = np.divide(own, restart, out=np.zeros(first.size), where=restart > 0)
    share[drained] = np.clip(known, 0.0, 1.0)[runs.own]
    return share


def _own_ns(start_ns: Ints, end_ns: Ints, runs: _Runs, host: HostTimeline) -> Ints:
    """By how much the host needed longer than the device from run to run, shape (r,)."""
    to = end_ns[runs.last]
    since = np.append(min(host.window.start_ns, int(start_ns[runs.first[0]])), to[:-1])
    length = to - since
    host_ns = length - host.occupied.overlap_with(since, to)
    device_ns = length - host.device_idle.overlap_with(since, to)
    own, ahead = list[int](), 0
    for works, runs_for in zip(host_ns.tolist(), device_ns.tolist(), strict=True):
        lead = ahead + runs_for - works
        own.append(max(0, -lead))
        ahead = min(max(0, lead), runs_for)
    return np.array(own)


def _late_otherwise(free: Ints, drain: Ints, runs: _Runs) -> Ints:
    """What the host was late by since the run before with nothing to excuse it, shape (r,)."""
    late = np.append(0, np.cumsum(np.where(drain == ABSENT, free, 0)))
    total = late[runs.last + 1]
    return np.diff(total, prepend=0)
